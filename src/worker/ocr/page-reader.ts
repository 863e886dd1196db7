import { openReadingProcess } from "../documents/reader/reading-process.ts";
import type { ProcessLimits } from "../documents/reader/reading-process.ts";
import type { PageOutcome, ReadPage, UnreadablePage } from "./page-outcome.ts";
import { findOcr, foldersOf } from "./places.ts";
import type { OcrFolders } from "./places.ts";
import type { PageOptions } from "./read-page.ts";

export type PageReader = ReadPage & {
  /** Ends the process. */
  readonly close: () => void;
};

export type PageReaderOptions = {
  readonly folders: OcrFolders;
  /** For one page; default 60 s. */
  readonly timeoutMs?: number;
  /** Resident bytes; default 600 MB. */
  readonly memoryBytes?: number;
};

const TIMEOUT_MS = 60_000;
const MEMORY_BYTES = 600_000_000;

/**
 * A process that reads pictures of pages, one after the other; the first page starts it. A process that exceeds a limit is
 * killed and replaced.
 */
export function openPageReader(options: PageReaderOptions): PageReader {
  const { folders, timeoutMs = TIMEOUT_MS, memoryBytes = MEMORY_BYTES } = options;
  const limits = { timeoutMs, memoryBytes };
  let opened: ReturnType<typeof openReadingProcess> | undefined;
  let hasRead = false;
  const readPage: ReadPage = async ({ bytes, ...request }) => {
    const places = findOcr(folders, request.languages);
    opened ??= openReadingProcess({ ...limits, readable: foldersOf(places, folders) });
    const home = new URL(HOME, import.meta.url).href;
    const pageOptions: PageOptions = { ...request, places };
    const call = { home, name: "readPageHere", bytes, limits: pageOptions };
    const first = await opened.read<PageOutcome>(call);
    // Memory left from earlier pages may be the reason.
    const isFull = first.kind === "ended" && first.how === "memory" && hasRead;
    const outcome = isFull ? await opened.read<PageOutcome>(call) : first;
    hasRead = outcome.kind === "replied";
    return outcome.kind === "replied" ? outcome.reply : REASONS[outcome.how](limits);
  };
  return Object.assign(readPage, { close: () => opened?.close() });
}

const HOME = import.meta.url.endsWith(".ts") ? "./read-page.ts" : "./read-page.js";

const REASONS: Readonly<
  Record<"time" | "memory" | "crash", (limits: ProcessLimits) => UnreadablePage>
> = {
  time: ({ timeoutMs }) => ({
    kind: "unreadable",
    why: `takes longer to read than ${timeoutMs / 1_000} s: scan it at 300 dpi or less.`,
    lasts: "perhaps",
  }),
  memory: ({ memoryBytes }) => ({
    kind: "unreadable",
    why: `takes more memory to read than ${memoryBytes / 1e6} MB: scan it at 300 dpi or less.`,
    lasts: "perhaps",
  }),
  crash: () => ({
    kind: "unreadable",
    why: "ended the process that read it, twice: save it anew with the program that made it.",
    lasts: "never",
  }),
};
