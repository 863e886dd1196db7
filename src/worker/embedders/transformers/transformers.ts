import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { unlessAborted } from "../../offload/offload.ts";
import { normalize, signatureOf, splitBatches } from "../embedder.ts";
import type { Embedder, EmbedderPlace } from "../embedder.ts";
import { fingerprintModel, modelFolderOf, requireFiles } from "./model-files.ts";
import type { LoadRequest, Reply, Request } from "./model-files.ts";

export type TransformersSettings = Omit<
  ConfigValues["embed"],
  "provider" | "normalize" | "base_url"
>;

/** A message between the processes stays small, whatever embed.batch_size is. */
const CHARS_OF_A_BATCH = 512 * 1_024;
const BYTES_OF_A_MEGABYTE = 1_000_000;

/**
 * A local model by @huggingface/transformers, in a process of its own. Nothing is ever downloaded.
 * @throws Failure EMBED_MODEL_MISSING when the package or the model's files are not there; MODEL_TIMEOUT, TOOL_ERROR
 */
export async function createTransformersEmbedder(
  settings: TransformersSettings,
  { workroot, execArgv = process.execArgv }: Pick<EmbedderPlace, "workroot" | "execArgv">,
): Promise<Embedder & { readonly close: () => void }> {
  const { model_id, dtype, pooling, max_length } = settings;
  const folder = modelFolderOf(settings, workroot);
  requireFiles(model_id, folder, dtype);
  const model = openModelProcess(processOptions(settings, folder, execArgv));
  const limits = { texts: settings.batch_size, chars: CHARS_OF_A_BATCH };
  const embed: Embedder["embed"] = async (texts, signal) => {
    const vectors: Float32Array[] = [];
    for (const batch of splitBatches(texts, limits)) {
      vectors.push(...toVectors(await model.embed(batch, signal)));
    }
    return vectors;
  };
  const dims = await findDims(model);
  const facts = { embedder: "transformers-2", model: model_id, dims, dtype, pooling, max_length };
  const digest = await fingerprintModel(folder, dtype);
  const signature = signatureOf({ ...facts, digest });
  return { id: model_id, dims, signature, defaultWeight: 1, embed, close: model.close };
}

const processOptions = (
  settings: TransformersSettings,
  folder: string,
  execArgv: readonly string[],
): ModelProcessOptions => ({
  model: settings.model_id,
  load: {
    kind: "load",
    folder,
    dtype: settings.dtype,
    device: settings.device,
    pooling: settings.pooling,
    maxLength: settings.max_length,
  },
  timeoutMs: settings.timeout_s * 1_000,
  recycle: { texts: settings.recycle_texts, bytes: settings.recycle_mb * BYTES_OF_A_MEGABYTE },
  execArgv,
});

async function findDims(model: ModelProcess): Promise<number> {
  const { values } = await model.embed(["dimensions"], new AbortController().signal);
  return values.length;
}

/** The rows of a matrix, each of unit length. */
function toVectors({ values, rows }: Vectors): Float32Array[] {
  const columns = values.length / rows;
  return Array.from({ length: rows }, (_, row) =>
    normalize(Float32Array.from(values.subarray(row * columns, (row + 1) * columns))),
  );
}

type ModelProcessOptions = {
  readonly model: string;
  readonly load: LoadRequest;
  /** Milliseconds that a request may take. */
  readonly timeoutMs: number;
  /** The process is replaced after so many texts, or when it holds so many bytes. */
  readonly recycle: { readonly texts: number; readonly bytes: number };
  /** Flags of Node for the process. */
  readonly execArgv: readonly string[];
};

type ModelProcess = {
  /**
   * One row a text, joined. One call after the other, whoever makes them. A process that dies is replaced once.
   * @throws Failure EMBED_MODEL_MISSING, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
   */
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<Vectors>;
  /** Ends the process; the next call starts another. */
  readonly close: () => void;
};

type Vectors = Extract<Reply, { kind: "vectors" }>;

/** A model that nobody asks for gives its memory back. */
const IDLE_MS = 60_000;

