/** Centres a text in `width` columns; the odd column goes to the right. */
export function padBoth(text, width) {
  const missing = Math.max(0, width - text.length);
  return ' '.repeat(Math.floor(missing / 2)) + text + ' '.repeat(Math.ceil(missing / 2));
}

/** Rows as lines with aligned columns. */
export function padColumns(rows, gap = 2) {
  const widths = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] + gap))
      .join('')
      .trimEnd(),
  );
}
