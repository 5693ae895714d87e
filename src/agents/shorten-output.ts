/** Characters of a tool's output that go back to the model. */
const shownOutput = 16_000;

/** Keeps the beginning and the end of a long text: the one says what it is, the other how it ended. */
export function shortenOutput(text: string, limit: number = shownOutput): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(-half).toWellFormed();
  return `${head}\n[... ${text.length - 2 * half} characters left out ...]\n${tail}`;
}
