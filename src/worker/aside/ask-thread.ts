import type { Worker } from "node:worker_threads";

/** Which function of which module is to run, and what it is given. */
export type ThreadTask = {
  readonly home: string;
  readonly name: string;
  readonly input: unknown;
};

const EVENTS = ["message", "messageerror", "error", "exit"];

/** Gives the thread a task, and returns what its function gives. @throws what it throws; the signal's reason */
export async function askThread(
  thread: Worker,
  task: ThreadTask,
  signal: AbortSignal,
): Promise<unknown> {
  const settled = new AbortController();
  try {
    return await new Promise<unknown>((resolve, reject) => {
      const whenAborted = () => {
        reject(signal.reason as Error);
      };
      const whenEnded = (code: number) => {
        reject(new Error(`the thread of ${task.name} ended with ${code} and without a word`));
      };
      thread.on("message", resolve).on("messageerror", reject).on("error", reject);
      thread.on("exit", whenEnded);
      signal.addEventListener("abort", whenAborted, { once: true, signal: settled.signal });
      thread.postMessage(task);
    });
  } finally {
    settled.abort();
    // Not all at once: Node has listeners of its own there.
    for (const event of EVENTS) thread.removeAllListeners(event);
    // Without a listener a fault would end the process.
    thread.on("error", () => undefined);
  }
}
