/** Takes away the indentation that all lines share, and blank lines at both ends. */
export function dedent(text) {
  const lines = text.replace(/^\s*\n|\n\s*$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const least = indents.length === 0 ? 0 : Math.min(...indents);
  return lines.map((line) => line.slice(least)).join('\n');
}
