import { htmlText } from "../../web/html-text.ts";
import type { HtmlPage, PageText } from "../../web/html-text.ts";
import { decodeBytes, tryDecode } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";
import { cleanPiece, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { countLeftOut } from "../left-out.ts";

/** The text of a page, with the parts beside its main content. @throws NoText if elements are nested too deep */
export function readPage(html: string, sheets: Pick<HtmlPage, "shifts"> = {}): PageText {
  const page = htmlText({ html, url: "about:blank", beside: "kept", ...sheets });
  if (page.kind !== "too_deep") return page;
  throw new NoText(
    "FILE_FORMAT_INVALID",
    "has elements within elements more than 1,000 deep: save it as plain text.",
  );
}

/**
 * Reads a saved page as pages of the web are read, but keeps the parts beside the main content. It runs no script and
 * fetches nothing.
 */
export function readHtml(bytes: Buffer, limits: TextLimits): Extraction {
  const { text: html, encoding } = decodeHtml(bytes, limits);
  const page = readPage(html);
  const builder = openTextBuilder(limits);
  builder.add(page.text);
  const date = metaDate(html);
  const leftOut = countLeftOut();
  leftOut.addAll(page.leftOut);
  const metadata = {
    encoding,
    ...(page.title === null ? {} : { title: page.title }),
    ...(date === undefined ? {} : { date }),
  };
  return { ...builder.finish(metadata), ...leftOut.finish() };
}

const HEAD_CHARS = 65_536;
/** Names of meta elements that date a page; the first one that is there counts. */
const DATE_NAMES: readonly string[] = [
  ...["article:published_time", "datepublished", "dcterms.issued", "dc.date.issued", "dc.date"],
  ...["dcterms.date", "date", "pubdate", "dcterms.created", "dc.date.created"],
  ...["article:modified_time", "datemodified", "dcterms.modified", "og:updated_time"],
  "last-modified",
];

/** The date that a meta element gives the page, as it is written. */
function metaDate(html: string): string | undefined {
  const held = new Map<string, string>();
  for (const [element] of html.slice(0, HEAD_CHARS).matchAll(/<meta\b[^<>]{0,600}>/gi)) {
    const name = attributeOf(element, "(?:name|property|itemprop|http-equiv)")?.toLowerCase();
    const content = attributeOf(element, "content");
    if (name !== undefined && content !== undefined && !held.has(name)) {
      held.set(name, cleanPiece(content).trim().slice(0, 100));
    }
  }
  return DATE_NAMES.flatMap((name) => held.get(name) ?? [])[0];
}

function attributeOf(element: string, name: string): string | undefined {
  const value = new RegExp(
    String.raw`\s${name}\s{0,5}=\s{0,5}(?:"([^"]{0,300})"|'([^']{0,300})'|([^\s"'<>]{1,300}))`,
    "i",
  ).exec(element);
  return value?.[1] ?? value?.[2] ?? value?.[3];
}

const META_BYTES = 2_048;

/** Decodes as Unicode if the bytes are that, else by the label of the page, else by what the bytes look like. */
function decodeHtml(bytes: Buffer, { encoding }: TextLimits): DecodedText {
  const head = bytes.toString("latin1", 0, META_BYTES);
  const label = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:-]{1,40})/i.exec(head)?.[1];
  const found = decodeBytes(bytes, label ?? encoding) ?? tryDecode(label ?? "utf-8", bytes);
  if (found !== undefined) return found;
  throw new NoText("FILE_READ_ERROR", "is no text in an encoding that is known: save it as UTF-8.");
}
