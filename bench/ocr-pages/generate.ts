// Pages as scanners give them, with what they hold: a file a page and pages.jsonl (truth.ts), the same for the same seed.
// node --import ./bench/register.js bench/ocr-pages/generate.ts --out FOLDER [--seed 1] [--limit 200] [--set pages|small]
// Needs chromium and gs, and opj_compress for JPX. No page is JBIG2: Debian 12 has no encoder of it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { seededRandom } from "../synthetic-corpus.ts";
import { CARRIERS } from "./carriers.ts";
import type { Scan } from "./carriers.ts";
import { drawPage, printBelow, sizeOf } from "./draw-page.ts";
import { openFill, readTexts } from "./fill.ts";
import { drawSheet } from "./layouts.ts";
import { planPages, SMALL_PLAN } from "./plan.ts";
import type { PageTruth } from "./truth.ts";

const { values: flags } = parseArgs({
  options: {
    out: { type: "string" },
    seed: { type: "string", default: "1" },
    limit: { type: "string", default: "200" },
    set: { type: "string", default: "pages" },
  },
});
const { out } = flags;
if (out === undefined) throw new Error("Name a folder: --out FOLDER.");
const limit = Number(flags.limit);
// Beyond 200 the next seed goes on.
const plans =
  flags.set === "small"
    ? SMALL_PLAN
    : Array.from({ length: Math.ceil(limit / 200) }, (_, at) =>
        planPages(Number(flags.seed) + at),
      ).flat();
/** Of a page that has text beside its picture. */
const INSET = { width: 470, height: 440 };

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  // The superuser of a container has no sandbox for it.
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
mkdirSync(out, { recursive: true });
const truths: PageTruth[] = [];
const files = new Map<string, Scan[]>();
for (const [at, plan] of plans.slice(0, limit).entries()) {
  const { kind, language, paper, turn, carrier } = plan;
  const id = `${kind}-${String(at + 1).padStart(3, "0")}`;
  const texts = readTexts(language);
  const fill = openFill(texts, seededRandom(plan.seed));
  const hasText = carrier === "text pdf";
  const sheet = drawSheet(hasText ? "table" : kind, texts, fill, hasText ? INSET : paper);
  const page = await browser.newPage({
    viewport: { width: sheet.width, height: sheet.height },
    deviceScaleFactor: plan.dpi[0] / 96,
  });
  const drawn = await drawPage(page, sheet, plan);
  const outer = hasText ? drawSheet("paragraphs", texts, fill, paper) : sheet;
  if (hasText) await page.setViewportSize(paper);
  const { scan, figures, text } = hasText ? await printBelow(page, drawn, outer, plan) : drawn;
  await page.close();
  const file = plan.file ?? `${id}.${CARRIERS[carrier].ending}`;
  const scans = [...(files.get(file) ?? []), scan];
  files.set(file, scans);
  writeFileSync(join(out, file), CARRIERS[carrier].write(scans));
  const [width, height] = sizeOf(outer, plan);
  truths.push({
    ...{ id, kind, language, file, page: scans.length },
    made: `${plan.dpi.join("x")} dpi, skew ${plan.skew}, noise ${plan.noise}, blur ${plan.blur}, ${carrier} ${plan.quality}`,
    ...{ width, height, turn, figures, text },
    ...(sheet.ask === undefined ? {} : { ask: sheet.ask }),
  });
}
await browser.close();
writeFileSync(
  join(out, "pages.jsonl"),
  truths.map((truth) => `${JSON.stringify(truth)}\n`).join(""),
);
console.log(
  `${truths.length} pages with ${truths.flatMap(({ figures }) => figures).length} figures`,
);
