import { openReadingProcess } from "../documents/reader/reading-process.ts";
import type { ProcessLimits } from "../documents/reader/reading-process.ts";
import type { PageOutcome, ReadPage, UnreadablePage } from "./page-record.ts";
import type { PagesFound } from "./pdf-pages.ts";
import { findOcr, foldersOf } from "./places.ts";
import type { OcrFolders } from "./places.ts";
import type { PageOptions } from "./read-page.ts";

export type PageReader = ReadPage & {
  /** Pages of a PDF, frames of a TIFF, 1 of any other picture. */
  readonly countPages: (bytes: Buffer) => Promise<number | UnreadablePage>;
  /** The pages of a PDF that have no text of their own, or letters without names. */
  readonly pagesToRead: (bytes: Buffer) => Promise<PagesFound | UnreadablePage>;
  /** Ends the process. */
  readonly close: () => void;
};

export type PageReaderOptions = {
  readonly folders: OcrFolders;
  /** For one page; 60 s without it. */
  readonly timeoutMs?: number;
  /** Resident bytes; 600 MB without it. */
  readonly memoryBytes?: number;
};

const TIMEOUT_MS = 60_000;
const MEMORY_BYTES = 600_000_000;

/**
 * A process that reads pictures of pages, one after the other, started by the first page. One that meets a limit is killed, and
 * replaced.
 */
export function openPageReader(options: PageReaderOptions): PageReader {
  const { folders, timeoutMs = TIMEOUT_MS, memoryBytes = MEMORY_BYTES } = options;
  const limits = { timeoutMs, memoryBytes };
  let opened: ReturnType<typeof openReadingProcess> | undefined;
  const call = async <Reply extends object | number>(
    name: string,
    bytes: Buffer,
    languages: readonly string[],
    more: object,
  ): Promise<Reply | UnreadablePage> => {
    const places = findOcr(folders, languages);
    opened ??= openReadingProcess({ ...limits, readable: foldersOf(places, folders) });
    const home = new URL(HOME, import.meta.url).href;
    const asked = { home, name, bytes, limits: { ...more, places, pdfium: places.pdfium } };
    const outcome = await opened.read<Reply>(asked);
    return outcome.kind === "replied" ? outcome.reply : REASONS[outcome.how](limits);
  };
  const readPage: ReadPage = ({ bytes, ...request }) =>
    call<PageOutcome>(
      "readPageHere",
      bytes,
      request.languages,
      request satisfies Omit<PageOptions, "places">,
    );
  return Object.assign(readPage, {
    countPages: (bytes: Buffer) => call<number>("countPagesHere", bytes, [], {}),
    pagesToRead: (bytes: Buffer) => call<PagesFound>("pagesToReadHere", bytes, [], {}),
    close: () => opened?.close(),
  });
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
