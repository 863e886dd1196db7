import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ResourceLimits } from "node:worker_threads";
import { Failure } from "../../shared/failure.ts";
import { askThread } from "./ask-thread.ts";

/** A pure function that a thread can find again: the module at this URL exports it under its own name. */
export type PureWork<Input, Output> = {
  readonly home: string;
  readonly run: (input: Input) => Output | Promise<Output>;
};

export type ThreadLimits = {
  /** UTF-16 units of text that the work goes through. */
  readonly chars: number;
  readonly signal: AbortSignal;
  /** How long the thread may be at it; five minutes without it. */
  readonly limitMs?: number;
};

/** Runs a pure function in the thread; never called while another call runs. */
export type RunInThread = <Input, Output>(
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
/** Many times what the longest text takes that may be read. */
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

/**
 * A thread that is started when there is work, and kept for the next. Whatever goes wrong ends it, as does an abort in the
 * middle of its work. It holds no process.
 */
export function openThread(options: ThreadOptions): RunInThread {
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
    const timer = setTimeout(() => {
      limit.abort(new WorkTooLong(chars, limitMs));
    }, limitMs);
    try {
      thread ??= startThread(options);
      thread.ref();
      const task = { home, name: run.name, input };
      const output = await askThread(thread, task, AbortSignal.any([signal, limit.signal]));
      thread.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
      return output as Awaited<ReturnType<typeof run>>;
    } catch (error) {
      await end();
      throw isOutOfMemory(error) ? noMemory(chars, error) : error;
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

const noMemory = (chars: number, cause: unknown): Failure =>
  new Failure(
    "TOOL_ERROR",
    `A text of ${chars} characters needs more memory than there is. Lower ask.max_chars_full_read, or split the file.`,
    { cause },
  );
