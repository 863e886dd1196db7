import type { ChildProcess } from "node:child_process";
import { Failure } from "../../../shared/failure.ts";
import { forkBeside } from "../../forked-process.ts";
import { unlessAborted } from "../../offload/offload.ts";
import { noPackage } from "./model-files.ts";
import type {
  CompleteRequest,
  Completion,
  LoadRequest,
  ModelRole,
  Reply,
  Request,
  WorkRequest,
} from "./model-files.ts";

export type ModelProcessOptions = {
  readonly role: ModelRole;
  readonly model: string;
  readonly load: LoadRequest;
  /** Time limit in milliseconds for loading, and for a request for rows. */
  readonly timeoutMs: number;
  /** Milliseconds without a request after which the process ends; default 60,000; 0: at once; negative: never. */
  readonly idleMs?: number;
  /**
   * Milliseconds that an aborted reply gets to end at its next token. After that, or at once without this option, the process
   * is killed.
   */
  readonly stopMs?: number;
  /** The process is replaced after this many inputs, or when it holds this many megabytes. */
  readonly recycle: { readonly inputs: number; readonly megabytes: number };
  /** Flags of Node for the process. */
  readonly execArgv: readonly string[];
};

export type ModelProcess = {
  /**
   * Rows for inputs, one per input, concatenated. Calls run one after the other. A process that dies is replaced once.
   * @throws Failure with the code of the role for a model that can't be loaded, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
   */
  readonly ask: (request: WorkRequest, signal: AbortSignal) => Promise<Rows>;
  /**
   * The same for a reply of a language model; only `signal` limits its time.
   * @param onStarted called when it is the call's turn
   */
  readonly complete: (
    request: CompleteRequest,
    signal: AbortSignal,
    onStarted: () => void,
  ) => Promise<Completion>;
  /** Ends the process; the next call starts another. */
  readonly close: () => void;
};

export type Rows = Extract<Reply, { kind: "rows" }>;

/** A model that is not used releases its memory. */
const IDLE_MS = 60_000;

/** Holds a model in a process of its own, which the first request starts. */
export function openModelProcess(options: ModelProcessOptions): ModelProcess {
  let child: ChildProcess | undefined;
  let inputs = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  const close = () => {
    clearTimeout(idle);
    child?.kill("SIGKILL");
    child = undefined;
    inputs = 0;
  };
  const askOnce = async (request: SentRequest, limits: AskLimits, onStarted: () => void) => {
    const { signal } = limits;
    signal.throwIfAborted();
    clearTimeout(idle);
    try {
      child ??= await startChild(options, signal);
      onStarted();
      const reply = await askChild(child, request, limits);
      if (reply.kind === "ready" || reply.kind === "failed") throw brokeOver(options, reply);
      inputs += reply.kind === "rows" ? reply.rows : 1;
      const { recycle, idleMs = IDLE_MS } = options;
      const isWorn = inputs >= recycle.inputs || reply.rssBytes >= recycle.megabytes * 1_000_000;
      if (isWorn || idleMs === 0) close();
      else if (idleMs > 0) idle = setTimeout(close, idleMs).unref();
      return reply;
    } catch (error) {
      close();
      throw error;
    }
  };
  /** Waits until all earlier requests have ended. */
  const askInTurn = (request: SentRequest, limits: AskLimits, onStarted: () => void) => {
    const asked = turn.then(() =>
      askWithRestart(() => askOnce(request, limits, onStarted), options),
    );
    turn = asked.catch(() => undefined);
    return unlessAborted(asked, limits.signal);
  };
  return {
    close,
    async ask(request, signal) {
      const reply = await askInTurn(request, limitsOf(options, signal), () => undefined);
      if (reply.kind !== "rows") throw new Error(`${reply.kind} came for rows`);
      return reply;
    },
    async complete(request, signal, onStarted) {
      const limits = { ...limitsOf(options, signal), timeoutMs: null, stopMs: options.stopMs };
      const reply = await askInTurn(request, limits, onStarted);
      signal.throwIfAborted();
      if (reply.kind === "aborted") throw new Error("a reply was ended that nobody gave up");
      if (reply.kind === "rows") throw new Error("rows came for a prompt");
      return reply;
    },
  };
}

type SentRequest = WorkRequest | CompleteRequest;
type ChildReply = Exclude<Reply, { kind: "ready" | "failed" }>;

