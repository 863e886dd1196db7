import { describe, expect, test } from "@jest/globals";
import { extractTextBy } from "../../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../../src/worker/documents/reader/reader.ts";
import { paragraph, run, sheetXml, writeDocx, writeXlsx } from "../support/format-writers.ts";
import { HOSTILE_FILES } from "../support/hostile-formats.ts";
import { READER_LIMITS } from "../support/read-documents.ts";

// Each is made to hold up or end whoever reads it. The process that reads them is one for all, as in a worker.

const MEMORY = 500_000_000;
const extract = extractTextBy(
  openDocumentReader({ ...READER_LIMITS, timeoutMs: 60_000, memoryBytes: MEMORY }),
);

describe("a hostile file fails alone, with a code, within its limit", () => {
  test.each(HOSTILE_FILES)(
    "$what",
    async ({ name, write, code }) => {
      const bytes = write();
      let longest = 0;
      let last = performance.now();
      const heart = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 20);
      const found = await extract(name, bytes);
      clearInterval(heart);
      expect(found).toMatchObject({ kind: "unreadable", code: expect.stringMatching(code) });
      // A lease is renewed every five seconds.
      expect(longest).toBeLessThan(2_500);
      const next = await extract("good.docx", writeDocx({ body: paragraph(run("still here")) }));
      expect(next).toMatchObject({ kind: "text", text: "still here\n\n" });
    },
    90_000,
  );

  test("two hundred thousand cells are a table like any other", async () => {
    const rows = Array.from({ length: 20_000 }, (_, at) =>
      Array.from({ length: 10 }, (__, cell) => at + cell),
    );
    const sheet = sheetXml(rows);
    expect(sheet.length).toBeGreaterThan(2_000_000);
    const found = await extract("cells.xlsx", writeXlsx([{ name: "Cells", rows }]));
    expect(found.kind === "text" ? found.text.length : found.why).toBeGreaterThan(1_000_000);
  }, 90_000);
});
