/** Shows signs of life while something runs that is bounded by a wall limit of its own and may be silent. */
export async function keepAlive<T>(work: Promise<T>, onProgress: () => void): Promise<T> {
  const beat = setInterval(onProgress, 1000);
  try {
    return await work;
  } finally {
    clearInterval(beat);
    onProgress();
  }
}
