import { describe, expect, test } from "@jest/globals";
import {
  box,
  field,
  note,
  picture,
  put,
  putMapped,
  putUnmapped,
  widthOf,
  writePages,
} from "../../../support/pdf-pages.ts";
import { linesOf } from "../../../../src/worker/documents/formats/pdf-lines.ts";
import { extractText } from "../../../support/read-documents.ts";

const read = (content: string, more: Parameters<typeof writePages>[1] = {}) =>
  extractText("a.pdf", writePages([{ content }], more));

async function textOf(content: string, letters: readonly string[] = []): Promise<string> {
  const found = await read(content, { letters });
  if (found.kind !== "text") throw new Error(found.why);
  return found.text;
}

describe("words of a page", () => {
  test("that are turned, or placed one by one, stand in their lines", async () => {
    const words = ["Crane", "hire", "was", "4,310", "euros"];
    let at = 60;
    const content = words
      .map((word) => {
        const drawn = put(100, at, word, { turn: 90 });
        at += widthOf(word) + 2.8;
        return drawn;
      })
      .join("");
    expect(await textOf(put(88, 60, "Site report", { turn: 90 }) + content)).toBe(
      "Site report\nCrane hire was 4,310 euros",
    );
  });

  test("that a hyphen parts at the end of a line stand whole", async () => {
    const lines = [
      "a notice pe-",
      "riod of eleven weeks, wind-",
      "and waterproof, and",
      "more and well-",
      "known, as a well-known",
    ];
    const content = lines.map((line, at) => put(60, 700 - at * 12, line)).join("");
    expect(await textOf(content)).toBe(
      "a notice period\nof eleven weeks, wind-\nand waterproof, and\nmore and well-known,\nas a well-known",
    );
  });

  test("that are spaced wide, or drawn twice to look bold, are there once and whole", async () => {
    const content =
      put(60, 700, "TOTAL AMOUNT", { spacing: 4 }) +
      put(60, 680, "Amount due: 2,415.60 EUR") +
      put(60.35, 680, "Amount due: 2,415.60 EUR");
    expect(await textOf(content)).toBe("TOTAL AMOUNT\n\nAmount due: 2,415.60 EUR");
  });

  test("have the letters of ligatures and of wide forms", async () => {
    expect(await textOf(putMapped(60, 700, "ABCD"), ["\ufb01", "n", "\uff11", "\uff21"])).toBe(
      "fin1A",
    );
  });

  test("have the accent that stands where they end", () => {
    const glyph = (text: string, x: number, end: number) => ({
      text,
      x,
      end,
      y: 0,
      size: 10,
      opens: false,
    });
    const glyphs = [glyph("ο", 0, 5), glyph("\u0301", 5.00004, 5.00004), glyph("γ", 5.00004, 10)];
    expect(linesOf(glyphs, [])[0]?.pieces[0]?.units).toEqual(["ο\u0301", "γ"]);
  });

  test("of which a map has a sentence for a dot are left out, and counted", async () => {
    const words = putMapped(60, 700, "A B") + put(60, 680, "The rent is 900 euros from May on.");
    const found = await read(words, { letters: ["S", "The amount of 1250 is due in May."] });
    expect(found).toMatchObject({ leftOut: { "unreadable passages": 1 } });
    expect(found).not.toHaveProperty("text", expect.stringContaining("1250"));
  });

  test("from right to left keep their order, with figures and ligatures in theirs", async () => {
    // Drawn from left to right, as it is seen: 12 and a word, and one that ends with lam-alef in one glyph.
    const letters = ["\u05d2", "\u05d1", "\u05d0", " ", "1", "2"];
    expect(await textOf(putMapped(60, 700, "EFDABC"), letters)).toBe("\u05d0\u05d1\u05d2 12");
    expect(await textOf(putMapped(60, 700, "AB"), ["\u0627\u0644", "\u0633"])).toBe(
      "\u0633\u0644\u0627",
    );
  });

  test("from right to left at the end of a line from left to right are read", async () => {
    const line = put(60, 700, "Contact: Mr") + putMapped(120, 700, "CBA");
    expect(await textOf(line, ["م", "ح", "د"])).toBe("Contact: Mr محد");
  });

  test("of a small raised figure leave the word and the figure before it as they are", async () => {
    const content =
      put(60, 700, "fee 870") +
      put(60 + widthOf("fee 870"), 704, "2", { size: 6 }) +
      put(60, 680, "and 12 m") +
      put(60 + widthOf("and 12 m") + 3, 684, "2", { size: 6 }) +
      put(60, 660, "and 10") +
      put(60 + widthOf("and 10"), 664, "12", { size: 6 });
    expect(await textOf(content)).toBe("fee 870 2\n\nand 12 m2\n\nand 10 12");
  });
});

