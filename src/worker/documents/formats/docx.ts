import { NO_FRONTMATTER } from "../frontmatter.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { inChild } from "../reader/reader.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";
import { openFlowWriter } from "./flow-writer.ts";
import type { FlowWriter, ParagraphKind } from "./flow-writer.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { MARKDOWN } from "./markdown.ts";
import { readProperties } from "./office-properties.ts";

/** Documents of Word and of what writes as it does. */
export const DOCX: Format = {
  name: "docx",
  extensions: [".docx", ".docm"],
  extractor: inChild("docx 1", { home: import.meta.url, name: "readDocx" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (...text) => MARKDOWN.cut(...text),
};

/** Insertions and deletions that nobody has accepted yet are marked as CriticMarkup marks them: `{++ ++}`, `{-- --}`. */
export function readDocx(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const document = archive.text("word/document.xml");
  if (document === undefined) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no text document: save it as .docx with the program that made it.",
    );
  }
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  const levels = readHeadingLevels(archive.text("word/styles.xml") ?? "<none/>");
  const changes = { insertions: 0, deletions: 0 };
  walkXml(document, bodyVisitor(writer, levels, changes));
  addNotes(archive, writer, levels);
  writer.finish();
  return builder.finish({
    ...readProperties(archive, "docProps/core.xml"),
    ...(changes.insertions === 0 ? {} : { insertions: changes.insertions }),
    ...(changes.deletions === 0 ? {} : { deletions: changes.deletions }),
  });
}

/** Footnotes, endnotes and comments: each names the mark that stands in the text. */
const NOTE_PARTS = [
  { part: "word/footnotes.xml", element: "footnote", nameOf: (id: string) => `[^${id}]` },
  { part: "word/endnotes.xml", element: "endnote", nameOf: (id: string) => `[^e${id}]` },
  { part: "word/comments.xml", element: "comment", nameOf: (id: string) => `[comment ${id}]` },
] as const;

function addNotes(archive: Archive, writer: FlowWriter, levels: ReadonlyMap<string, number>): void {
  for (const { part, element, nameOf } of NOTE_PARTS) {
    const xml = archive.text(part);
    if (xml === undefined) continue;
    const inner = bodyVisitor(writer, levels, { insertions: 0, deletions: 0 });
    let isOpen = false;
    walkXml(xml, {
      open(name, attributes) {
        // Those with a type are the lines between text and notes.
        if (name === element && attributes["type"] === undefined) {
          const by = attributes["author"];
          writer.openNote(`${nameOf(attributes["id"] ?? "")}${by === undefined ? "" : ` ${by}`}`);
          isOpen = true;
        } else if (isOpen) inner.open(name, attributes);
      },
      text(text) {
        if (isOpen) inner.text?.(text);
      },
      close(name) {
        if (name === element && isOpen) {
          writer.closeNote();
          isOpen = false;
        } else if (isOpen) inner.close?.(name);
      },
    });
  }
}

type Paragraph = { kind: ParagraphKind };
type Changes = { insertions: number; deletions: number };

const PLAIN_PARAGRAPH: ParagraphKind = { kind: "plain" };