/** Holds a model in a process of its own, which is started when it is first asked. */
function openModelProcess(options: ModelProcessOptions): ModelProcess {
  let child: ChildProcess | undefined;
  let texts = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  const close = () => {
    clearTimeout(idle);
    child?.kill("SIGKILL");
    child = undefined;
    texts = 0;
  };
  const ask = async (batch: readonly string[], signal: AbortSignal): Promise<Vectors> => {
    signal.throwIfAborted();
    clearTimeout(idle);
    try {
      child ??= await startChild(options, signal);
      const reply = await askChild(
        child,
        { kind: "embed", texts: batch },
        limitsOf(options, signal),
      );
      if (reply.kind !== "vectors") throw noVectors(options.model, reply);
      texts += batch.length;
      if (texts >= options.recycle.texts || reply.rssBytes >= options.recycle.bytes) close();
      else idle = setTimeout(close, IDLE_MS).unref();
      return reply;
    } catch (error) {
      close();
      throw error;
    }
  };
  return {
    close,
    embed(batch, signal) {
      const asked = turn.then(() => askTwice(() => ask(batch, signal), options.model));
      turn = asked.catch(() => undefined);
      return unlessAborted(asked, signal);
    },
  };
}

/** What killed a process, such as a lack of memory, may have passed; twice in a row is no accident. */
async function askTwice(ask: () => Promise<Vectors>, model: string): Promise<Vectors> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ChildEnded)) throw error;
  }
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ChildEnded)) throw error;
    throw new Failure(
      "TOOL_ERROR",
      `The process of the embedding model "${model}" died twice at the same texts (${error.how}): give it more ` +
        "memory, or lower embed.batch_size or embed.max_length.",
      { cause: error },
    );
  }
}

async function startChild(
  options: ModelProcessOptions,
  signal: AbortSignal,
): Promise<ChildProcess> {
  // Beside this file, as it was written or as it was compiled.
  const entry = fileURLToPath(
    new URL(`child${extname(fileURLToPath(import.meta.url))}`, import.meta.url),
  );
  const child = fork(entry, {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    execArgv: options.execArgv.filter((flag) => !flag.startsWith("--inspect")),
  });
  const endChild = () => void child.kill("SIGKILL");
  process.once("exit", endChild);
  child.once("exit", () => process.off("exit", endChild));
  try {
    const reply = await askChild(child, options.load, limitsOf(options, signal));
    if (reply.kind === "ready") return child;
    throw reply.kind === "failed" ? notLoaded(options, reply) : new Error(`${reply.kind} to load`);
  } catch (error) {
    endChild();
    throw error;
  }
}

const limitsOf = ({ model, timeoutMs }: ModelProcessOptions, signal: AbortSignal) => ({
  signal,
  timeoutMs,
  timeout: () =>
    new Failure(
      "MODEL_TIMEOUT",
      `The embedding model "${model}" did not answer within ${timeoutMs / 1_000} s. Raise embed.timeout_s, or lower ` +
        "embed.batch_size.",
    ),
});

type Failed = Extract<Reply, { kind: "failed" }>;

function notLoaded({ model, load }: ModelProcessOptions, { why, message }: Failed): Failure {
  const text =
    why === "no_package"
      ? "embed.provider is transformers, and its optional package is not installed. Run: npm install " +
        "@huggingface/transformers, or set embed.provider to hashing."
      : `The files of the embedding model "${model}" in ${load.folder} can't be loaded (${message.slice(0, 300)}). ` +
        `Put whole ones there, or run: nightdesk models fetch ${model}`;
  return new Failure("EMBED_MODEL_MISSING", text);
}

const noVectors = (model: string, reply: Reply): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The embedding model "${model}" broke over a batch of texts (${"message" in reply ? reply.message : reply.kind}). ` +
      "Its process was ended; lower embed.batch_size if it happens again.",
  );

/** The process ended, or could not be started, before it answered. */
class ChildEnded extends Error {
  override readonly name = "ChildEnded";
  /** In words: its status, the signal that killed it, or the system's error. */
  readonly how: string;
  constructor(how: string) {
    super(`the process of the model ended: ${how}`);
    this.how = how;
  }
}

type AskLimits = {
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
async function askChild(
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
