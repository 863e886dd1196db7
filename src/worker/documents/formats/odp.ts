import { openArchive } from "../reader/archive.ts";
import { openTextBuilder, tooMany } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlVisitor } from "../reader/walk-xml.ts";
import type { Extraction } from "../extraction.ts";
import { openFlowWriter } from "./flow-writer.ts";
import { countLeftOut } from "../left-out.ts";
import { BOXES, contentOf, contentVisitor } from "./odt.ts";
import type { OdtWork } from "./odt.ts";
import { readOdtStyles } from "./odt-styles.ts";
import { readProperties } from "./office-properties.ts";

/** Presentations of LibreOffice and others: a page a slide, its title as a heading, and the notes of the speaker. */
export function readOdp(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const content = contentOf(archive, "presentation", ".odp");
  const builder = openTextBuilder(limits);
  const writer = openFlowWriter(builder);
  const counts = { pages: 0 };
  const leftOut = countLeftOut();
  const styles = readOdtStyles([archive.text("styles.xml") ?? "<none/>", content]);
  const textOf = (part: string): string | undefined => archive.text(part);
  const work: OdtWork = { writer, styles, leftOut, textOf };
  walkXml(content, slidesVisitor({ builder, work, counts, limits, titled: titlesOf(content) }));
  writer.finish();
  const metadata = { ...readProperties(archive, "meta.xml"), pages: counts.pages };
  return { ...builder.finish(metadata), ...leftOut.finish() };
}

type Slides = {
  readonly builder: TextBuilder;
  readonly work: OdtWork;
  readonly counts: { pages: number };
  readonly limits: TextLimits;
  /** Of each slide whether it has a title. */
  readonly titled: readonly boolean[];
};

/** Whether a title has words is told before its slide is read, by what the program says of its frame. */
const titlesOf = (content: string): readonly boolean[] =>
  content
    .split(/<draw:page[\s>]/)
    .slice(1)
    .map((slide) =>
      Array.from((slide.split("<presentation:notes")[0] ?? "").matchAll(/<draw:frame[^>]*>/g)).some(
        ([frame]) => frame.includes('class="title"') && !frame.includes('placeholder="true"'),
      ),
    );

/** What stands on every page, beside its own words. */
const REPEATED = new Set(["page-number", "date-time", "footer", "header", "page"]);

/** Slides as a text document has them: titles as its headings, numbered items with their numbers. */
function slidesVisitor({ builder, work, counts, limits, titled }: Slides): XmlVisitor {
  const inner = contentVisitor(work, "text");
  /** Those that are open, and whether what they hold is read. */
  const frames: { kind: string; isRead: boolean }[] = [];
  const { writer } = work;
  let isBody = false;
  let unread = 0;
  let label = "";
  const openPage = (): void => {
    counts.pages += 1;
    if (counts.pages > limits.pages) throw tooMany("slides", limits.pages, "max_pages");
    builder.place({ page: counts.pages });
    if (titled[counts.pages - 1] === true) return;
    writer.add(`Slide ${counts.pages}`);
    writer.endParagraph({ kind: "heading", level: 1 });
  };
  const elementOf = (name: string): string => {
    if (name === "p" && frames.at(-1)?.kind === "title") return "h";
    // On a slide each box stands where it is, and beside no paragraph.
    if (BOXES.has(name) || name === "image") return "box";
    return name === "covered-table-cell" ? "table-cell" : name;
  };
  return {
    open(name, attributes) {
      if (name === "presentation" && !isBody) {
        isBody = true;
        inner.open("text", {});
      }
      if (!isBody) return;
      const frame = frames.at(-1);
      if (name === "page") openPage();
      else if (name === "frame" || name === "custom-shape") {
        frames.push({ kind: attributes["class"] ?? "", isRead: false });
        if (REPEATED.has(attributes["class"] ?? "")) unread += 1;
      } else if (name === "notes") label = "Notes: ";
      // Beside a table and an object stands a picture of it.
      else if (frame !== undefined && (name === "table" || name === "object")) frame.isRead = true;
      else if (name === "image" && frame?.isRead === false) work.leftOut.add("pictures");
      if (name === "object") work.leftOut.add("charts and objects");
      if (unread > 0) return;
      inner.open(elementOf(name), attributes);
    },
    text(text) {
      if (!isBody || unread > 0) return;
      if (label !== "" && text.trim() !== "") {
        writer.add(label);
        label = "";
      }
      inner.text?.(text);
    },
    close(name) {
      if (!isBody) return;
      if (unread === 0) inner.close?.(elementOf(name));
      if (name === "notes") label = "";
      if (name !== "frame" && name !== "custom-shape") return;
      if (REPEATED.has(frames.pop()?.kind ?? "")) unread -= 1;
    },
  };
}
