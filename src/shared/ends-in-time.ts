/** Waits for the work, but not longer than the limit. @returns whether it ended; an error of it is thrown */
export async function endsInTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const ended = work.then(() => true);
  // Where it loses the race its error is heard, too.
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
