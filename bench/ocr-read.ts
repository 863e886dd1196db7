// Reads the pages of bench/ocr-pages/generate.ts and holds every figure to its place. Wrong is given with its upper 95 % bound;
// a page loses silently when under 95 % of its figures were found and its left ink does not say so.
// node --import ./bench/register.js bench/ocr-read.ts --pages FOLDER [--kinds letter,invoice] [--limit N] [--show] [--beside-native]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wilson } from "../src/shared/wilson.ts";
import type { ReadPage } from "../src/worker/ocr/page-outcome.ts";
import { judgePage } from "./ocr-pages/judge-page.ts";
import type { JudgedPage } from "./ocr-pages/judge-page.ts";
import { readPages } from "./ocr-pages/truth.ts";
import type { PageTruth } from "./ocr-pages/truth.ts";
import { watchChildren } from "./peak-of-children.ts";

const { values: flags } = parseArgs({
  options: {
    pages: { type: "string" },
    kinds: { type: "string" },
    limit: { type: "string", default: "1000000" },
    reader: { type: "string", default: "../src/worker/ocr/page-reader.ts" },
    show: { type: "boolean", default: false },
    "beside-native": { type: "boolean", default: false },
  },
});
const folder = flags.pages ?? ".";
const LEFT_INK = 0.05;
const FOUND = 0.95;
const PROSE = ["letter", "columns"];
const BOUND = ["letter", "invoice", "invoice-ruled", "columns", "table"];
const MODELS: Readonly<Record<string, string>> = {
  ...{ en: "eng", de: "deu", fr: "fra", es: "spa", it: "ita" },
};

type Result = {
  readonly kind: string;
  readonly seconds: number;
  readonly isSilent: boolean;
} & JudgedPage;

const kinds = flags.kinds?.split(",");
const pages = readPages(folder)
  .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
  .slice(0, Number(flags.limit));

async function readBy(name: string, path: string): Promise<void> {
  const { openPageReader } = (await import(path)) as {
    openPageReader: (options: object) => ReadPage;
  };
  const packageRoot = join(import.meta.dirname, "..");
  const read = openPageReader({ folders: { packages: null, packageRoot, models: null } });
  const children = watchChildren();
  const results: Result[] = [];
  for (const page of pages) results.push(...(await judge(read, page)));
  console.log(
    `${name}: ${results.length} of ${pages.length} pages read, ${Math.round(children.stop() / 1e6)} MB at most in a process\n`,
  );
  print(results);
}

async function judge(read: ReadPage, page: PageTruth): Promise<Result[]> {
  const bytes = readFileSync(join(folder, page.file));
  const startedAt = performance.now();
  const languages = [MODELS[page.language] ?? "eng"];
  const outcome = await read({ bytes, page: page.page, languages, second: "fast" });
  const seconds = (performance.now() - startedAt) / 1_000;
  if (outcome.kind === "unreadable") {
    console.log(`${page.id} (${page.made}) ${outcome.why}`);
    return [];
  }
  const judged = judgePage(outcome.record, page);
  const isSilent = judged.found < judged.figures * FOUND && outcome.record.leftInk < LEFT_INK;
  if (flags.show || isSilent) show(page, judged, outcome.record.leftInk);
  return [{ kind: page.kind, seconds, isSilent, ...judged }];
}

function show(page: PageTruth, { found, figures, wrongs }: JudgedPage, leftInk: number): void {
  console.log(
    `${page.id} (${page.made}, turn ${page.turn}): found ${found} of ${figures}, left ink ${leftInk.toFixed(3)}`,
  );
  if (!flags.show) return;
  for (const { text, held, as } of wrongs)
    console.log(`  ${as}: ${text} for ${held === "" ? "no figure" : held}`);
}

function print(results: readonly Result[]): void {
  const heads = [
    "pages",
    "figures",
    "found",
    "two: wrong",
    "one: wrong",
    "doubtful: wrong",
    "CER",
    "silent",
    "s/page",
  ];
  row("", heads);
  for (const kind of new Set(results.map((one) => one.kind)))
    row(
      kind,
      cellsOf(
        results.filter((one) => one.kind === kind),
        PROSE.includes(kind),
      ),
    );
  row(
    "with a bound",
    cellsOf(
      results.filter(({ kind }) => BOUND.includes(kind)),
      false,
    ),
  );
  row("all", cellsOf(results, false));
  console.log("");
}

function cellsOf(results: readonly Result[], isProse: boolean): string[] {
  const sum = (of: (one: Result) => number) => results.reduce((total, one) => total + of(one), 0);
  const share = (part: number, whole: number) =>
    `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
  const wrong = (as: keyof JudgedPage["read"]) => {
    const [bad, all] = [sum((one) => one.read[as].wrong), sum((one) => one.read[as].read)];
    return `${bad}/${all} <${(100 * wilson(bad, all).high).toFixed(2)} %`;
  };
  return [
    ...[String(results.length), String(sum((one) => one.figures))],
    share(
      sum((one) => one.found),
      sum((one) => one.figures),
    ),
    ...[wrong("two"), wrong("one"), wrong("doubtful")],
    isProse
      ? share(
          sum((one) => one.edits),
          sum((one) => one.characters),
        )
      : "-",
    String(results.filter(({ isSilent }) => isSilent).length),
    (sum((one) => one.seconds) / Math.max(1, results.length)).toFixed(2),
  ];
}

const row = (name: string, cells: readonly string[]): void => {
  console.log(
    name.padEnd(18) +
      cells.map((cell, at) => cell.padStart([6, 8, 9, 19, 19, 19, 8, 7, 7][at] ?? 9)).join(""),
  );
};

await readBy("reader", flags.reader);
if (flags["beside-native"]) await readBy("native tesseract", "./ocr-pages/native-reader.ts");
process.exit(0);
