import { describe, expect, test } from "@jest/globals";
import { NO_PLACES, locate } from "../../../src/worker/documents/places.ts";
import type { Extraction } from "../../../src/worker/documents/extraction.ts";
import { withReadPages } from "../../../src/worker/ocr/with-read-pages.ts";
import type { StoredPage } from "../../../src/worker/ocr/with-read-pages.ts";
import type { FigureReading, PageRecord } from "../../../src/shared/pages/page-record.ts";

type Word = readonly [text: string, figure?: FigureReading];

const pageOf = (
  lines: readonly (readonly Word[])[],
  more: Partial<PageRecord> = {},
): StoredPage => ({
  kind: "read",
  record: {
    picture: { format: "pdf", width: 1_000, height: 1_000 },
    turned: 0,
    skew: 0,
    engine: "test",
    languages: ["eng"],
    mode: 3,
    leftInk: 0,
    confidence: 90,
    lines: lines.map((words) => ({
      words: words.map(([text, figure]) => ({
        text,
        box: [0, 0, 10, 10],
        confidence: 90,
        ...(figure === undefined ? {} : { figure }),
      })),
    })),
    ...more,
  },
});

const SCAN: Extraction = {
  kind: "unreadable",
  code: "NO_TEXT_LAYER",
  why: "is a scan.",
  lasts: "always",
  pictured: [1, 2],
};
const MIXED: Extraction = {
  kind: "text",
  text: "Printed.\n\n\f\n\n\n\n\f\n\nPrinted too.",
  places: NO_PLACES,
  metadata: { title: "Minutes", pages_without_text: ["2"] },
  leftOut: { pictures: 1, "pages that are pictures": 1 },
  pictured: [2],
};
const LETTER = pageOf([[["Fee"], ["71.73", "doubtful"], ["EUR"]]]);

const readWith = (extracted: Extraction, known: Record<number, StoredPage>, chars = 10_000) =>
  withReadPages(extracted, Buffer.from("bytes"), {
    pages: {
      settings: "0123abcd",
      of: async () => new Map(Object.entries(known).map(([page, read]) => [Number(page), read])),
    },
    limits: { chars },
  });