function bodyVisitor(
  writer: FlowWriter,
  levels: ReadonlyMap<string, number>,
  changes: Changes,
): XmlVisitor {
  const paragraphs: Paragraph[] = [];
  let inText = false;
  /** What stands there a second time, for programs that don't know the first. */
  let repeated = 0;
  const opened: Readonly<Record<string, (attributes: XmlAttributes) => void>> = {
    p: () => void paragraphs.push({ kind: PLAIN_PARAGRAPH }),
    pStyle: ({ val = "" }) => {
      setKind(paragraphs, headingOf(levels.get(val)));
    },
    outlineLvl: ({ val = "" }) => {
      setKind(paragraphs, headingOf(Number(val) + 1));
    },
    numPr: () => {
      if (paragraphs.at(-1)?.kind.kind === "plain") setKind(paragraphs, { kind: "item", depth: 0 });
    },
    ilvl: ({ val = "" }) => {
      if (paragraphs.at(-1)?.kind.kind === "item")
        setKind(paragraphs, { kind: "item", depth: Number(val) || 0 });
    },
    tab: () => {
      writer.add(" ");
    },
    br: () => {
      writer.add("\n");
    },
    noBreakHyphen: () => {
      writer.add("-");
    },
    footnoteReference: ({ id = "" }) => {
      writer.add(`[^${id}]`);
    },
    endnoteReference: ({ id = "" }) => {
      writer.add(`[^e${id}]`);
    },
    commentReference: ({ id = "" }) => {
      writer.add(`[comment ${id}]`);
    },
    tbl: () => {
      writer.openTable();
    },
    tr: () => {
      writer.openRow();
    },
    tc: () => {
      writer.openCell();
    },
  };
  const closed: Readonly<Record<string, () => void>> = {
    p: () => {
      writer.endParagraph(paragraphs.pop()?.kind ?? PLAIN_PARAGRAPH);
    },
    tc: () => {
      writer.closeCell();
    },
    tbl: () => {
      writer.closeTable();
    },
  };
  // Inside of properties the same names say that a mark of a paragraph or a row was changed, and hold nothing.
  const isMark = new Map([
    ["ins", "{++"],
    ["moveTo", "{++"],
    ["del", "{--"],
    ["moveFrom", "{--"],
  ]);
  let properties = 0;
  return {
    open(name, attributes) {
      if (name === "Fallback") repeated += 1;
      if (repeated > 0) return;
      if (name === "rPr" || name === "pPr" || name === "trPr") properties += 1;
      const mark = isMark.get(name);
      if (mark !== undefined && properties === 0) {
        writer.add(mark);
        changes[mark === "{++" ? "insertions" : "deletions"] += 1;
      }
      inText = name === "t" || name === "delText";
      // A tab among properties is where one stops.
      if (name !== "tab" || properties === 0) opened[name]?.(attributes);
    },
    text(text) {
      if (inText && repeated === 0) writer.add(text);
    },
    close(name) {
      if (name === "Fallback") repeated -= 1;
      else if (repeated === 0) {
        if (name === "rPr" || name === "pPr" || name === "trPr") properties -= 1;
        const mark = isMark.get(name);
        if (mark !== undefined && properties === 0) writer.add(mark === "{++" ? "++}" : "--}");
        closed[name]?.();
      }
      inText = false;
    },
  };
}

function setKind(paragraphs: readonly Paragraph[], kind: ParagraphKind | undefined): void {
  const paragraph = paragraphs.at(-1);
  if (paragraph !== undefined && kind !== undefined) paragraph.kind = kind;
}

const DEEPEST = 9;

const headingOf = (level: number | undefined): ParagraphKind | undefined =>
  level === undefined || !(level >= 1 && level <= DEEPEST) ? undefined : { kind: "heading", level };

type Style = { id: string; level: number | undefined; basedOn: string | undefined };

/** Levels of styles by their outline, or their English name, whatever the language of the program calls them; a style has that of the one below it. */
function readHeadingLevels(xml: string): Map<string, number> {
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  walkXml(xml, {
    open(name, { styleId = "", val = "" }) {
      if (name === "style") {
        style = { id: styleId, level: undefined, basedOn: undefined };
        styles.set(styleId, style);
      }
      if (style === undefined) return;
      if (name === "name")
        style.level ??= Number(/^heading ([1-9])$/i.exec(val)?.[1] ?? NaN) || undefined;
      if (name === "name" && /^title$/i.test(val)) style.level = 1;
      if (name === "outlineLvl") style.level = Number(val) + 1;
      if (name === "basedOn") style.basedOn = val;
    },
    close(name) {
      if (name === "style") style = undefined;
    },
  });
  const levels = new Map<string, number>();
  for (const { id } of styles.values()) {
    const level = levelOf(styles, id);
    if (level !== undefined) levels.set(id, level);
  }
  return levels;
}

/** Styles that rest on each other in a circle, or on very many, have none. */
const MOST_BASES = 20;

function levelOf(styles: ReadonlyMap<string, Style>, id: string): number | undefined {
  let style = styles.get(id);
  for (let step = 0; step < MOST_BASES && style !== undefined; step += 1) {
    if (style.level !== undefined) return style.level;
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return undefined;
}
