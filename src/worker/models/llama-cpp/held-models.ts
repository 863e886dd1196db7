import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { callProcess } from "../deadline.ts";
import { digestOf } from "../../embedders/transformers/model-files.ts";
import { findModelFile } from "./gguf-file.ts";
import type { GgufRole } from "./gguf-file.ts";
import type { LoadRequest } from "./messages.ts";
import { ProcessEnded, startModelProcess } from "./model-process.ts";
import type { ModelProcess, ReadyModel } from "./model-process.ts";
import { holdOneAtATime } from "./one-at-a-time.ts";
import { requireRuntime } from "./runtime.ts";

/** Where the files of models and the runtime lie, and how the runtime is to calculate. */
export type GgufConfig = {
  readonly model: Pick<ConfigValues["model"], "llama_cpp">;
  readonly embed: Pick<ConfigValues["embed"], "cache_dir">;
  readonly roots: { readonly workroot: string };
};

type HoldOptions = {
  readonly config: GgufConfig;
  readonly role: GgufRole;
  /** What a call of a model ends with whose file is another than when it was opened. */
  readonly changed: (name: string) => Failure;
  readonly load: Pick<LoadRequest, "task" | "windowTokens" | "parallel">;
  /** Milliseconds that loading may take. */
  readonly loadTimeoutMs: number;
  /** Milliseconds without a call after which a model gives its memory back; 0: at once, negative: never. */
  readonly idleMs: number;
  /** When nobody uses it, a process is replaced that has done so much, or holds so much. */
  readonly recycle: { readonly inputs: number; readonly megabytes: number };
};

/** A model as it was when it was opened. */
export type OpenedModel = {
  readonly name: string;
  /** SHA-256 of its file, 64 hex. */
  readonly digest: string;
  readonly runtimeVersion: string;
  readonly ready: ReadyModel;
};

type CallLimits = {
  readonly signal: AbortSignal;
  /** For waiting until it is the call's turn, and again for the call. */
  readonly timeoutMs: number;
  /** Prompts or texts of the call. */
  readonly inputs: number;
};

type Ask<T> = (process: ModelProcess, signal: AbortSignal, onStarted: () => void) => Promise<T>;

export type HeldModels = {
  /**
   * Loads it, where it is not.
   * @throws Failure with the code of the role, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
   */
  open(name: string, signal: AbortSignal): Promise<OpenedModel>;
  /**
   * Makes a call of a model, which is loaded again where its process is gone. A process that dies is replaced once.
   * @throws what `open`, `changed` and `ask` throw
   */
  call<T>(model: OpenedModel, limits: CallLimits, ask: Ask<T>): Promise<T>;
  /** Ends the process, if nobody uses it. */
  readonly release: () => void;
};

const BYTES_OF_A_MEGABYTE = 1_000_000;

/** A process with the model of a file, and what that file was when it was loaded. */
type Held = {
  readonly process: ModelProcess;
  readonly digest: string;
  inputs: number;
  calls: number;
};

/** Models of GGUF files, each in a process that is held until another is asked for, or none for a while. */
export function holdModels(options: HoldOptions): HeldModels {
  const { config, role, idleMs } = options;
  let idle: NodeJS.Timeout | undefined;
  const holder = holdOneAtATime<Held>({
    open: (name) => start(name, options),
    close: ({ process }) => {
      process.close();
    },
    isUsable: ({ process }) => process.isAlive(),
  });
  const using: typeof holder.with = async (name, signal, use) => {
    clearTimeout(idle);
    try {
      return await holder.with(name, signal, use);
    } finally {
      clearTimeout(idle);
      if (idleMs === 0) holder.release();
      else if (idleMs > 0) idle = setTimeout(holder.release, idleMs).unref();
    }
  };
  return {
    release: holder.release,
    async open(name, signal) {
      const { version: runtimeVersion } = requireRuntime(config, role);
      await findModelFile(name, config, role);
      return using(name, signal, ({ process, digest }) =>
        Promise.resolve({ name, digest, runtimeVersion, ready: process.ready }),
      );
    },
    call({ name, digest }, { signal, timeoutMs, inputs }, ask) {
      const limits = { name, timeoutKey: role.timeoutKey, signal, timeoutMs };
      return callProcess(limits, (until, onStarted) => {
        const askHeld = (held: Held) => {
          if (held.digest !== digest) throw options.changed(name);
          return ask(held.process, until, onStarted);
        };
        return askTwice(name, role, () =>
          using(name, until, (held) => counting(held, { inputs, options }, () => askHeld(held))),
        );
      });
    },
  };
}

async function start(name: string, options: HoldOptions): Promise<Held> {
  const { config, role, load, loadTimeoutMs } = options;
  const { gpu, threads, memory_mb } = config.model.llama_cpp;
  const { library } = requireRuntime(config, role);
  const file = await findModelFile(name, config, role);
  const digest = await digestOf(file);
  const child = await startModelProcess(
    {
      name,
      role,
      load: { kind: "load", library, file, gpu, threads, ...load },
      loadTimeoutMs,
      memoryBytes: memory_mb === null ? null : memory_mb * BYTES_OF_A_MEGABYTE,
      execArgv: process.execArgv,
    },
    new AbortController().signal,
  ).catch((error: unknown) => {
    throw error instanceof ProcessEnded ? diedLoading(name, error) : error;
  });
  return { process: child, digest, inputs: 0, calls: 0 };
}

type Counted = { readonly inputs: number; readonly options: HoldOptions };

/** Makes a call, and ends the process behind the last one when it has done or holds enough. */
async function counting<T>(
  held: Held,
  { inputs, options: { recycle } }: Counted,
  call: () => Promise<T>,
): Promise<T> {
  held.calls += 1;
  try {
    const given = await call();
    held.inputs += inputs;
    return given;
  } finally {
    held.calls -= 1;
    const isWorn =
      held.inputs >= recycle.inputs ||
      held.process.residentBytes() >= recycle.megabytes * BYTES_OF_A_MEGABYTE;
    if (held.calls === 0 && isWorn) held.process.close();
  }
}

/** What killed a process, such as a lack of memory, may have passed; twice in a row is no accident. */
async function askTwice<T>(name: string, { less }: GgufRole, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
  }
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
    throw new Failure(
      "TOOL_ERROR",
      `The process of "${name}" ended twice at the same call (${error.how}). Give it more memory, or ${less}.`,
      { cause: error },
    );
  }
}

const diedLoading = (name: string, { how }: ProcessEnded): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The process of "${name}" ended while it loaded (${how}). Give it more memory, or use a smaller model.`,
  );

/** @param error the library's name of it; empty where it has none */
export const brokeOff = (name: string, { less }: GgufRole, error: string): Failure =>
  new Failure(
    "TOOL_ERROR",
    `llama.cpp broke off a call of "${name}" (${error || "no reason given"}). If it happens again, ${less}, or use ` +
      "another model.",
  );
