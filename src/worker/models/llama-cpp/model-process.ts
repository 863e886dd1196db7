import type { ChildProcess } from "node:child_process";
import { Failure } from "../../../shared/failure.ts";
import { forkBeside, residentBytes } from "../../forked-process.ts";
import type { GgufRole } from "./gguf-file.ts";
import type {
  CallReply,
  CallRequest,
  CompleteRequest,
  LoadReply,
  LoadRequest,
  Reply,
} from "./messages.ts";

export type ModelProcessOptions = {
  /** Of the model, as messages name it. */
  readonly name: string;
  readonly role: GgufRole;
  readonly load: LoadRequest;
  /** Milliseconds that loading may take. */
  readonly loadTimeoutMs: number;
  /** It is ended when it holds more, where /proc tells; null: never. */
  readonly memoryBytes: number | null;
  /** Flags of Node for the process. */
  readonly execArgv: readonly string[];
};

export type ReadyModel = Extract<LoadReply, { kind: "ready" }>;
/** A call without its number, which the process is given by who sends it. */
export type Completion = Omit<CompleteRequest, "kind" | "id">;
type Settled = Exclude<CallReply, { kind: "started" | "aborted" }>;
export type CompletionReply = Exclude<Settled, { kind: "embedded" }>;
export type EmbeddingReply = Exclude<Settled, { kind: "completed" }>;

/** A process with its model, ready for calls. */
export type ModelProcess = {
  readonly ready: ReadyModel;
  /** Whether it has not ended. */
  readonly isAlive: () => boolean;
  /** What it holds of the machine's memory; 0 where /proc does not tell. */
  readonly residentBytes: () => number;
  /**
   * Of one that was loaded to complete.
   * @param onStarted called when the call has come to its turn
   * @throws ProcessEnded; the signal's reason
   */
  complete(
    request: Completion,
    signal: AbortSignal,
    onStarted: () => void,
  ): Promise<CompletionReply>;
  /** Of one that was loaded to embed: the same for texts. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    onStarted: () => void,
  ): Promise<EmbeddingReply>;
  close(): void;
};

/** The process of a model ended, with the calls that were in it. */
export class ProcessEnded extends Error {
  override readonly name = "ProcessEnded";
  /** In words: its status, the signal that killed it, the system's error, or what it held. */
  readonly how: string;
  constructor(how: string) {
    super(`the process of the model ended: ${how}`);
    this.how = how;
  }
}

/** It stops within a token, or within a part of a prompt. One that does not is ended, and others in it are asked again. */
const STOP_MS = 30_000;
const LOOK_MS = 500;

/**
 * Starts a process and loads its model.
 * @throws Failure MODEL_NOT_FOUND for a model or a runtime that can't be loaded, MODEL_TIMEOUT; ProcessEnded; the signal's reason
 */
export async function startModelProcess(
  options: ModelProcessOptions,
  signal: AbortSignal,
): Promise<ModelProcess> {
  signal.throwIfAborted();
  const child = forkBeside(import.meta.url, options.execArgv);
  try {
    const ready = await loadModel(child, options, signal);
    return openProcess(child, ready, options);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function loadModel(
  child: ChildProcess,
  { name, role, load, loadTimeoutMs }: ModelProcessOptions,
  signal: AbortSignal,
): Promise<ReadyModel> {
  const listeners = new AbortController();
  const loaded = new Promise<ReadyModel>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(loadsTooLong(name, role, loadTimeoutMs));
    }, loadTimeoutMs);
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    const replied = (reply: LoadReply): void => {
      if (reply.kind === "ready") resolve(reply);
      else reject(notReady({ name, role, load }, reply));
    };
    const exited = (status: number | null, by: string | null): void => {
      reject(new ProcessEnded(by ?? `status ${String(status)}`));
    };
    const broke = ({ message }: Error): void => {
      reject(new ProcessEnded(message));
    };
    signal.addEventListener("abort", stop, { once: true, signal: listeners.signal });
    child.once("message", replied as (reply: unknown) => void);
    child.once("exit", exited).once("error", broke);
    listeners.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      child.off("message", replied as (reply: unknown) => void);
      child.off("exit", exited).off("error", broke);
    });
    child.send(load, (error) => {
      if (error !== null) broke(error);
    });
  });
  return loaded.finally(() => {
    listeners.abort();
  });
}

type Waiting = {
  readonly onStarted: () => void;
  readonly settle: (reply: Exclude<CallReply, { kind: "started" }> | ProcessEnded) => void;
};

