import { NO_FRONTMATTER } from "../frontmatter.ts";
import { openArchive } from "../reader/archive.ts";
import { inChild } from "../reader/reader.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlVisitor } from "../reader/walk-xml.ts";
import { openFlowWriter } from "./flow-writer.ts";
import type { FlowWriter, ParagraphKind } from "./flow-writer.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { MARKDOWN } from "./markdown.ts";
import { readProperties } from "./office-properties.ts";

/** Text documents of LibreOffice and others. */
export const ODT: Format = {
  name: "odt",
  extensions: [".odt"],
  extractor: inChild("odt 1", { home: import.meta.url, name: "readOdt" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

export function readOdt(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  if (archive.text("META-INF/manifest.xml")?.includes("encryption-data") === true) {
    throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
  }
  const content = archive.text("content.xml");
  if (content === undefined) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no text document: save it as .odt with the program that made it.",
    );
  }
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  walkXml(content, contentVisitor(writer));
  writer.finish();
  return builder.finish(readProperties(archive, "meta.xml"));
}

/** What a note says beside its words: its number stands in the text, its maker and day are not of it. */
const UNREAD = new Set(["note-citation", "creator", "date", "tracked-changes", "sequence-decls"]);
const MOST_BLANKS = 100;
/** Of equal cells that are written once. */
const MOST_REPEATS = 50;

function contentVisitor(writer: FlowWriter): XmlVisitor {
  const kinds: ParagraphKind[] = [];
  let lists = 0;
  let unread = 0;
  let isBody = false;
  let notes = 0;
  let comments = 0;
  const repeats: number[] = [];
  return {
    open(name, attributes) {
      if (name === "text" && !isBody) isBody = true;
      if (UNREAD.has(name)) unread += 1;
      if (unread > 0 || !isBody) return;
      if (name === "h") {
        kinds.push({ kind: "heading", level: Number(attributes["outline-level"] ?? 1) || 1 });
      } else if (name === "p") {
        kinds.push(lists > 0 ? { kind: "item", depth: lists - 1 } : { kind: "plain" });
      } else if (name === "list") lists += 1;
      else if (name === "tab") writer.add(" ");
      else if (name === "line-break") writer.add("\n");
      else if (name === "s") {
        writer.add(" ".repeat(Math.min(MOST_BLANKS, Number(attributes["c"] ?? 1) || 1)));
      } else if (name === "table") writer.openTable();
      else if (name === "table-row") writer.openRow();
      else if (name === "table-cell") {
        repeats.push(Number(attributes["number-columns-repeated"] ?? 1) || 1);
        writer.openCell();
      } else if (name === "note") {
        notes += 1;
        writer.add(`[^${notes}]`);
        writer.openNote(`[^${notes}]`);
      } else if (name === "annotation") {
        comments += 1;
        writer.add(`[comment ${comments}]`);
        writer.openNote(`[comment ${comments}]`);
      }
    },
    text(text) {
      if (unread === 0 && kinds.length > 0) writer.add(text.replaceAll(/\s+/g, " "));
    },
    close(name) {
      if (UNREAD.has(name)) {
        unread -= 1;
        return;
      }
      if (unread > 0 || !isBody) return;
      if (name === "h" || name === "p") writer.endParagraph(kinds.pop() ?? { kind: "plain" });
      else if (name === "list") lists -= 1;
      else if (name === "table-cell") {
        writer.closeCell();
        for (let more = Math.min(MOST_REPEATS, repeats.pop() ?? 1); more > 1; more -= 1) {
          writer.openCell();
          writer.closeCell();
        }
      } else if (name === "table") writer.closeTable();
      else if (name === "note" || name === "annotation") writer.closeNote();
    },
  };
}