/** Repeats a request once: the cause of a killed process, such as a lack of memory, may have passed. */
async function askWithRestart(
  ask: () => Promise<ChildReply>,
  { role, model }: ModelProcessOptions,
): Promise<ChildReply> {
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
      `The process of the ${role.noun} "${model}" died twice at the same texts (${error.how}): give it more ` +
        `memory, or ${role.smaller}.`,
      { cause: error },
    );
  }
}

async function startChild(
  options: ModelProcessOptions,
  signal: AbortSignal,
): Promise<ChildProcess> {
  const child = forkBeside(import.meta.url, options.execArgv);
  try {
    const reply = await askChild(child, options.load, limitsOf(options, signal));
    if (reply.kind === "ready") return child;
    throw reply.kind === "failed" ? notLoaded(options, reply) : new Error(`${reply.kind} to load`);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

const limitsOf = ({ role, model, timeoutMs }: ModelProcessOptions, signal: AbortSignal) => ({
  signal,
  timeoutMs,
  timeout: () =>
    new Failure(
      "MODEL_TIMEOUT",
      `The ${role.noun} "${model}" did not answer within ${timeoutMs / 1_000} s. Raise ${role.keys}.timeout_s, or ` +
        `${role.smaller}.`,
    ),
});

type Failed = Extract<Reply, { kind: "failed" }>;

function notLoaded({ role, model, load }: ModelProcessOptions, { why, message }: Failed): Failure {
  if (why === "no_package") return noPackage(role);
  return new Failure(
    role.missing,
    `The files of the ${role.noun} "${model}" in ${load.folder} can't be loaded (${message.slice(0, 300)}). ` +
      `Put whole ones there, or run: nightdesk models fetch ${model}`,
  );
}

const brokeOver = ({ role, model }: ModelProcessOptions, reply: Reply): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The ${role.noun} "${model}" broke over a batch of texts (${"message" in reply ? reply.message : reply.kind}). ` +
      `Its process was ended; if it happens again, ${role.smaller}.`,
  );

/** The process ended, or could not be started, before it answered. */
class ChildEnded extends Error {
  override readonly name = "ChildEnded";
  /** Its exit status, the signal that killed it, or the system's error. */
  readonly how: string;
  constructor(how: string) {
    super(`the process of the model ended: ${how}`);
    this.how = how;
  }
}

type AskLimits = {
  readonly signal: AbortSignal;
  /** null: limited only by the signal. */
  readonly timeoutMs: number | null;
  /** Makes the error when the time is up. */
  readonly timeout: () => Error;
  /** Time for an aborted reply to end; undefined: it is not waited for. */
  readonly stopMs?: number | undefined;
};

/**
 * Sends one request and waits for its reply, or after an abort for the reply to what it was doing. The caller makes one request
 * at a time, and kills the process after any error. Only during the wait does the process keep this one alive.
 * @throws ChildEnded; the signal's reason; the error of `timeout`
 */
async function askChild(
  child: ChildProcess,
  request: Request,
  { signal, timeoutMs, timeout, stopMs = 0 }: AskLimits,
): Promise<Reply> {
  child.ref();
  child.channel?.ref();
  const waiting = new AbortController();
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const once = { once: true, signal: waiting.signal };
      const timer =
        timeoutMs === null
          ? undefined
          : setTimeout(() => {
              reject(timeout());
            }, timeoutMs);
      waiting.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        clearTimeout(slow);
      });
      const ended = (how: string) => {
        reject(new ChildEnded(how));
      };
      const send = (message: Request): void => {
        child.send(message, (error) => {
          if (error !== null) ended(error.message);
        });
      };
      const giveUp = () => {
        reject(signal.reason as Error);
      };
      let slow: NodeJS.Timeout | undefined;
      const stop = () => {
        if (stopMs === 0) {
          giveUp();
          return;
        }
        send({ kind: "abort" });
        slow = setTimeout(giveUp, stopMs);
      };
      signal.addEventListener("abort", stop, once);
      listenTo(child, waiting.signal, { replied: resolve, ended });
      send(request);
    });
  } finally {
    waiting.abort();
    child.unref();
    child.channel?.unref();
  }
}

type Listeners = {
  readonly replied: (reply: Reply) => void;
  readonly ended: (how: string) => void;
};

function listenTo(child: ChildProcess, until: AbortSignal, { replied, ended }: Listeners): void {
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
