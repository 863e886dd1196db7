import type { ChildProcess } from "node:child_process";
import type { Reply, Request } from "./messages.ts";

/** The process ended, or could not be started, before it answered. */
export class ChildEnded extends Error {
  override readonly name = "ChildEnded";
  /** In words: its status, the signal that killed it, or the system's error. */
  readonly how: string;
  constructor(how: string) {
    super(`the process of the model ended: ${how}`);
    this.how = how;
  }
}

export type AskLimits = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What is thrown when the time is up. */
  readonly timeout: () => Error;
};

/**
 * Sends one request and waits for its reply. The caller asks once at a time, and ends the process after any throw. Only
 * while it waits does the process keep this one alive.
 * @throws ChildEnded; the signal's reason; what `timeout` gives
 */
export async function askChild(
  child: ChildProcess,
  request: Request,
  { signal, timeoutMs, timeout }: AskLimits,
): Promise<Reply> {
  child.ref();
  child.channel?.ref();
  const waiting = new AbortController();
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const once = { once: true, signal: waiting.signal };
      const timer = setTimeout(() => {
        reject(timeout());
      }, timeoutMs);
      waiting.signal.addEventListener("abort", () => {
        clearTimeout(timer);
      });
      const stop = () => {
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stop, once);
      const ended = (how: string) => {
        reject(new ChildEnded(how));
      };
      listen(child, waiting.signal, { replied: resolve, ended });
      child.send(request, (error) => {
        if (error !== null) ended(error.message);
      });
    });
  } finally {
    waiting.abort();
    child.unref();
    child.channel?.unref();
  }
}

type Hearing = {
  readonly replied: (reply: Reply) => void;
  readonly ended: (how: string) => void;
};

function listen(child: ChildProcess, until: AbortSignal, { replied, ended }: Hearing): void {
  const exited = (status: number | null, name: string | null) => {
    ended(name ?? `status ${String(status)}`);
  };
  const broke = ({ message }: Error) => {
    ended(message);
  };
  child.once("message", replied as (message: unknown) => void);
  child.once("exit", exited);
  child.once("error", broke);
  until.addEventListener("abort", () => {
    child.off("message", replied).off("exit", exited).off("error", broke);
  });
}
