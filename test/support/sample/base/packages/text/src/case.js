import { words } from './words.js';

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

export function camelCase(text) {
  const [first = '', ...rest] = words(text);
  return first + rest.map(capital).join('');
}

export function kebabCase(text) {
  return words(text).join('-');
}

export function snakeCase(text) {
  return words(text).join('_');
}

export function titleCase(text) {
  return words(text).map(capital).join(' ');
}
