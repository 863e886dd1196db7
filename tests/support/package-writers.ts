import { writeZip } from "./format-writers.ts";
import type { ZipPart } from "./format-writers.ts";

// Presentations, books and workbooks of the open format, of which a test gives the parts that matter to it.

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

const relations = (
  name: string,
  targets: readonly (readonly [type: string, target: string])[],
): ZipPart => ({
  name,
  content: `<Relationships>${targets
    .map(
      ([type, target], at) =>
        `<Relationship Id="r${at + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
    )
    .join("")}</Relationships>`,
});

export type SlideToWrite = {
  /** DrawingML of its shapes. */
  readonly shapes: string;
  readonly isHidden?: boolean;
  readonly notes?: string;
  /** Of a chart that the shapes name as r1. */
  readonly chart?: string;
};

export const shape = (placeholder: string, ...paragraphs: readonly string[]): string =>
  `<p:sp><p:nvSpPr>${placeholder === "" ? "" : `<p:ph type="${placeholder}"/>`}</p:nvSpPr><p:txBody>${paragraphs.map((words) => (words.startsWith("<") ? words : `<a:p><a:r><a:t>${words}</a:t></a:r></a:p>`)).join("")}</p:txBody></p:sp>`;

export function writePptx(slides: readonly SlideToWrite[]): Buffer {
  return writeZip([
    relations("_rels/.rels", [["officeDocument", "ppt/presentation.xml"]]),
    {
      name: "ppt/presentation.xml",
      content: `<p:presentation><p:sldIdLst>${slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="r${at + 1}"/>`).join("")}</p:sldIdLst></p:presentation>`,
    },
    relations(
      "ppt/_rels/presentation.xml.rels",
      // The order of the parts is not that of the slides.
      slides.map((_, at) => ["slide", `slides/slide${slides.length - at}.xml`] as const),
    ),
    ...slides.flatMap(({ shapes, isHidden, notes, chart }, at) => {
      const name = `slide${slides.length - at}.xml`;
      return [
        {
          name: `ppt/slides/${name}`,
          content: `<p:sld${isHidden === true ? ' show="0"' : ""}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
        },
        relations(`ppt/slides/_rels/${name}.rels`, [
          ["chart", `../charts/${name}`],
          ["notesSlide", `../notesSlides/${name}`],
          ["image", "../media/image1.png"],
        ]),
        ...(chart === undefined ? [] : [{ name: `ppt/charts/${name}`, content: chart }]),
        ...(notes === undefined
          ? []
          : [
              {
                name: `ppt/notesSlides/${name}`,
                content: `<p:notes>${shape("sldNum", "7")}${shape("body", notes)}</p:notes>`,
              },
            ]),
      ];
    }),
  ]);
}

/** @param styles automatic ones @param body below office:body @param margins of its pages */
export const writeOpenDocument = (body: string, styles = "", margins = ""): Buffer =>
  writeZip([
    {
      name: "content.xml",
      content: `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    },
    {
      name: "styles.xml",
      content: `<office:document-styles>${margins}</office:document-styles>`,
    },
  ]);

/** @param chapters XHTML of the body of each, in the order of reading */
export const writeEpub = (
  title: string,
  chapters: readonly string[],
  more: readonly ZipPart[] = [],
): Buffer =>
  writeZip([
    { name: "mimetype", content: "application/epub+zip" },
    {
      name: "META-INF/container.xml",
      content: '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    },
    {
      name: "OPS/book.opf",
      content: `<package><metadata><dc:title>${title}</dc:title><dc:creator>Ada Roe</dc:creator></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"/><item id="cover" href="c.jpg" media-type="image/jpeg"/>${chapters
        .map((_, at) => `<item id="c${at}" href="text/chapter%20${chapters.length - at}.xhtml"/>`)
        .join(
          "",
        )}<item id="css" href="a.css" media-type="text/css"/></manifest><spine><itemref idref="nav"/>${chapters.map((_, at) => `<itemref idref="c${at}"/>`).join("")}</spine></package>`,
    },
    { name: "OPS/nav.xhtml", content: "<html><body><p>Contents</p></body></html>" },
    ...chapters.map((body, at) => ({
      name: `OPS/text/chapter ${chapters.length - at}.xhtml`,
      content: `<?xml version="1.0"?><!DOCTYPE html><html><head><title>x</title></head><body>${body}</body></html>`,
    })),
    ...more,
  ]);
