import { NO_FRONTMATTER } from "../frontmatter.ts";
import type { Block, Lines } from "../lines.ts";
import { inChild } from "../reader/reader.ts";
import { NoText, openTextBuilder, tooMany } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import type { Extraction, FileMetadata } from "../extraction.ts";
import { pageLines } from "./pdf-layout.ts";
import type { PdfItem } from "./pdf-layout.ts";
import { PLAIN } from "./plain.ts";

/** Pages, of which no passage goes over two. */
export const PDF: Format = {
  name: "pdf",
  extensions: [".pdf"],
  extractor: inChild("pdf 2", { home: import.meta.url, name: "readPdf" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine, settings) => {
    const cut = PLAIN.cut(lines, firstLine, settings);
    return cut.kind === "pieces" ? cut : { kind: "blocks", blocks: byPage(lines, cut.blocks) };
  },
};

/** Stands between two pages. */
const PAGE_BREAK = "\f";

function byPage(lines: Lines, blocks: readonly Block[]): Block[] {
  let isFirst = false;
  return blocks.flatMap((block): Block[] => {
    const begins = lines.text.startsWith(PAGE_BREAK, lines.start(block.firstLine));
    if (begins && block.firstLine === block.lastLine) {
      isFirst = true;
      return [];
    }
    const opens = isFirst;
    isFirst = false;
    return [opens ? { ...block, opensSection: true } : block];
  });
}

export async function readPdf(bytes: Buffer, limits: TextLimits): Promise<Extraction> {
  const { getDocumentProxy } = await import("unpdf");
  const document = await openPdf(() =>
    getDocumentProxy(new Uint8Array(bytes), {
      verbosity: 0,
      isEvalSupported: false,
      useSystemFonts: false,
      stopAtErrors: false,
    }),
  );
  if (document.numPages > limits.pages) throw tooMany("pages", limits.pages, "max_pages");
  const builder = openTextBuilder(limits);
  const empty: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const width = page.getViewport({ scale: 1 }).width;
    const text = pageLines(items.flatMap(itemOf), width).join("\n");
    page.cleanup();
    if (number > 1) builder.add(`\n\n${PAGE_BREAK}\n\n`);
    builder.place({ page: number });
    builder.add(text.replaceAll(PAGE_BREAK, ""));
    if (text.trim() === "") empty.push(String(number));
  }
  if (empty.length === document.numPages) {
    throw new NoText(
      "NO_TEXT_LAYER",
      "holds pictures of pages and no text, as a scan does: have a program recognise its text first.",
    );
  }
  return builder.finish({
    ...(await propertiesOf(() => document.getMetadata())),
    pages: document.numPages,
    ...(empty.length === 0 ? {} : { pages_without_text: empty }),
  });
}

async function openPdf<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
    }
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no whole PDF: save it anew with the program that made it.",
    );
  }
}

/** Marks of content have no text. */
const itemOf = (item: object): PdfItem[] =>
  "str" in item && "transform" in item ? [item as PdfItem] : [];

type Info = { readonly info: object };

/** A document without readable properties is read all the same. */
async function propertiesOf(load: () => Promise<Info>): Promise<FileMetadata> {
  const { info } = await load().catch((): Info => ({ info: {} }));
  const { Title, Author, CreationDate, ModDate } = info as Readonly<Record<string, unknown>>;
  const [created, modified] = [dayOf(CreationDate), dayOf(ModDate)];
  return {
    ...(typeof Title === "string" && Title.trim() !== ""
      ? { title: Title.trim().slice(0, 300) }
      : {}),
    ...(typeof Author === "string" && Author.trim() !== ""
      ? { author: Author.trim().slice(0, 300) }
      : {}),
    ...(created === null ? {} : { created }),
    ...(modified === null ? {} : { modified }),
  };
}

function dayOf(date: unknown): string | null {
  const day = typeof date === "string" ? /^(?:D:)?(\d{4})(\d{2})(\d{2})/.exec(date) : null;
  return day === null ? null : day.slice(1).join("-");
}
