import { extname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ResourceLimits } from "node:worker_threads";
import { Failure } from "../../shared/failure.ts";

type AsideLimits = ThreadLimits & {
  /** So many of `chars` are of a reply. A model may write a mark in each of them: they count fourfold. */
  readonly replyChars?: number;
  /** Where the length of the text says nothing of the time, as with rules that somebody wrote: never here. */
  readonly place?: "thread";
};

/**
 * Does pure work on texts so that nobody waits for it: on a short text at once, on a long one in a thread, one after
 * another. What goes in and comes out is what `structuredClone` can copy.
 * @throws the signal's reason, as soon as it is aborted; what the work throws; WorkTooLarge without memory for it;
 * WorkTooLong when the thread was at it for its limit, which ends the thread
 */
export type Offload = <Input, Output>(
  work: PureWork<Input, Output>,
  input: Input,
  limits: AsideLimits,
) => Promise<Output>;

/** How long work on short texts may follow each other before others have their turn. */
const TURN_MS = 25;

/** The slowest steps take about 90 ms for the worst of so much, and half as long again on a slow machine; a thread takes as long to start. */
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

/** Faults of a value can be as many as its parts times those of its schema. */
const MOST_SCHEMA_MB = 256;

/** For schemas that somebody wrote: what they hold up or break is only the work of other such schemas. */
export const openSchemaThread = (execArgv: readonly string[] = process.execArgv): Offload =>
  openOffload({ execArgv, resourceLimits: { maxOldGenerationSizeMb: MOST_SCHEMA_MB } });

/** Which function of which module is to run, and what it is given. */
export type ThreadTask = {
  readonly home: string;
  readonly name: string;
  readonly input: unknown;
};

/** That the function is found and begins, and then what it gave. */
export type ThreadReply =
  { readonly kind: "begins" } | { readonly kind: "done"; readonly output: unknown };

const EVENTS = ["message", "messageerror", "error", "exit"];

type Asking = {
  readonly signal: AbortSignal;
  /** The thread has started and loaded what it needs, and begins with the work. */
  readonly onBegin: () => void;
};

/** Gives the thread a task, and returns what its function gives. @throws what it throws; the signal's reason */
async function askThread(
  thread: Worker,
  task: ThreadTask,
  { signal, onBegin }: Asking,
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
    // Not all at once: Node has listeners of its own there.
    for (const event of EVENTS) thread.removeAllListeners(event);
    // Without a listener a fault would end the process.
    thread.on("error", () => undefined);
  }
}

/** A pure function that a thread can find again: the module at this URL exports it under its own name. */
export type PureWork<Input, Output> = {
  readonly home: string;
  readonly run: (input: Input) => Output | Promise<Output>;
};

type ThreadLimits = {
  /** UTF-16 units of text that the work goes through. */
  readonly chars: number;
  readonly signal: AbortSignal;
  /** How long the thread may be at it, once it has begun; five minutes without it. */
  readonly limitMs?: number;
};

/** Runs a pure function in the thread; never called while another call runs. */
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

/** The steps of a job follow each other, and jobs of a batch; a thread without work gives its memory back. */
const IDLE_MS = 2_000;

/** Many times what the longest text takes that may be read, or a thread to start. */
const LONGEST_WORK_MS = 300_000;

/** The thread was at one piece of work for as long as it may, and was ended. */
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

/** The thread had no memory left for one piece of work. */
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
 * A thread that is started when there is work, and kept for the next. Whatever goes wrong ends it, as does an abort in the
 * middle of its work. It holds no process.
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
    // To start, and to load modules, takes seconds on a busy machine, whatever the work is.
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

// Beside this file, as it was written or as it was compiled.
const ENTRY = new URL(`thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_WORKER_OUT_OF_MEMORY";

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
