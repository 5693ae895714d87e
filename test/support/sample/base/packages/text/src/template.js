/** Fills `{name}` in a template; an unknown name is an error, `{{` is a brace. */
export function fill(template, values) {
  return template.replace(/\{\{|\{(\w+)\}/g, (found, name) => {
    if (found === '{{') return '{';
    if (!Object.hasOwn(values, name)) throw new RangeError(`no value for {${name}}`);
    return String(values[name]);
  });
}
