import { StringDecoder } from "node:string_decoder";
import { openXmlWalk } from "../documents/reader/walk-xml.ts";
import type { XmlVisitor } from "../documents/reader/walk-xml.ts";
import { NoText } from "../documents/reader/text-builder.ts";
import { Failure } from "../../shared/failure.ts";

/** In one response: a folder of 100,000 files has about 60 MB. */
const MOST_CHARS = 128_000_000;
/** A name, a date or a hash is shorter. */
const MOST_BETWEEN_TAGS = 64_000;
const MOST_NESTED = 50;
/** Files and folders in all responses of one listing. */
const MOST_LISTED = 2_000_000;

/** Builds entries while a listing arrives; `take` returns the entries that are complete by now, and forgets them. */
export type ListingReader<Entry> = XmlVisitor & { readonly take: () => readonly Entry[] };

/**
 * Reads the XML of a listing piece by piece. It fails if the listing is no XML, declares entities, or exceeds a limit.
 * @throws Failure SOURCE_INVALID
 */
export async function* readListing<Entry>(
  source: string,
  chunks: AsyncIterable<Uint8Array>,
  { open, close, text, take }: ListingReader<Entry>,
): AsyncGenerator<readonly Entry[]> {
  let [chars, sinceTag, nested] = [0, 0, 0];
  const walk = openXmlWalk({
    open(name, attributes) {
      sinceTag = 0;
      nested += 1;
      if (nested > MOST_NESTED) throw invalid(source, `nests more than ${MOST_NESTED} elements`);
      open(name, attributes);
    },
    close(name) {
      sinceTag = 0;
      nested -= 1;
      close?.(name);
    },
    ...(text === undefined ? {} : { text }),
  });
  const decoder = new StringDecoder("utf8");
  const feed = (piece: string): void => {
    chars += piece.length;
    sinceTag += piece.length;
    walk.write(piece);
    if (chars > MOST_CHARS) throw invalid(source, `has more than ${MOST_CHARS} characters`);
    if (sinceTag > MOST_BETWEEN_TAGS) throw invalid(source, "holds a text that no listing has");
  };
  try {
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += MOST_BETWEEN_TAGS / 4)
        feed(decoder.write(Buffer.from(chunk.subarray(start, start + MOST_BETWEEN_TAGS / 4))));
      const found = take();
      if (found.length > 0) yield found;
    }
    walk.close();
  } catch (error) {
    throw error instanceof NoText ? invalid(source, error.message) : error;
  }
  const rest = take();
  if (rest.length > 0) yield rest;
}

/** An element of a listing, and the texts of its wanted child elements; an element without text has an empty one. */
export type Entry = { readonly element: string; readonly texts: ReadonlyMap<string, string> };

/** The trimmed text of a part; empty if the entry lacks it. */
export const textOf = (entry: Entry | undefined, part: string): string =>
  entry?.texts.get(part)?.trim() ?? "";

/** Reads the elements of these names, nested ones too. If a part comes twice, its first text counts. */
export function entryReader(
  elements: ReadonlySet<string>,
  parts: ReadonlySet<string>,
): ListingReader<Entry> {
  const openEntries: (Entry & { readonly texts: Map<string, string> })[] = [];
  let done: Entry[] = [];
  let read = "";
  return {
    open(name) {
      read = "";
      if (elements.has(name)) openEntries.push({ element: name, texts: new Map() });
    },
    text(piece) {
      read += piece;
    },
    close(name) {
      const texts = openEntries.at(-1)?.texts;
      if (parts.has(name) && !texts?.get(name)) texts?.set(name, read);
      const ended = elements.has(name) ? openEntries.pop() : undefined;
      if (ended !== undefined) done.push(ended);
      read = "";
    },
    take() {
      const taken = done;
      done = [];
      return taken;
    },
  };
}

/** Ends the listing of a server that invents entries without end. @throws Failure SOURCE_INVALID */
export function checkListed(source: string, listed: number): void {
  if (listed > MOST_LISTED) throw invalid(source, `has more than ${MOST_LISTED} entries`);
}

/** Parses a size; null if the text is none. */
export const sizeOf = (text: string): number | null =>
  /^\d{1,15}$/.test(text) ? Number(text) : null;

export const invalid = (source: string, why: string): Failure =>
  new Failure("SOURCE_INVALID", `Source "${source}": the listing ${why}. Nothing was deleted.`);
