import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../../../shared/failure.ts";
import { unlessAborted } from "../../unless-aborted.ts";
import { askChild, ChildEnded } from "./ask-child.ts";
import type { LoadRequest, Reply } from "./messages.ts";

export type ModelProcessOptions = {
  readonly model: string;
  readonly load: LoadRequest;
  /** Milliseconds that a request may take. */
  readonly timeoutMs: number;
  /** The process is replaced after so many texts, or when it holds so many bytes. */
  readonly recycle: { readonly texts: number; readonly bytes: number };
  /** Flags of Node for the process. */
  readonly execArgv: readonly string[];
};

export type ModelProcess = {
  /**
   * One row a text, joined. One call after the other, whoever makes them. A process that dies is replaced once.
   * @throws Failure EMBED_MODEL_MISSING, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
   */
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<Vectors>;
  /** Ends the process; the next call starts another. */
  readonly close: () => void;
};

export type Vectors = Extract<Reply, { kind: "vectors" }>;

/** A model that nobody asks for gives its memory back. */
const IDLE_MS = 60_000;

/** Holds a model in a process of its own, which is started when it is first asked. */
export function openModelProcess(options: ModelProcessOptions): ModelProcess {
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
