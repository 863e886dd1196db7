import { posix } from "node:path";
import { shiftsIn } from "../../web/html-text.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { countLeftOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { Extraction } from "../extraction.ts";
import { readPage } from "./html.ts";
import { readProperties } from "./office-properties.ts";

/** Reads a book: its chapters in reading order, each as a saved page. */
export function readEpub(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  // Obfuscated fonts are listed there too, which is no encryption of the book.
  if (/EncryptedKey|xmlenc(?:11)?#aes/.test(archive.text("META-INF/encryption.xml") ?? "")) {
    throw new NoText(
      "FILE_ENCRYPTED",
      "is encrypted: open it in the program that it was bought for.",
    );
  }
  const packagePart = packageOf(archive);
  const { chapters, pictures, sheets } = contentsOf(archive, packagePart);
  const shifts = new Map(sheets.flatMap((sheet) => shiftsIn(archive.text(sheet) ?? "")));
  const builder = openTextBuilder(limits);
  const count = countEntries("chapters", limits);
  const leftOut = countLeftOut();
  leftOut.add("pictures", pictures);
  for (const chapter of chapters) {
    count();
    const html = archive.text(chapter);
    if (html === undefined) continue;
    const page = readPage(html, { shifts });
    leftOut.addAll(page.leftOut);
    if (page.text.trim() !== "") builder.add(`${page.text.trim()}\n\n`);
  }
  return { ...builder.finish(readProperties(archive, packagePart)), ...leftOut.finish() };
}

const noBook = (): NoText =>
  new NoText("FILE_FORMAT_INVALID", "is no book: save it as .epub with the program that made it.");

function packageOf(archive: Archive): string {
  let part: string | undefined;
  walkXml(archive.text("META-INF/container.xml") ?? "<none/>", {
    open(name, attributes) {
      if (name === "rootfile") part ??= attributes["full-path"];
    },
  });
  if (part === undefined) throw noBook();
  return part;
}

/** The parts of the chapters in the order of the spine, the number of pictures, and the style sheets. */
function contentsOf(
  archive: Archive,
  part: string,
): {
  readonly chapters: readonly string[];
  readonly pictures: number;
  readonly sheets: readonly string[];
} {
  const parts = new Map<string, string>();
  const chapters: string[] = [];
  const sheets: string[] = [];
  let pictures = 0;
  walkXml(archive.text(part) ?? "<none/>", {
    open(name, attributes) {
      const { id = "", href = "", idref = "" } = attributes;
      const type = attributes["media-type"] ?? "";
      if (name === "item" && type.startsWith("image/")) pictures += 1;
      // The table of contents repeats the headings.
      else if (name === "item" && !/\bnav\b/.test(attributes["properties"] ?? "")) {
        parts.set(id, posix.join(posix.dirname(part), decodedOf(href)));
      }
      if (type === "text/css") sheets.push(parts.get(id) ?? "");
      const chapter = name === "itemref" ? parts.get(idref) : undefined;
      if (chapter !== undefined) chapters.push(chapter);
    },
  });
  if (chapters.length === 0) throw noBook();
  return { chapters, pictures, sheets };
}

/** Decodes a name in a package, which is a URL with percent escapes. */
function decodedOf(href: string): string {
  try {
    return decodeURIComponent(href.replace(/#.*/, ""));
  } catch {
    return href;
  }
}
