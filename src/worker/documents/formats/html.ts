import { htmlText } from "../../web/html-text.ts";
import type { HtmlPage, PageText } from "../../web/html-text.ts";
import { decodeBytes, tryDecode } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";
import { cleanPiece, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { countLeftOut } from "../left-out.ts";

/** A page with what stands beside it. @throws NoText where elements lie too deep in each other */
export function readPage(html: string, sheets: Pick<HtmlPage, "shifts"> = {}): PageText {
  const page = htmlText({ html, url: "about:blank", beside: "kept", ...sheets });
  if (page.kind !== "too_deep") return page;
  throw new NoText(
    "FILE_FORMAT_INVALID",
    "has elements within elements more than 1,000 deep: save it as plain text.",
  );
}

/**
 * Pages that were saved: read by the walk that reads pages of the web, but for what stands beside the page, which is kept.
 * No script runs, and nothing is fetched.
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
    String.raw`\s${name}\s{0,5}=\s{0,5}(?:"([^"]{0,300})"|'([^']{0,300})'|([^\s"'<>]{1,300}))`,
    "i",
  ).exec(element);
  return value?.[1] ?? value?.[2] ?? value?.[3];
}

const META_BYTES = 2_048;

/** Unicode where it is that, else what the page says, else what its bytes look like. */
function decodeHtml(bytes: Buffer, { encoding }: TextLimits): DecodedText {
  const head = bytes.toString("latin1", 0, META_BYTES);
  const label = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:-]{1,40})/i.exec(head)?.[1];
  const found = decodeBytes(bytes, label ?? encoding) ?? tryDecode(label ?? "utf-8", bytes);
  if (found !== undefined) return found;
  throw new NoText("FILE_READ_ERROR", "is no text in an encoding that is known: save it as UTF-8.");
}
