import { htmlText } from "../../web/html-text.ts";
import { decodeAs, decodeBytes } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import { inChild } from "../reader/reader.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { MARKDOWN } from "./markdown.ts";

/** Pages that were saved: read by the walk that reads pages of the web. */
export const HTML: Format = {
  name: "html",
  extensions: [".html", ".htm", ".xhtml"],
  extractor: inChild("html 1", { home: import.meta.url, name: "readHtml" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

/** No script runs, and nothing is fetched. */
export function readHtml(bytes: Buffer, limits: TextLimits): Extraction {
  const { text: html, encoding } = decodeHtml(bytes);
  const page = htmlText({ html, url: "about:blank" });
  if (page.kind === "too_deep") {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "has elements within elements more than 1,000 deep: save it as plain text.",
    );
  }
  const builder = openTextBuilder(limits);
  builder.add(page.text);
  return builder.finish({ encoding, ...(page.title === null ? {} : { title: page.title }) });
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
