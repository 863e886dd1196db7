import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ResourceLimits } from "node:worker_threads";
import { Failure } from "../../shared/failure.ts";
import { askThread } from "./ask-thread.ts";

/** A pure function that a thread can find again: the module at this URL exports it under its own name. */
export type PureWork<Input, Output> = {
  readonly home: string;
  readonly run: (input: Input) => Output;
};

/** Runs a pure function in the thread; never called while another call runs. */
export type RunInThread = <Input, Output>(
  work: PureWork<Input, Output>,
  input: Input,
  limits: { readonly chars: number; readonly signal: AbortSignal },
) => Promise<Output>;

export type ThreadOptions = {
  /** Flags of Node. */
  readonly execArgv: readonly string[];
  readonly resourceLimits?: ResourceLimits;
};

/** The steps of a job follow each other, and jobs of a batch; a thread without work gives its memory back. */
const IDLE_MS = 2_000;

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
  return async ({ home, run }, input, { chars, signal }) => {
    signal.throwIfAborted();
    clearTimeout(idle);
    try {
      thread ??= startThread(options);
      thread.ref();
      const output = await askThread(thread, { home, name: run.name, input }, signal);
      thread.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
      return output as ReturnType<typeof run>;
    } catch (error) {
      await end();
      throw isOutOfMemory(error) ? noMemory(chars, error) : error;
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