function openProcess(
  child: ChildProcess,
  ready: ReadyModel,
  { memoryBytes }: ModelProcessOptions,
): ModelProcess {
  const waiting = new Map<number, Waiting>();
  let ended: ProcessEnded | undefined;
  let lastId = 0;
  const end = (how: string): void => {
    ended ??= new ProcessEnded(how);
    clearInterval(look);
    child.kill("SIGKILL");
    for (const { settle } of waiting.values()) settle(ended);
  };
  const look = setInterval(() => {
    const bytes = memoryBytes === null ? 0 : residentBytes(child.pid);
    if (memoryBytes !== null && bytes > memoryBytes) {
      end(`it held ${Math.round(bytes / 1e6)} MB, more than model.llama_cpp.memory_mb`);
    }
  }, LOOK_MS).unref();
  child.on("message", (reply: CallReply) => {
    const call = waiting.get(reply.id);
    if (reply.kind === "started") call?.onStarted();
    else call?.settle(reply);
  });
  child.once("exit", (status, by) => {
    end(by ?? `status ${String(status)}`);
  });
  child.once("error", ({ message }) => {
    end(message);
  });
  child.unref();
  child.channel?.unref();

  /** Only while somebody waits does the process keep this one alive. */
  const hold = (): void => {
    child.ref();
    child.channel?.ref();
  };
  const letGo = (): void => {
    if (waiting.size > 0) return;
    child.unref();
    child.channel?.unref();
  };
  const call = async (
    request: WithoutId<CallRequest>,
    signal: AbortSignal,
    onStarted: () => void,
  ): Promise<Settled> => {
    signal.throwIfAborted();
    if (ended !== undefined) throw ended;
    const id = ++lastId;
    hold();
    let slow: NodeJS.Timeout | undefined;
    const stop = (): void => {
      if (child.connected) child.send({ kind: "abort", id });
      slow = setTimeout(end, STOP_MS, "it did not stop when it was told to");
    };
    try {
      const settled = await new Promise<Parameters<Waiting["settle"]>[0]>((settle) => {
        waiting.set(id, { onStarted, settle });
        signal.addEventListener("abort", stop, { once: true });
        child.send({ ...request, id } satisfies CallRequest, (error) => {
          if (error !== null) end(error.message);
        });
      });
      signal.throwIfAborted();
      if (settled instanceof ProcessEnded) throw settled;
      if (settled.kind === "aborted") throw new ProcessEnded("it stopped a call by itself");
      return settled;
    } finally {
      clearTimeout(slow);
      signal.removeEventListener("abort", stop);
      waiting.delete(id);
      letGo();
    }
  };
  return {
    ready,
    isAlive: () => ended === undefined,
    residentBytes: () => residentBytes(child.pid),
    close() {
      end("it was closed");
    },
    async complete(request, signal, onStarted) {
      const reply = await call({ ...request, kind: "complete" }, signal, onStarted);
      if (reply.kind === "embedded") throw new Error("vectors came for a prompt");
      return reply;
    },
    async embed(texts, signal, onStarted) {
      const reply = await call({ kind: "embed", texts }, signal, onStarted);
      if (reply.kind === "completed") throw new Error("a reply came for texts");
      return reply;
    },
  };
}

type WithoutId<Sent> = Sent extends CallRequest ? Omit<Sent, "id"> : never;

const loadsTooLong = (name: string, { timeoutKey }: GgufRole, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" was not loaded within ${timeoutMs / 1_000} s. Raise ${timeoutKey}, or use a smaller model.`,
  );

type NotReady = Extract<Reply, { kind: "not_ready" }>;

function notReady(
  { name, role, load }: Pick<ModelProcessOptions, "name" | "role" | "load">,
  { why, message }: NotReady,
): Failure {
  const reason = message.slice(0, 300);
  switch (why) {
    case "no_runtime":
      return new Failure(
        role.missing,
        `The runtime at ${load.library} does not run here (${reason}). Run: nightdesk models setup llama-cpp, or set ` +
          "model.llama_cpp.gpu: off.",
      );
    case "no_model":
      return new Failure(
        role.missing,
        `${load.file ?? name} can't be loaded (${reason}). Fetch it again, or name another in ${role.nameKey}.`,
      );
    case "no_memory":
      return new Failure(
        role.missing,
        `"${name}" does not fit the memory of this machine (${reason}). To need less, ${role.less}, or use a smaller ` +
          "model.",
      );
  }
}
