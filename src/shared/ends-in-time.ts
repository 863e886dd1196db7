/** Waits for the work, at most for the limit. @returns whether it ended in time; its error is thrown */
export async function endsInTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const ended = work.then(() => true);
  // Prevents an unhandled rejection if it ends late.
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
