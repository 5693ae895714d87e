/** A name from the repository file as it is shown on GitHub: whoever may write the file has written it. */
export function readableName(name: string): string {
  return name.replaceAll(/[`\p{C}\s]+/gu, ' ').slice(0, 200);
}
