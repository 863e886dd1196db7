import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Failure } from "../../../shared/failure.ts";
import { forkBeside, watchResidentBytes } from "../../forked-process.ts";
import type { MemoryLooks } from "../../forked-process.ts";
import type { ReaderFunction } from "../extraction.ts";
import { readerRights } from "./rights.ts";

export type ProcessLimits = {
  /** Milliseconds that one request may take. */
  readonly timeoutMs: number;
  /** Resident bytes of the process. */
  readonly memoryBytes: number;
  /** Folders that the process may read, besides code and packages. */
  readonly readable?: readonly string[];
};

/** The function to call, and its arguments. */
export type ReaderRequest<Options = unknown> = ReaderFunction & {
  readonly bytes: Uint8Array;
  readonly limits: Options;
};

/** The reader of a format could not be loaded. */
export type Fault = { readonly kind: "fault"; readonly what: string };

type Ended = { readonly kind: "ended"; readonly how: "time" | "memory" | "crash" };
type Replied<Reply> = { readonly kind: "replied"; readonly reply: Reply };
type Outcome<Reply> = Replied<Reply> | Ended;

export type ReadingProcess = {
  /**
   * Answers one request after the other. If the process crashes twice in a row, the file is the cause.
   * @throws Failure TOOL_ERROR if the process can't be started, or the reader can't be loaded
   */
  readonly read: <Reply>(request: ReaderRequest) => Promise<Replied<Exclude<Reply, Fault>> | Ended>;
  readonly close: () => void;
};

/** An idle process ends after this time, to free its memory. */
const IDLE_MS = 30_000;

/**
 * Opens a process for parsers, which the first request starts. A process that exceeds a limit is killed and replaced.
 * @param procFolder see `watchResidentBytes`
 */
export function openReadingProcess(limits: ProcessLimits, procFolder?: string): ReadingProcess {
  let child: Promise<ChildProcess> | undefined;
  let flags: readonly string[] | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(idle);
    void child?.then(
      (started) => started.kill("SIGKILL"),
      () => undefined,
    );
    child = undefined;
  };
  const readOnce = async (request: ReaderRequest): Promise<Outcome<unknown>> => {
    clearTimeout(idle);
    flags ??= readerRights({ readable: limits.readable ?? [] }).flags;
    child ??= startChild(limits, flags);
    const outcome = await sendWhenStarted(child, request).catch((error: unknown) => {
      close();
      throw error;
    });
    if (outcome.kind === "ended") close();
    else idle = setTimeout(close, IDLE_MS).unref();
    return outcome;
  };
  const sendWhenStarted = async (starting: Promise<ChildProcess>, request: ReaderRequest) =>
    sendRequest(await starting, request, { ...limits, procFolder });
  return {
    read: <Reply>(request: ReaderRequest) => {
      const asked = turn.then(async () => {
        const first = await readOnce(request);
        // A crash may be a kill from outside, so it is tried once more.
        const again = first.kind === "ended" && first.how === "crash";
        return refuseFault(again ? await readOnce(request) : first);
      });
      turn = asked.catch(() => undefined);
      return asked as Promise<Replied<Exclude<Reply, Fault>> | Ended>;
    },
    close,
  };
}

function refuseFault(outcome: Outcome<unknown>): Outcome<unknown> {
  const fault = outcome.kind === "replied" ? (outcome.reply as Partial<Fault>) : undefined;
  if (fault?.kind !== "fault") return outcome;
  throw new Failure("TOOL_ERROR", `What reads this format can't be loaded: ${fault.what ?? ""}`);
}

const MEGABYTE = 1_000_000;

/** Enough for a very busy machine. The start does not count as reading time of a file. */
const START_MS = 120_000;

async function startChild(
  { memoryBytes }: ProcessLimits,
  flags: readonly string[],
): Promise<ChildProcess> {
  const heap = `--max-old-space-size=${Math.ceil(memoryBytes / MEGABYTE)}`;
  // An empty environment: hostile bytes find no password in it.
  const child = forkBeside(import.meta.url, [...flags, heap], { env: {} });
  // Errors between two requests and during a kill concern no request.
  child.on("error", () => undefined);
  const ready = AbortSignal.timeout(START_MS);
  try {
    await once(child, "message", { signal: AbortSignal.any([ready, whenExited(child)]) });
    return child;
  } catch (error) {
    child.kill("SIGKILL");
    throw new Failure("TOOL_ERROR", "The process that reads files could not be started.", {
      cause: error,
    });
  }
}

function whenExited(child: ChildProcess): AbortSignal {
  const exited = new AbortController();
  child.once("exit", () => {
    exited.abort();
  });
  return exited.signal;
}

/** Interval of the memory checks. The process can grow by some 20 MB meanwhile. */
const LOOK_MS = 40;

type AskLimits = Pick<ProcessLimits, "timeoutMs" | "memoryBytes"> & Pick<MemoryLooks, "procFolder">;

function sendRequest(
  child: ChildProcess,
  request: ReaderRequest,
  limits: AskLimits,
): Promise<Outcome<unknown>> {
  child.ref();
  child.channel?.ref();
  const listeners = new AbortController();
  const asked = new Promise<Outcome<unknown>>((resolve, reject) => {
    const end = (how: "time" | "memory" | "crash") => {
      resolve({ kind: "ended", how });
    };
    const timer = setTimeout(end, limits.timeoutMs, "time");
    const looks = { pid: child.pid, everyMs: LOOK_MS, procFolder: limits.procFolder };
    const endLooks = watchResidentBytes(looks, (bytes) => {
      if (bytes > limits.memoryBytes) end("memory");
    });
    const replied = (reply: unknown) => {
      resolve({ kind: "replied", reply });
    };
    const crashed = () => {
      end("crash");
    };
    const broke = (error: Error) => {
      reject(
        new Failure("TOOL_ERROR", `No process could be started to read files: ${error.message}.`),
      );
    };
    child.once("message", replied).once("exit", crashed).once("error", broke);
    listeners.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      endLooks();
      child.off("message", replied).off("exit", crashed).off("error", broke);
    });
    child.send(request, (error) => {
      if (error !== null) crashed();
    });
  });
  return asked.finally(() => {
    listeners.abort();
    child.unref();
    child.channel?.unref();
  });
}
