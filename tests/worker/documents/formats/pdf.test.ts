import { describe, expect, test } from "@jest/globals";
import { chunkText } from "../../../../src/worker/documents/chunk-text.ts";
import { readPdf } from "../../../../src/worker/documents/formats/pdf.ts";
import { formatOf } from "../../../../src/worker/documents/formats/registry.ts";
import { extractText } from "../../../support/read-documents.ts";
import { writeObjects, writePdf } from "../../../support/format-writers.ts";
import type { Drawn } from "../../../support/format-writers.ts";

const read = (bytes: Buffer) => extractText("a.pdf", bytes);
const textOf = async (pages: readonly (readonly Drawn[])[]): Promise<string> => {
  const found = await read(writePdf(pages));
  if (found.kind !== "text") throw new Error(found.why);
  return found.text;
};

test("the reader is there to be found by its name", () => {
  expect(readPdf).toBeInstanceOf(Function);
});

describe("pages", () => {
  test("keep their lines, and each passage its page", async () => {
    const found = await read(
      writePdf(
        [
          [
            [50, 800, "Hafenordnung"],
            [50, 760, "Das Becken schließt um 22 Uhr."],
            [50, 748, "Hunde bleiben draußen."],
          ],
          [[50, 800, "Die Gebühr beträgt 12 €."]],
        ],
        "Hafen",
      ),
    );
    if (found.kind !== "text") throw new Error(found.why);
    expect(found.text).toBe(
      "Hafenordnung\n\nDas Becken schließt um 22 Uhr.\nHunde bleiben draußen.\n\n\f\n\nDie Gebühr beträgt 12 €.",
    );
    expect(found.metadata).toEqual({ title: "Hafen", created: "2026-01-05", pages: 2 });
    const { chunks } = chunkText(
      found.text,
      { format: formatOf("a.pdf", found.text), firstLine: 0, places: found.places },
      { maxChars: 1_000, overlap: 100 },
    );
    expect(chunks.map(({ locator, text }) => [locator, text.slice(0, 10)])).toEqual([
      [{ page: 1 }, "Hafenordnu"],
      [{ page: 2 }, "Die Gebühr"],
    ]);
  });

  test("in two columns are read one after the other, though they were drawn line by line", async () => {
    const words = "words of this column that go on to its end";
    const rows = Array.from({ length: 8 }, (_, at): Drawn[] => [
      [50, 700 - at * 12, `L${at} ${words}`],
      [320, 700 - at * 12, `R${at} ${words}`],
    ]);
    const text = await textOf([
      [
        [
          50,
          760,
          "A heading that goes over the whole of the page and both of its columns, to its very end",
        ],
        ...rows.flat(),
      ],
    ]);
    const order = [...text.matchAll(/[LR]\d/g)].map(([name]) => name);
    expect(order).toEqual(
      [..."01234567"].map((at) => `L${at}`).concat([..."01234567"].map((at) => `R${at}`)),
    );
  });

  test("with a table keep its rows, cells set apart", async () => {
    const rows = ["Zone A", "Zone B", "Zone C", "Zone D", "Zone E", "Zone F"].flatMap(
      (zone, at): Drawn[] => [
        [50, 700 - at * 14, zone],
        [320, 700 - at * 14, `${at + 1},50`],
      ],
    );
    expect((await textOf([rows])).split("\n")[1]).toBe("Zone B | 2,50");
  });

  test("without text are a scan; a few of them are named", async () => {
    expect(await read(writePdf([[], []]))).toMatchObject({
      kind: "unreadable",
      code: "NO_TEXT_LAYER",
    });
    expect(await read(writePdf([[[50, 800, "words"]], []]))).toMatchObject({
      metadata: { pages: 2, pages_without_text: ["2"] },
    });
  });
});

describe("what is no readable PDF", () => {
  const whole = writePdf([[[50, 800, "words"]]]);

  test("is refused with the code of what is wrong with it", async () => {
    expect(await read(Buffer.from("%PDF-1.4 and nothing else"))).toMatchObject({
      code: "FILE_FORMAT_INVALID",
    });
    const encrypted = writeObjects(
      [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 0 /Kids [] >>",
        `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> >>`,
      ],
      `/Encrypt 3 0 R /ID [<${"00".repeat(16)}> <${"00".repeat(16)}>]`,
    );
    expect(await read(encrypted)).toMatchObject({ code: "FILE_ENCRYPTED" });
  });

  test("such as pages in a circle ends, and the next file is read", async () => {
    const circle = writeObjects(
      [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>",
      ],
      "",
    );
    expect(await read(circle)).toMatchObject({ kind: "unreadable" });
    expect(await read(whole)).toMatchObject({ kind: "text" });
  });
});
