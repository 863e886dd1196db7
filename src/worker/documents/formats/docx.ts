import { posix } from "node:path";
import { htmlText } from "../../web/html-text.ts";
import { countLeftOut } from "../left-out.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import { docxVisitor } from "./docx-body.ts";
import type { AddReferred, DocxWork } from "./docx-body.ts";
import { readNumbering } from "./docx-numbering.ts";
import { isOn, readStyles } from "./docx-styles.ts";
import { addTable, openFlowWriter } from "./flow-writer.ts";
import type { Extraction } from "../extraction.ts";
import { readChart } from "./office-chart.ts";
import { mainPart, relationsOf, targetOf } from "./office-package.ts";
import type { Relation } from "./office-package.ts";
import { readProperties } from "./office-properties.ts";

/** Reads tracked changes as if they were accepted, and counts them in the metadata. */
export function readDocx(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const main = mainPart(archive, "word/document.xml");
  const document = /\.bin$|workbook|presentation/i.test(main) ? undefined : archive.text(main);
  if (document === undefined) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no text document: save it as .docx with the program that made it.",
    );
  }
  const builder = openTextBuilder(limits);
  const leftOut = countLeftOut();
  const relations = withUsualParts(relationsOf(archive, main), main);
  const work = openWork(archive, relations, { writer: openFlowWriter(builder), leftOut });
  walkXml(document, docxVisitor(work, referredBy(archive, relations, work)));
  for (const notes of NOTE_PARTS) addNotes(archive, relations, work, notes);
  addMargins(archive, relations, work);
  work.writer.finish();
  const { insertions, deletions } = work.changes;
  const metadata = {
    ...readProperties(
      archive,
      targetOf(relationsOf(archive, ""), "core-properties") ?? "docProps/core.xml",
    ),
    ...(insertions === 0 ? {} : { insertions }),
    ...(deletions === 0 ? {} : { deletions }),
  };
  return { ...builder.finish(metadata), ...leftOut.finish() };
}

/** Adds the usual places of parts, for programs that write no relations. */
const withUsualParts = (relations: readonly Relation[], main: string): readonly Relation[] => [
  ...relations,
  ...["styles", "numbering", "footnotes", "endnotes", "comments"].map((type) => ({
    id: "",
    type,
    target: posix.join(posix.dirname(main), `${type}.xml`),
  })),
];

function openWork(
  archive: Archive,
  relations: readonly Relation[],
  outside: Pick<DocxWork, "writer" | "leftOut">,
): DocxWork {
  const partOf = (type: string): string =>
    archive.text(targetOf(relations, type) ?? "") ?? "<none/>";
  const styleOf = readStyles(partOf("styles"));
  return {
    ...outside,
    styleOf,
    numberOf: numberNotes(),
    numbering: readNumbering(partOf("numbering"), (style) => styleOf(style).list),
    changes: { insertions: 0, deletions: 0 },
  };
}

/**
 * Numbers footnotes and endnotes as Word shows them: in the order of their marks, but for notes with a mark of their own.
 * Comments keep their ids.
 */
function numberNotes(): DocxWork["numberOf"] {
  const numbers = new Map<string, string>();
  const last = new Map<string, number>();
  return (element, { id = "", customMarkFollows = "0" }) => {
    if (element === "comment") return id;
    const note = `${element} ${id}`;
    const known = numbers.get(note);
    if (known !== undefined) return known;
    const custom = isOn(customMarkFollows) ? "c" : "";
    const next = (last.get(custom + element) ?? 0) + 1;
    last.set(custom + element, next);
    numbers.set(note, `${custom}${next}`);
    return `${custom}${next}`;
  };
}

/** Writes a referred part where its reference stands. */
const referredBy =
  (archive: Archive, relations: readonly Relation[], { writer, leftOut }: DocxWork): AddReferred =>
  (kind, id) => {
    const part = relations.find((relation) => relation.id === id)?.target;
    const xml = part === undefined ? undefined : archive.text(part);
    if (xml === undefined) return;
    writer.openBox();
    if (kind === "chart") {
      const { title, rows } = readChart(xml);
      writer.add(title);
      writer.endParagraph({ kind: "plain" });
      addTable(writer, rows);
    } else if (kind === "diagram") addDiagram(xml, writer);
    else if (/^\s*<(?:!doctype html|html)/i.test(xml)) {
      const page = htmlText({ html: xml, url: "about:blank", beside: "kept" });
      writer.add(page.kind === "text" ? page.text : "");
      writer.endParagraph({ kind: "plain" });
    } else leftOut.add("embedded documents");
    writer.closeBox();
  };

/** Adds the words of a diagram, one paragraph per shape. */
function addDiagram(xml: string, writer: DocxWork["writer"]): void {
  let inText = false;
  walkXml(xml, {
    open(name) {
      inText = name === "t";
    },
    text(text) {
      if (inText) writer.add(text);
    },
    close(name) {
      inText = false;
      if (name === "p") writer.endParagraph({ kind: "plain" });
    },
  });
}

type NotePart = {
  readonly type: string;
  readonly element: string;
  readonly nameOf: (number: string) => string;
};

/** Footnotes, endnotes and comments; each note is named by its mark in the text. */
const NOTE_PARTS: readonly NotePart[] = [
  { type: "footnotes", element: "footnote", nameOf: (number) => `[^${number}]` },
  { type: "endnotes", element: "endnote", nameOf: (number) => `[^e${number}]` },
  { type: "comments", element: "comment", nameOf: (id) => `[comment ${id}]` },
];

function addNotes(
  archive: Archive,
  relations: readonly Relation[],
  work: DocxWork,
  { type, element, nameOf }: NotePart,
): void {
  const part = targetOf(relations, type);
  const xml = part === undefined ? undefined : archive.text(part);
  if (part === undefined || xml === undefined) return;
  const { writer } = work;
  const inner = docxVisitor(work, referredBy(archive, relationsOf(archive, part), work));
  let isOpen = false;
  walkXml(xml, {
    open(name, attributes) {
      // A note with a type is only the line between text and notes.
      const { type: kind = "normal", author: by } = attributes;
      if (name === element && kind === "normal") {
        const number = work.numberOf(element, attributes);
        writer.openNote(`${nameOf(number)}${by === undefined ? "" : ` ${by}`}`);
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

/** Adds the headers and footers, equal ones only once. */
function addMargins(archive: Archive, relations: readonly Relation[], work: DocxWork): void {
  const seen = new Set<string>();
  for (const type of ["header", "footer"]) {
    for (const { target } of relations.filter((relation) => relation.type === type)) {
      const xml = archive.text(target);
      if (xml === undefined || seen.has(xml)) continue;
      seen.add(xml);
      const inner = docxVisitor(work, referredBy(archive, relationsOf(archive, target), work));
      work.writer.openNote(`[${type}]`);
      walkXml(xml, inner);
      work.writer.closeNote();
    }
  }
}
