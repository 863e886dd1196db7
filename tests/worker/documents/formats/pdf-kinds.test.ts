import { expect, test } from "@jest/globals";
import { PDFS_OF_KINDS, SIX_INVOICES } from "../../../support/pdf-kinds.ts";
import type { PdfOfKind } from "../../../support/pdf-kinds.ts";
import { extractText } from "../../../support/read-documents.ts";

async function textOf({ name, bytes }: PdfOfKind): Promise<string> {
  const found = await extractText("a.pdf", bytes);
  if (found.kind !== "text") throw new Error(`${name}: ${found.why}`);
  return found.text;
}

/** Rows that do not stand in one line of the text, their cells in order. */
function tornRows(text: string, { name, rows }: PdfOfKind): string[] {
  const lines = text.split("\n");
  const isWhole = (cells: readonly string[]): boolean =>
    lines.some(
      (line) =>
        cells.reduce((from, cell) => {
          const at = from === -1 ? -1 : line.indexOf(cell, from);
          return at === -1 ? -1 : at + cell.length;
        }, 0) !== -1,
    );
  return rows.filter((cells) => !isWhole(cells)).map((cells) => `${name}: ${cells.join(" | ")}`);
}

function isInOrder(text: string, words: readonly string[]): boolean {
  const places = words.map((word) => text.indexOf(word));
  return places.every((place, at) => place > (places[at - 1] ?? -1));
}

test("six invoices of different layouts keep each row whole", async () => {
  for (const invoice of SIX_INVOICES) expect(tornRows(await textOf(invoice), invoice)).toEqual([]);
});

test("80 PDFs as people have them lose no figure, no row and no order", async () => {
  expect(PDFS_OF_KINDS.length).toBe(80);
  const torn: string[] = [];
  const lost: string[] = [];
  const disordered: string[] = [];
  for (const pdf of PDFS_OF_KINDS) {
    const text = await textOf(pdf);
    torn.push(...tornRows(text, pdf));
    const figures = pdf.rows.flat().flatMap((cell) => cell.match(/\d[\d.,]*\d|\d/gu) ?? []);
    lost.push(
      ...figures
        .filter((figure) => !text.includes(figure))
        .map((figure) => `${pdf.name}: ${figure}`),
    );
    if (!isInOrder(text, pdf.order)) disordered.push(pdf.name);
  }
  expect(lost).toEqual([]);
  expect(torn).toEqual([]);
  expect(disordered).toEqual([]);
});
