/** Cuts a text to `length` characters, at a space where there is one near. */
export function truncate(text, length, ending = '…') {
  if (text.length <= length) return text;
  const room = length - ending.length;
  const space = text.lastIndexOf(' ', room);
  const end = space > room * 0.7 ? space : room;
  return text.slice(0, end).trimEnd() + ending;
}
