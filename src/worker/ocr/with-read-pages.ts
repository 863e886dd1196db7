import { hash } from "node:crypto";
import { LAYERED_PAGES, layeredIn, pagesToRead } from "../documents/extraction.ts";
import type {
  ExtractedText,
  Extraction,
  FileMetadata,
  LeftOut,
  Unreadable,
} from "../documents/extraction.ts";
import { PAGE_BREAK } from "../documents/formats/page-blocks.ts";
import { joinHyphens, wordsOf } from "../documents/formats/pdf-hyphens.ts";
import { countedOut, PICTURED_PAGES } from "../documents/left-out.ts";
import { openTextBuilder } from "../documents/reader/text-builder.ts";
import type { TextLimits } from "../documents/reader/text-builder.ts";
import { withDoubts } from "../text/doubt-mark.ts";
import { checkLayer } from "./check-layer.ts";
import type { LayerCheck } from "./check-layer.ts";
import { pageLines } from "./page-lines.ts";
import type { PageRecord } from "../../shared/pages/page-record.ts";

/** The stored OCR results. */
export type ReadPages = {
  /** Fingerprint of the OCR settings. */
  readonly settings: string;
  /** The results of a file, by page. */
  of(sha256: string): Promise<ReadonlyMap<number, StoredPage>>;
};

/** The OCR result of a page, or why it can't be read. */
export type StoredPage =
  | { readonly kind: "read"; readonly record: PageRecord }
  | { readonly kind: "unreadable"; readonly why: string };

type Reading = {
  readonly pages: ReadPages;
  readonly limits: Pick<TextLimits, "chars">;
};

/**
 * Adds the words of its pictures to a file, and marks figures of a text layer that differs from its picture. Until each
 * picture was read or given up, the file keeps the text that it had.
 */
export async function withReadPages(
  extracted: Extraction,
  bytes: Buffer,
  { pages, limits }: Reading,
): Promise<Extraction> {
  const wanted = pagesToRead(extracted);
  const known = await pages.of(hash("sha256", bytes, "hex"));
  const read = new Map(
    wanted.flatMap((page) => {
      const stored = known.get(page);
      return stored === undefined ? [] : [[page, stored] as const];
    }),
  );
  if (read.size < wanted.length) {
    return extracted.kind === "text" ? extracted : refuseUnread(wanted.length, read.size, wanted);
  }
  const whole = textOf(extracted, read, limits);
  if (whole.text.trim() === "") return refuseWordless([...read.values()]);
  return { ...whole, readWith: [pages.settings, ...choicesOf(read)].join(" ") };
}

/** A fingerprint of the readings that people chose, because they change the text. */
function choicesOf(read: ReadonlyMap<number, StoredPage>): readonly string[] {
  const chosen = [...read].flatMap(([page, stored]) => {
    const lines = stored.kind === "read" ? stored.record.lines : [];
    return lines
      .flatMap(({ words }) => words)
      .flatMap(({ text, box, read: before }) => (before === undefined ? [] : [[page, box, text]]));
  });
  return chosen.length === 0 ? [] : [hash("sha256", JSON.stringify(chosen), "hex").slice(0, 8)];
}

function refuseUnread(all: number, read: number, pictured: readonly number[]): Unreadable {
  const pages = all === 1 ? "is a picture of words" : `has ${all} pages that are pictures`;
  const done =
    read === 0 ? "none was read yet" : `${read} ${read === 1 ? "was" : "were"} read so far`;
  return {
    kind: "unreadable",
    code: "PAGES_UNREAD",
    why: `${pages}, and ${all === 1 ? "was not read yet" : done}: run nightdesk index --ocr.`,
    lasts: "always",
    pictured,
  };
}

function refuseWordless(pages: readonly StoredPage[]): Unreadable {
  const [why] = pages.flatMap((page) => (page.kind === "unreadable" ? [page.why] : []));
  const lasts = "always";
  return why === undefined
    ? { kind: "unreadable", code: "FILE_EMPTY", why: "shows no words in its pictures.", lasts }
    : { kind: "unreadable", code: "FILE_FORMAT_INVALID", why, lasts };
}

