import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Failure } from "../../../shared/failure.ts";
import { forkBeside, watchResidentBytes } from "../../forked-process.ts";
import type { MemoryLooks } from "../../forked-process.ts";
import type {
  Extraction,
  Extractor,
  ReaderFunction,
  ReadInChild,
  Unreadable,
} from "../extraction.ts";
import { readerRights } from "./rights.ts";
import type { ReaderRights } from "./rights.ts";
import type { TextLimits } from "./text-builder.ts";

export type ReaderLimits = {
  /** Milliseconds that one file may take. */
  readonly timeoutMs: number;
  /** Resident bytes of the process. */
  readonly memoryBytes: number;
  readonly text: TextLimits;
};

export type ReaderRequest = ReaderFunction & {
  readonly bytes: Uint8Array;
  readonly limits: TextLimits;
};

/** An extractor whose work is done there. */
export const inChild = (version: string, reader: ReaderFunction): Extractor => ({
  version,
  extract: (bytes, read, encoding) => read(reader, bytes, encoding),
});

/** Nobody asks: its memory is given back. */
const IDLE_MS = 30_000;

/**
 * A process that the parsers run in, started by the first file that needs it. One that meets a limit is killed, and replaced.
 * @param procFolder where the kernel tells of processes, as in `watchResidentBytes`
 */
export function openDocumentReader(limits: ReaderLimits, procFolder?: string): ReadInChild {
  let child: Promise<ChildProcess> | undefined;
  let rights: ReaderRights | undefined;
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
  const readOnce = async (request: ReaderRequest): Promise<Outcome> => {
    clearTimeout(idle);
    rights ??= readerRights();
    child ??= startChild(limits, rights);
    const outcome = await askStarted(child, request).catch((error: unknown) => {
      close();
      throw error;
    });
    if (outcome.kind === "ended") close();
    else idle = setTimeout(close, IDLE_MS).unref();
    return outcome;
  };
  const askStarted = async (starting: Promise<ChildProcess>, request: ReaderRequest) =>
    ask(await starting, request, { ...limits, procFolder });
  return (reader, bytes, encoding) => {
    const request = { ...reader, bytes, limits: { ...limits.text, encoding } };
    const asked = turn.then(async () => {
      const outcome = await readOnce(request);
      // What killed a process from outside may have passed; twice in a row it is the file.
      const isOurs = outcome.kind !== "ended" || outcome.how === "time" || outcome.how === "memory";
      return toExtraction(isOurs ? outcome : await readOnce(request), limits);
    });
    turn = asked.catch(() => undefined);
    return asked;
  };
}

/** What reads a format could not be loaded. */
export type Fault = { readonly kind: "fault"; readonly what: string };

type Outcome =
  | { readonly kind: "replied"; readonly reply: Extraction | Fault }
  | { readonly kind: "ended"; readonly how: "time" | "memory" | "crash" };

function toExtraction(outcome: Outcome, limits: ReaderLimits): Extraction {
  if (outcome.kind === "replied") {
    const { reply } = outcome;
    if (reply.kind !== "fault") return reply;
    throw new Failure("TOOL_ERROR", `What reads this format can't be loaded: ${reply.what}`);
  }
  return REASONS[outcome.how](limits);
}

const MEGABYTE = 1_000_000;

/** A busy machine may be the reason for each of them; for a crash also whoever kills processes. */
const REASONS: Readonly<
  Record<Extract<Outcome, { kind: "ended" }>["how"], (limits: ReaderLimits) => Unreadable>
> = {
  time: ({ timeoutMs }) => ({
    kind: "unreadable",
    code: "FILE_TOO_LARGE",
    why: `takes longer to read than ${timeoutMs / 1_000} s: split it, or raise documents.reader.timeout_s.`,
    lasts: "perhaps",
  }),
  memory: ({ memoryBytes }) => ({
    kind: "unreadable",
    code: "FILE_TOO_LARGE",
    why: `takes more memory to read than ${memoryBytes / MEGABYTE} MB: split it, or raise documents.reader.memory_mb.`,
    lasts: "perhaps",
  }),
  crash: () => ({
    kind: "unreadable",
    code: "FILE_FORMAT_INVALID",
    why: "ended the process that read it, twice: save it anew with the program that made it.",
    lasts: "never",
  }),
};

/** Of a machine that is very busy. The start is not part of the time of a file. */
const START_MS = 120_000;

async function startChild(
  { memoryBytes }: ReaderLimits,
  { flags }: ReaderRights,
): Promise<ChildProcess> {
  const heap = `--max-old-space-size=${Math.ceil(memoryBytes / MEGABYTE)}`;
  // Where parsers meet hostile bytes there is no password to read.
  const child = forkBeside(import.meta.url, [...flags, heap], { env: {} });
  // Between two files, and when it is killed, what it says is nobody's.
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

/** How often the memory of the process is looked at where the kernel tells. It grows by some 20 MB meanwhile. */
const LOOK_MS = 40;

type AskLimits = Pick<ReaderLimits, "timeoutMs" | "memoryBytes"> & Pick<MemoryLooks, "procFolder">;

function ask(child: ChildProcess, request: ReaderRequest, limits: AskLimits): Promise<Outcome> {
  child.ref();
  child.channel?.ref();
  const listeners = new AbortController();
  const asked = new Promise<Outcome>((resolve, reject) => {
    const end = (how: "time" | "memory" | "crash") => {
      resolve({ kind: "ended", how });
    };
    const timer = setTimeout(end, limits.timeoutMs, "time");
    const looks = { pid: child.pid, everyMs: LOOK_MS, procFolder: limits.procFolder };
    const endLooks = watchResidentBytes(looks, (bytes) => {
      if (bytes > limits.memoryBytes) end("memory");
    });
    const replied = (reply: unknown) => {
      resolve({ kind: "replied", reply: reply as Extraction | Fault });
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
