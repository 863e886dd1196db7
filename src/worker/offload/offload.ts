import { extname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ResourceLimits } from "node:worker_threads";
import { Failure } from "../../shared/failure.ts";

type AsideLimits = ThreadLimits & {
  /** The part of `chars` that belongs to a reply. A model may write a mark in each character, so they count fourfold. */
  readonly replyChars?: number;
  /** "thread": never on the main thread, because the length does not predict the time, as with rules that users wrote. */
  readonly place?: "thread";
};

/**
 * Does pure work on texts without blocking other work: on a short text at once, on a long one in a thread, one after another.
 * Input and output must be values that `structuredClone` can copy.
 * @throws the signal's reason, as soon as it aborts; errors of the work; WorkTooLarge when memory is exhausted;
 * WorkTooLong when the work exceeds its time limit, which ends the thread
 */
export type Offload = <Input, Output>(
  work: PureWork<Input, Output>,
  input: Input,
  limits: AsideLimits,
) => Promise<Output>;

/** The longest time of consecutive work on short texts before the event loop gets a turn. */
const TURN_MS = 25;

/** The slowest steps take about 90 ms for such a text, 135 ms on a slow machine; starting a thread takes as long. */
export const MOST_CHARS_AT_ONCE = 14_000;

export function openOffload(options: ThreadOptions = { execArgv: process.execArgv }): Offload {
  const inThread = openThread(options);
  // Two long texts at once would need twice the memory, and a worker has other jobs for its other cores.
  let turn: Promise<unknown> = Promise.resolve();
  let turnStartedAt = performance.now();
  return async (work, input, limits) => {
    const { chars, replyChars = 0, signal, place } = limits;
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
    signal.throwIfAborted();
    if (place === undefined && chars + 3 * replyChars <= MOST_CHARS_AT_ONCE)
      return await work.run(input);
    const done = turn.then(() => inThread(work, input, limits));
    turn = done.catch(() => undefined);
    return unlessAborted(done, signal);
  };
}

/** A value can have as many faults as its parts times the parts of its schema. */
const MOST_SCHEMA_MB = 256;

/** For schemas that users wrote: whatever they block or break affects only work of other such schemas. */
export const openSchemaThread = (execArgv: readonly string[] = process.execArgv): Offload =>
  openOffload({ execArgv, resourceLimits: { maxOldGenerationSizeMb: MOST_SCHEMA_MB } });

/** The function to run, by its module and name, and its input. */
export type ThreadTask = { readonly home: string; readonly name: string; readonly input: unknown };

/** First that the function was found and begins, then its output. */
export type ThreadReply =
  { readonly kind: "begins" } | { readonly kind: "done"; readonly output: unknown };

const EVENTS = ["message", "messageerror", "error", "exit"];

type TaskLimits = {
  readonly signal: AbortSignal;
  /** Called when the thread has started and loaded its modules, and begins the work. */
  readonly onBegin: () => void;
};

/** Sends the thread a task, and returns the output of its function. @throws errors of the function; the signal's reason */
async function askThread(
  thread: Worker,
  task: ThreadTask,
  { signal, onBegin }: TaskLimits,
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
      thread.on("message", (reply: ThreadReply) => {
        if (reply.kind === "done") resolve(reply.output);
        else onBegin();
      });
      thread.on("messageerror", reject).on("error", reject);
      thread.on("exit", whenEnded);
      signal.addEventListener("abort", whenAborted, { once: true, signal: settled.signal });
      thread.postMessage(task);
    });
  } finally {
    settled.abort();
    // Only these events: Node has listeners of its own on the thread.
    for (const event of EVENTS) thread.removeAllListeners(event);
    // Without a listener an error would end the process.
    thread.on("error", () => undefined);
  }
}

/** A pure function that a thread can find: the module at this URL exports it under the function's own name. */
export type PureWork<Input, Output> = {
  readonly home: string;
  readonly run: (input: Input) => Output | Promise<Output>;
};

type ThreadLimits = {
  /** UTF-16 units of text that the work processes. */
  readonly chars: number;
  readonly signal: AbortSignal;
  /** Time limit of the work, from its beginning; default five minutes. */
  readonly limitMs?: number;
};

/** Runs a pure function in the thread; must not be called while another call runs. */
type RunInThread = <Input, Output>(
  work: PureWork<Input, Output>,
  input: Input,
  limits: ThreadLimits,
) => Promise<Output>;

export type ThreadOptions = {
  /** Flags of Node. */
  readonly execArgv: readonly string[];
  readonly resourceLimits?: ResourceLimits;
};

/** Steps and jobs follow each other closely; a thread without work for this long releases its memory. */
const IDLE_MS = 2_000;

/** Many times the duration of the longest allowed text, or of starting a thread. */
const LONGEST_WORK_MS = 300_000;

/** The work exceeded its time limit, and the thread was ended. */
export class WorkTooLong extends Failure {
  readonly limitMs: number;

  constructor(chars: number, limitMs: number) {
    super(
      "TOOL_ERROR",
      `Work on a text of ${chars} characters took longer than ${limitMs / 1000} s and was ended. Lower ask.max_chars_full_read, or split the file.`,
    );
    this.limitMs = limitMs;
  }
}

/** The thread ran out of memory. */
export class WorkTooLarge extends Failure {
  constructor(chars: number, cause: unknown) {
    super(
      "TOOL_ERROR",
      `A text of ${chars} characters needs more memory than there is. Lower ask.max_chars_full_read, or split the file.`,
      { cause },
    );
  }
}

/**
 * A thread that starts when there is work, and stays for the next. Any error ends it, and so does an abort during its work. It
 * does not keep the process alive.
 */
function openThread(options: ThreadOptions): RunInThread {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const end = async () => {
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  };
  return async ({ home, run }, input, { chars, signal, limitMs = LONGEST_WORK_MS }) => {
    signal.throwIfAborted();
    clearTimeout(idle);
    const limit = new AbortController();
    const endAfter = (ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        limit.abort(new WorkTooLong(chars, ms));
      }, ms);
    // On a busy machine, starting and loading modules takes seconds, whatever the work is.
    let timer = endAfter(LONGEST_WORK_MS);
    const onBegin = (): void => {
      clearTimeout(timer);
      timer = endAfter(limitMs);
    };
    try {
      thread ??= startThread(options);
      thread.ref();
      const task = { home, name: run.name, input };
      const until = AbortSignal.any([signal, limit.signal]);
      const output = await askThread(thread, task, { signal: until, onBegin });
      thread.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
      return output as Awaited<ReturnType<typeof run>>;
    } catch (error) {
      await end();
      throw isOutOfMemory(error) ? new WorkTooLarge(chars, error) : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

const startThread = ({ execArgv, ...limits }: ThreadOptions): Worker =>
  new Worker(ENTRY, {
    ...limits,
    execArgv: execArgv.filter((flag) => !flag.startsWith("--inspect")),
  });

// The file beside this one, in source or compiled form.
const ENTRY = new URL(`thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_WORKER_OUT_OF_MEMORY";

/**
 * The result, unless the signal aborts first: an aborted caller does not wait for the turn of others.
 * @throws the signal's reason; the rejection of the result
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