const BETWEEN_PAGES = `\n\n${PAGE_BREAK}\n\n`;

/** A larger share of letter shapes outside of all words means missing words. Whole pages had up to 1.9 %, others 22 % or more. */
const MOST_LEFT_INK = 0.05;

function textOf(
  extracted: Extraction,
  read: ReadonlyMap<number, StoredPage>,
  limits: Pick<TextLimits, "chars">,
): ExtractedText {
  const known = extracted.kind === "text" ? extracted.text.split(BETWEEN_PAGES) : [];
  const parted = partPages(extracted, known, read);
  const { pictures, checks } = parted;
  const pages = extracted.kind === "text" ? known.length : (extracted.pages ?? 0);
  const count = Math.max(pages, ...read.keys());
  const lines = Array.from({ length: count }, (_, at) => {
    const page = pictures.get(at + 1);
    return page?.kind === "read" ? pageLines(page.record) : undefined;
  });
  const words = wordsOf(lines.flatMap((own) => own ?? []));
  const builder = openTextBuilder(limits);
  lines.forEach((own, at) => {
    if (at > 0) builder.add(BETWEEN_PAGES);
    builder.place({ page: at + 1 });
    const text = known[at] ?? "";
    const printed = checks.get(at + 1) === "different" ? withDoubts(text) : text;
    builder.add(own === undefined ? printed : joinHyphens(own, words).join("\n"));
  });
  const { metadata = {}, leftOut = {} } = extracted.kind === "text" ? extracted : {};
  return {
    ...builder.finish({ ...pageFacts(metadata, parted), pages: count }),
    ...countedOut({ ...leftOut, ...leftOutBeside(leftOut, [...pictures.values()]) }),
  };
}

type Parted = {
  readonly pictures: ReadonlyMap<number, StoredPage>;
  /** Only pages that have a text layer on a picture. */
  readonly checks: ReadonlyMap<number, LayerCheck>;
};

function partPages(
  extracted: Extraction,
  known: readonly string[],
  read: ReadonlyMap<number, StoredPage>,
): Parted {
  const checks = new Map(
    layeredIn(extracted).map((page) => {
      const stored = read.get(page);
      const text = known[page - 1] ?? "";
      return [page, stored?.kind === "read" ? checkLayer(text, stored.record) : "unchecked"];
    }),
  );
  return { checks, pictures: new Map([...read].filter(([page]) => !checks.has(page))) };
}

/** Adds the lists of pages to the metadata, without empty lists. */
function pageFacts(metadata: FileMetadata, { pictures, checks }: Parted): FileMetadata {
  const { pages_without_text: empty } = metadata;
  const checkedAs = (...how: readonly LayerCheck[]) =>
    [...checks].flatMap(([page, check]) => (how.includes(check) ? [String(page)] : []));
  const isRead = (page: number): boolean => pictures.get(page)?.kind === "read";
  const lists = {
    pages_without_text: Array.isArray(empty) ? empty.filter((page) => !isRead(Number(page))) : [],
    pages_read: [...pictures.keys()].filter(isRead).map(String),
    pages_checked: checkedAs("same", "different"),
    pages_in_doubt: checkedAs("different"),
    [LAYERED_PAGES]: checkedAs("unchecked"),
  };
  const facts = Object.entries({ ...metadata, ...lists });
  return Object.fromEntries(facts.filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

function leftOutBeside(leftOut: LeftOut, pages: readonly StoredPage[]): LeftOut {
  const isRead = pages.filter(({ kind }) => kind === "read").length;
  return {
    pictures: Math.max(0, (leftOut["pictures"] ?? 0) - isRead),
    [PICTURED_PAGES]: 0,
    "pages that can't be read": pages.length - isRead,
    "pages of which words are missing": pages.filter(
      (page) => page.kind === "read" && page.record.leftInk > MOST_LEFT_INK,
    ).length,
  };
}