describe("a file with pictures of pages", () => {
  test("has no text before each of them was read or given up, and says how many were", async () => {
    await expect(readWith(SCAN, { 1: LETTER })).resolves.toMatchObject({
      kind: "unreadable",
      code: "PAGES_UNREAD",
      why: "has 2 pages that are pictures, and 1 was read so far: run nightdesk index --ocr.",
    });
  });

  test("counts the blank pages behind the last picture", async () => {
    const read = await readWith({ ...SCAN, pages: 4 }, { 1: LETTER, 2: LETTER });
    expect(read).toMatchObject({ kind: "text", metadata: { pages: 4, pages_read: ["1", "2"] } });
  });

  test("has then their words, page by page, with a mark behind what was not read for sure", async () => {
    const second = pageOf([[["Total"], ["240", "two"]], [["7", "one"]]]);
    const read = await readWith(SCAN, { 1: LETTER, 2: second });
    expect(read).toMatchObject({
      kind: "text",
      text: "Fee 71.73⸮ EUR\n\n\f\n\nTotal 240\n7⸮",
      readWith: "0123abcd",
      metadata: { pages: 2, pages_read: ["1", "2"] },
    });
    if (read.kind !== "text") throw new Error("no text");
    expect(locate(read.places, read.text.indexOf("Total"))).toEqual({ page: 2 });
  });

  test("keeps its printed pages, and has their text until its pictures are read", async () => {
    await expect(readWith(MIXED, {})).resolves.toEqual(MIXED);
    const read = await readWith(MIXED, { 2: LETTER });
    expect(read).toMatchObject({
      text: "Printed.\n\n\f\n\nFee 71.73⸮ EUR\n\n\f\n\nPrinted too.",
      metadata: { title: "Minutes" },
    });
    expect(read).not.toHaveProperty("leftOut");
    expect(read).not.toHaveProperty("metadata.pages_without_text");
  });

  test("says which of its pages could not be read, or not whole", async () => {
    const given: StoredPage = { kind: "unreadable", why: "has a picture that is no picture." };
    const lost = pageOf([[["Fee"]]], { leftInk: 0.2 });
    await expect(readWith(SCAN, { 1: given, 2: lost })).resolves.toMatchObject({
      leftOut: { "pages that can't be read": 1, "pages of which words are missing": 1 },
      metadata: { pages: 2, pages_read: ["2"] },
    });
    const mixed = await readWith(MIXED, { 2: given });
    expect(mixed).toMatchObject({ metadata: { pages_without_text: ["2"] } });
    expect(mixed).not.toHaveProperty("metadata.pages_read");
    await expect(readWith(SCAN, { 1: given, 2: given })).resolves.toMatchObject({
      code: "FILE_FORMAT_INVALID",
      why: given.why,
    });
    const blank = pageOf([]);
    await expect(readWith(SCAN, { 1: blank, 2: blank })).resolves.toMatchObject({
      code: "FILE_EMPTY",
    });
  });

  test("keeps the text that lies on a picture, with marks where a fifth of its figures are others", async () => {
    const layer = { 1: "In all 10 | 20 | 30 | 40 of §", 2: "No. 10 and 20, 30 and 40." };
    const extracted: Extraction = {
      kind: "text",
      text: `${layer[1]}\n\n\f\n\n${layer[2]}`,
      places: NO_PLACES,
      metadata: { pages_over_pictures: ["1", "2"] },
      pictured: [],
      layered: [1, 2],
    };
    const figures = (...texts: readonly string[]) => pageOf([texts.map((text): Word => [text])]);
    await expect(readWith(extracted, { 1: figures("10") })).resolves.toEqual(extracted);
    const right = figures("10", "20%", "(30", "40", "7");
    await expect(
      readWith(extracted, { 1: right, 2: figures("10", "20,", "30", "46.") }),
    ).resolves.toMatchObject({
      text: `${layer[1]}\n\n\f\n\nNo. 10⸮ and 20,⸮ 30⸮ and 40.⸮`,
      metadata: { pages: 2, pages_checked: ["1", "2"], pages_in_doubt: ["2"] },
      readWith: "0123abcd",
    });
    // A reading that lost most of the figures says nothing of them.
    const lost = await readWith(extracted, { 1: figures("10"), 2: right });
    expect(lost).toMatchObject({
      text: extracted.text,
      metadata: { pages_checked: ["2"], pages_over_pictures: ["1"] },
    });
    expect(lost).not.toHaveProperty("metadata.pages_in_doubt");
  });

  test("is marked in time, however long a word without a figure is that somebody put below a picture", async () => {
    const long = "a".repeat(100_000);
    const text = `${long} 10`;
    const extracted: Extraction = { kind: "text", text, places: NO_PLACES, layered: [1] };
    const before = process.cpuUsage();
    await expect(readWith(extracted, { 1: pageOf([[["12"]]]) }, 1_000_000)).resolves.toMatchObject({
      text: `${long} 10⸮`,
    });
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test("is cut off by the limit of texts, as any file is", async () => {
    await expect(readWith(SCAN, { 1: LETTER, 2: LETTER }, 20)).rejects.toThrow(/more than 20/);
  });

  test("sets cells apart, and paragraphs", async () => {
    const wordsOf = (...texts: readonly string[]) =>
      texts.map((text) => ({ text, box: [0, 0, 9, 9], confidence: 90 }) as const);
    const lines = [
      { words: wordsOf("Blue", "paint", "12.00"), cells: [2] },
      { words: wordsOf("Signed"), opens: true },
    ] as const;
    await expect(
      readWith({ ...SCAN, pictured: [1] }, { 1: pageOf([], { lines }) }),
    ).resolves.toMatchObject({ text: "Blue paint | 12.00\n\nSigned" });
  });
});
