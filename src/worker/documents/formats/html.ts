import { htmlText } from "../../web/html-text.ts";
import { decodeAs, decodeBytes } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { inChild } from "../reader/reader.ts";
import { cleanPiece, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { MARKDOWN } from "./markdown.ts";

/** Pages that were saved: read by the walk that reads pages of the web, but for what stands beside the page, which is kept. */
export const HTML: Format = {
  name: "html",
  extensions: [".html", ".htm", ".xhtml"],
  extractor: inChild("html 3", { home: import.meta.url, name: "readHtml" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

/** No script runs, and nothing is fetched. */
export function readHtml(bytes: Buffer, limits: TextLimits): Extraction {
  const { text: html, encoding } = decodeHtml(bytes);
  const page = htmlText({ html, url: "about:blank", beside: "kept" });
  if (page.kind === "too_deep") {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "has elements within elements more than 1,000 deep: save it as plain text.",
    );
  }
  const builder = openTextBuilder(limits);
  builder.add(page.text);
  const date = metaDate(html);
  return builder.finish({
    encoding,
    ...(page.title === null ? {} : { title: page.title }),
    ...(date === undefined ? {} : { date }),
  });
}

const HEAD_CHARS = 65_536;
/** Names of meta elements that date a page, in the order in which they count. */
const DATE_NAMES: readonly string[] = [
  ...["article:published_time", "datepublished", "dcterms.issued", "dc.date.issued", "dc.date"],
  ...["dcterms.date", "date", "pubdate", "dcterms.created", "dc.date.created"],
  ...["article:modified_time", "datemodified", "dcterms.modified", "og:updated_time"],
  "last-modified",
];

/** What the page says of its day, as it is written. */
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
    String.raw`\s${name}\s{0,5}=\s{0,5}(?:"([^"]{0,300})"|'([^']{0,300})')`,
    "i",
  ).exec(element);
  return value?.[1] ?? value?.[2];
}

const META_BYTES = 2_048;

/** UTF-8 where it is that, else what the page says, else what its bytes look like. */
function decodeHtml(
  bytes: Buffer,
): DecodedText | { readonly text: string; readonly encoding: string } {
  const decoded = decodeBytes(bytes);
  if (decoded !== undefined && decoded.encoding !== "windows-1252") return decoded;
  const head = bytes.toString("latin1", 0, META_BYTES);
  const label = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:-]{1,40})/i.exec(head)?.[1];
  const named = label === undefined ? undefined : tryLabel(label, bytes);
  const found = named ?? decoded;
  if (found !== undefined) return found;
  throw new NoText("FILE_READ_ERROR", "is no text in an encoding that is known: save it as UTF-8.");
}

function tryLabel(label: string, bytes: Buffer): ReturnType<typeof decodeAs> | undefined {
  try {
    return decodeAs(label, bytes);
  } catch {
    // A page may name what it likes.
    return undefined;
  }
}
