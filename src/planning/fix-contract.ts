/** The read-only context of every row that changes files, fixed before the fan-out. Markdown. */
export function fixContract(agreed: string): string {
  const parts = [
    '# A change made in rows',
    'Several agents work on rows of this change at once. None sees the work of another; each row is checked by itself, then all are merged in order and checked together. What fits together does so because each keeps to what is written here.',
    '- A row writes the files of its scope and no others.',
    '- A name, signature, file or convention that is agreed below is used exactly as written, also where the other side of it does not exist yet in the files.',
    '- What is not agreed below stays as it is: exported names, signatures, file names, formats.',
  ];
  if (agreed.trim() !== '') parts.push('## Agreed for this change', agreed.trim());
  return parts.join('\n\n');
}
