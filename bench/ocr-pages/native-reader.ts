import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { PageRecord, ReadWord } from "../../src/shared/pages/page-record.ts";
import type { ReadPage } from "../../src/worker/ocr/page-outcome.ts";

/** The program `tesseract` as it comes: it turns no page and reads no PDF. Each figure is read by one. */
export const openPageReader =
  (): ReadPage =>
  async ({ bytes, languages }) => {
    if (bytes.subarray(0, 4).toString() === "%PDF")
      return { kind: "unreadable", why: "is a PDF", lasts: "always" };
    const words = [
      "-",
      "-",
      "-l",
      languages.join("+"),
      "--psm",
      "3",
      "-c",
      "tessedit_create_tsv=1",
    ];
    // One thread, as the wasm has.
    const env = { ...process.env, OMP_THREAD_LIMIT: "1" };
    const program = spawn("tesseract", words, { env, stdio: ["pipe", "pipe", "ignore"] });
    const failed = once(program, "error").then(([error]) => Promise.reject(error as Error));
    program.stdin.end(bytes);
    const table = await Promise.race([text(program.stdout), failed]);
    return { kind: "read", record: recordOf(table), cutOuts: [] };
  };

function recordOf(table: string): PageRecord {
  const rows = table
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((row) => row.split("\t"));
  const lines = new Map<string, ReadWord[]>();
  let [width, height] = [0, 0];
  for (const [level = "", page, block, paragraph, line, , ...rest] of rows) {
    const [left = 0, top = 0, wide = 0, high = 0, confidence = 0] = rest.map(Number);
    if (level === "1") [width, height] = [wide, high];
    const word = rest[5]?.trim() ?? "";
    if (level !== "5" || word === "") continue;
    const at = [page, block, paragraph, line].join();
    const box = [left, top, left + wide, top + high] as const;
    const figure = /\d/.test(word) ? { figure: "one" as const } : {};
    lines.set(at, [...(lines.get(at) ?? []), { text: word, box, confidence, ...figure }]);
  }
  return {
    picture: { format: "file", width, height },
    ...{
      turned: 0,
      skew: 0,
      engine: "tesseract",
      languages: [],
      mode: 3,
      leftInk: 0,
      confidence: 0,
    },
    lines: [...lines.values()].map((read) => ({ words: read })),
  };
}
