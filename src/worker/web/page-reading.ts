import { hash } from "node:crypto";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Reading } from "../evidence/types.ts";
import { WorkTooLarge, WorkTooLong } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import { countCodePoints } from "../text/clean-text.ts";
import { isHtml } from "./fetch-page.ts";
import type { FetchedBytes } from "./fetch-page.ts";
import { HTML_TEXT } from "./html-text.ts";
import type { PageLink } from "./html-text.ts";

/** A page as evidence, with its links. */
export type FetchedPage = {
  readonly kind: "page";
  readonly reading: Reading;
  readonly links: readonly PageLink[];
};

/** The name and version of this extractor, stored with each reading. */
const EXTRACTOR = "web/2";
/** Stops the reading of a hostile page. */
const LONGEST_MS = 20_000;

type Reader = {
  /** With a memory limit. */
  readonly offload: Offload;
  /** The most characters of one page that an answer may use. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
};

/**
 * Extracts the text of a fetched page, and hashes its bytes and its text. Refusals: WEB_UNREADABLE (no text, too much
 * text, or a page that takes too much time or memory to read).
 */
export async function readPage(
  { url, bytes, mediaType, charset }: FetchedBytes,
  retrievedAt: Date,
  { offload, maxChars, signal }: Reader,
): Promise<FetchedPage | Refusal> {
  const source = decode(bytes, charset ?? (MARKUP.test(mediaType) ? ownCharset(bytes) : null));
  if (source.includes("\0")) return refuse("WEB_UNREADABLE", "It holds bytes that are no text.");
  const page = isHtml(mediaType)
    ? await readHtml(source, url, { offload, signal })
    : { kind: "text" as const, title: null, text: source.replaceAll(/\r\n?/g, "\n"), links: [] };
  if (page.kind !== "text") return page;
  const { text, title, links } = page;
  if (text.trim() === "") {
    return refuse(
      "WEB_UNREADABLE",
      "It holds no text; a page may make it by a program, which is not run.",
    );
  }
  const chars = countCodePoints(text);
  if (chars > maxChars) {
    const message = `It holds ${chars} characters, and an answer takes in ${maxChars} (ask.max_chars_full_read).`;
    return refuse("WEB_UNREADABLE", message);
  }
  const reading: Reading = {
    kind: "read",
    path: url.href,
    sha256: hash("sha256", bytes),
    extractor: EXTRACTOR,
    textSha256: hash("sha256", text),
    locator: null,
    bytes: bytes.length,
    charsFull: chars,
    charsReturned: chars,
    truncated: false,
    text,
    page: { title, retrievedAt: retrievedAt.toISOString() },
  };
  return { kind: "page", reading, links };
}

async function readHtml(
  html: string,
  url: URL,
  { offload, signal }: Pick<Reader, "offload" | "signal">,
): Promise<
  Exclude<ReturnType<(typeof HTML_TEXT)["run"]>, Promise<unknown> | { kind: "too_deep" }> | Refusal
> {
  try {
    const limits = { chars: html.length, signal, limitMs: LONGEST_MS };
    const page = await offload(HTML_TEXT, { html, url: url.href }, limits);
    if (page.kind === "text") return page;
    return refuse("WEB_UNREADABLE", "Its elements are nested too deeply.");
  } catch (error) {
    if (!(error instanceof WorkTooLarge || error instanceof WorkTooLong)) throw error;
    return refuse("WEB_UNREADABLE", "It takes too much time or memory to read.");
  }
}

/** A byte order mark overrides the given charset; an unknown charset is read as UTF-8. */
function decode(bytes: Buffer, charset: string | null): string {
  const label = bomOf(bytes) ?? charset ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new TextDecoder("utf-8").decode(bytes);
  }
}

function bomOf(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "utf-8" : null;
}

const MARKUP = /html$|xml$/;
/** The charset that a `meta` element or the XML declaration names. Not UTF-16, in which they could not be found like this. */
const ownCharset = (bytes: Buffer): string | null =>
  /<(?:meta[^>]{0,200}charset|\?xml[^>]{0,200}encoding)\s*=\s*["']?(?!utf-16)([A-Za-z0-9_:.-]{1,40})/i.exec(
    bytes.subarray(0, 2_048).toString("latin1"),
  )?.[1] ?? null;
