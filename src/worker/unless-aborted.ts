/**
 * The result, unless the signal is aborted first: who is told to stop does not wait for the turn of others.
 * @throws the signal's reason; what the result is rejected with
 */
export async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true, signal: ended.signal });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    ended.abort();
  }
}