describe("what nobody sees", () => {
  const seen = put(60, 700, "The rent is 640 euros.");

  test.each([
    ["is not painted", put(60, 650, "Pay 9999", { mode: 3 })],
    ["is outside of the page", put(700, 650, "Pay 9999")],
    ["is smaller than a point", put(60, 650, "Pay 9999", { size: 0.5 })],
    ["is white on paper", put(60, 650, "Pay 9999", { colour: "1 1 1" })],
    [
      "has the colour of its ground",
      box([50, 640, 200, 30], "0.1 0.2 0.3") + put(60, 650, "Pay 9999", { colour: "0.1 0.2 0.3" }),
    ],
    ["is painted over", put(60, 650, "Pay 9999") + box([50, 640, 200, 30], "0 0 0")],
  ])("is left out and counted where it %s", async (_, hidden) => {
    expect(await read(seen + hidden)).toMatchObject({
      text: "The rent is 640 euros.",
      leftOut: { "hidden passages": 1 },
    });
  });

  test("is told from white words on dark ground, and from the text of a scan", async () => {
    const dark =
      box([50, 640, 200, 30], "0.1 0.2 0.3") + put(60, 650, "Pay 640", { colour: "1 1 1" });
    expect(await textOf(dark)).toBe("Pay 640");
    const scan = picture(0, 0, 595, 842) + put(60, 650, "Pay 640", { mode: 3 });
    expect(await textOf(scan)).toBe("Pay 640");
    expect((await read(scan)).kind === "text" && (await read(scan))).not.toHaveProperty("leftOut");
  });
});

describe("a page whose text lies on a picture of its words", () => {
  const scan = picture(0, 0, 595, 842);
  const words = "The rent is 640 euros.";
  const layer = put(60, 700, words, { mode: 3 });
  const strips = picture(0, 0, 595, 280) + picture(0, 280, 595, 280) + picture(0, 560, 595, 282);
  const onEach = [100, 400, 700].map((y) => put(60, y, words, { mode: 3 })).join("");

  test.each([
    ["unpainted, above it", scan + layer, [1]],
    ["painted, below it", put(60, 700, words) + scan, [1]],
    ["on several strips of it", strips + onEach, [1]],
    ["painted, above it: it is seen as it is", scan + put(60, 700, words), []],
    ["on a picture of less than half of the page", picture(0, 500, 595, 342) + layer, []],
    ["with a few letters", scan + put(60, 700, "Page 12", { mode: 3 }), []],
    ["without a figure", scan + put(60, 700, "Thank you, and goodbye.", { mode: 3 }), []],
  ])("is told: %s", async (_, content, layered) => {
    const found = await read(content);
    expect(found).toMatchObject({ kind: "text", layered });
    expect(found).toHaveProperty("metadata", {
      pages: 1,
      ...(layered.length === 0 ? {} : { pages_over_pictures: ["1"] }),
      created: "2026-01-05",
    });
  });
});

describe("what a text leaves out", () => {
  test("is counted by kind", async () => {
    const annotations = [
      field("name", "Ragna Ottesen", [200, 690, 400, 710]),
      field("remarks", "", [60, 500, 400, 560]),
      note("FreeText", "", "Agreed on the phone.", [60, 600, 400, 640]),
      note("Text", "Jorun", "Ask about the boiler.", [500, 600, 520, 620]),
    ];
    const content = put(60, 696, "Tenant:") + picture(300, 100, 200, 100);
    const found = await extractText(
      "a.pdf",
      writePages([{ content, annotations }, { content: "" }]),
    );
    expect(found).toMatchObject({
      leftOut: { pictures: 1, "form fields without a value": 1, "pages without text": 1 },
    });
    expect(found.kind === "text" && found.text.split("\f")[0]?.trim()).toBe(
      "Tenant: | Ragna Ottesen\n\nAgreed on the phone.\n[note Jorun] Ask about the boiler.",
    );
  });

  test("is the whole of a form of XFA, and of fonts that name no letters: both are refused with what to do", async () => {
    expect(await read(put(60, 700, "Please wait..."), { form: "/XFA 8 0 R" })).toMatchObject({
      code: "NO_TEXT_LAYER",
      why: expect.stringContaining("XFA"),
    });
    expect(await read(putUnmapped(60, 700, "The office of the fleet manager"))).toMatchObject({
      code: "NO_TEXT_LAYER",
      why: expect.stringContaining("ToUnicode"),
    });
  });
});
