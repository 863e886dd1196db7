import { describe, expect, test } from "@jest/globals";
import { readHtml } from "../../../../src/worker/documents/formats/html.ts";
import { readWith, refusalOf } from "./read-format.ts";

const PAGE = `<!doctype html><html><head><title>Tarife 2026</title><script>steal()</script></head>
<body><h1>Tarife</h1><p>Die <a href="https://example.org/x">Zone A</a> kostet 2,40 €.</p>
<ul><li>Tag<li>Woche</ul><table><tr><th>Zone</th><th>Preis</th></tr><tr><td>B</td><td>3,10</td></tr></table>
<style>p{}</style></body></html>`;

describe("saved pages", () => {
  test("give headings, lists, tables and links as text, and no script", async () => {
    const read = await readWith(readHtml, PAGE);
    expect(read.text).toBe(
      "# Tarife\n\nDie Zone A kostet 2,40 €.\n\n- Tag\n- Woche\n\n| Zone | Preis |\n| --- | --- |\n| B | 3,10 |",
    );
    expect(read.metadata).toEqual({ encoding: "utf-8", title: "Tarife 2026" });
  });

  test("keep notes and imprints behind the page, under a heading that says so, and no navigation", async () => {
    const read = await readWith(
      readHtml,
      `<nav><a href="/">Home</a></nav><aside><h2>Note</h2>Only <b>until May</b>.<nav>Up</nav></aside>
       <main><h1>Prices</h1><p>Zone A costs 2.40.<aside>Without tax.</aside></p><p>Zone B costs 3.10.</p></main>
       <footer hidden>Secret</footer><footer><p>Printed 3 May 2026</footer>`,
    );
    expect(read.text).toBe(
      "# Prices\n\nZone A costs 2.40.\n\nZone B costs 3.10.\n\n" +
        "## Beside the page: aside\n\n#### Note\n\nOnly until May.\n\n" +
        "## Beside the page: aside\n\nWithout tax.\n\n" +
        "## Beside the page: footer\n\nPrinted 3 May 2026",
    );
  });

  test("without a root element are read whole", async () => {
    const read = await readWith(readHtml, "<p>one</p><p>two</p>");
    expect(read.text).toBe("one\n\ntwo");
  });

  test.each([
    ["iso-8859-2", Buffer.from([0xb9, 0xf2]), "šň"],
    ["windows-1252", Buffer.from([0x80]), "€"],
    ["shift_jis", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "日本"],
  ])("in %s say so", async (encoding, bytes, text) => {
    const head = Buffer.from(`<meta charset="${encoding}"><p>`);
    const read = await readWith(readHtml, Buffer.concat([head, bytes]));
    expect(read).toMatchObject({ text, metadata: { encoding } });
  });

  test("have the day of their meta element, with quotation marks or without", async () => {
    for (const meta of ['name="date" content="2025-01-02"', "name=date content=2025-01-02"]) {
      const { metadata } = await readWith(readHtml, `<head><meta ${meta}></head><p>Tarife</p>`);
      expect(metadata).toMatchObject({ date: "2025-01-02" });
    }
  });

  test("that are nested too deep are refused", async () => {
    expect(await refusalOf(readHtml, "<div>".repeat(100_000))).toMatchObject({
      code: "FILE_FORMAT_INVALID",
    });
  });
});
