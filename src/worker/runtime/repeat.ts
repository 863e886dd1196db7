/** A loop that runs its body again and again, at once when woken, and never twice at the same time. */
export type Repeating = {
  /** Runs the body at once, or once more if it is running. */
  wake(): void;
  /** Runs the body no more, and resolves when it has ended. */
  stop(): Promise<void>;
};

/**
 * @param body gives the milliseconds to wait before it runs again, unless it is woken first
 * @param onError gives the same when the body has thrown
 */
export function repeat(
  body: () => Promise<number>,
  onError: (error: unknown) => number,
): Repeating {
  let isStopped = false;
  let isWoken = false;
  let wakeUp = (): void => undefined;

  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      // It may have been woken or stopped while the body ran.
      if (isWoken || isStopped) wakeUp();
    });
  const loop = async () => {
    for (;;) {
      isWoken = false;
      await pause(await body().catch(onError));
      if (isStopped) return;
    }
  };
  const ended = loop();
  return {
    wake() {
      isWoken = true;
      wakeUp();
    },
    async stop() {
      isStopped = true;
      wakeUp();
      await ended;
    },
  };
}
