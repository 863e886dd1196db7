// Takes the pictures of the dashboard, of a night in a copy of the examples: the demo's, summaries, an extraction and a question.
//   node scripts/screenshots.js                  those that README.md and docs/dashboard.md show, to docs/images
//   node scripts/screenshots.js --all FOLDER     each page and the report, whole, at 400, 800 and 1,280 pixels, light and dark
// Needs Chromium at /usr/bin/chromium, or where CHROMIUM says, and a built dist.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { root } from "./root.js";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [first, second] = process.argv.slice(2);
const isAll = first === "--all";
const folder = resolve((isAll ? second : first) ?? join(root, "docs", "images"));
const WIDTHS = [400, 800, 1_280];
const SCHEMES = ["light", "dark"];
const PAGES = ["batches", "start", "inbox", "index?q=boiler+pressure", "schedules", "sql", "audit"];

const NIGHT = [
  ["demo"],
  ["summarize", "corpus/**/*", "--batch-name", "summaries"],
  ["extract", "corpus/minutes/*.md", "--preset", "actions", "--batch-name", "action items"],
  ["ask", "At which bearing temperature does the governor close the nozzle?", "--wait"],
  ["ask", "Who won the chess club's cup?", "--wait"],
  ["schedule", "set", "nightly-index", "--cron", "0 1 * * *", "--", "index"],
  ["worker", "--drain"],
  ["batch", "report", "summaries", "--output", "reports"],
];

const desk = mkdtempSync(join(tmpdir(), "nightdesk-pictures-"));
mkdirSync(folder, { recursive: true });
cpSync(join(root, "examples"), desk, {
  recursive: true,
  filter: (source) => !source.includes(".nightdesk"),
});
const nightdesk = (...words) =>
  spawn(process.execPath, [join(root, "bin/nightdesk.js"), ...words], {
    cwd: desk,
    stdio: ["ignore", "ignore", "pipe"],
  });

let dashboard;
try {
  for (const words of NIGHT) await ended(nightdesk(...words), words);
  dashboard = nightdesk("dashboard", "--port", "0");
  await takeAll(await addressOf(dashboard));
} finally {
  dashboard?.kill("SIGTERM");
  if (dashboard !== undefined) await once(dashboard, "close");
  rmSync(desk, { recursive: true, force: true });
}

/** A question without evidence is refused, and a batch with such a one ends with 3. */
async function ended(child, words) {
  let said = "";
  child.stderr.on("data", (piece) => (said += piece));
  const [code] = await once(child, "close");
  if (![0, 3, 4].includes(code)) throw new Error(`${words.join(" ")} ended with ${code}: ${said}`);
}

async function addressOf({ stderr }) {
  let said = "";
  for await (const piece of stderr) {
    said += piece;
    const [, url] = /Dashboard: (\S+)/.exec(said) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the dashboard did not start: ${said}`);
}

async function takeAll(url) {
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  try {
    const open = async (width, colorScheme) => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
      return context.newPage();
    };
    const light = await open(1_280, "light");
    const pages = await findPages(light, url);
    if (!isAll) {
      await takePictures(light, pages);
      await take(await open(400, "dark"), pages.get("run"), { name: "run-phone" });
      return;
    }
    for (const width of WIDTHS) {
      for (const scheme of SCHEMES) {
        const page = await open(width, scheme);
        for (const [name, address] of pages)
          await take(page, address, { name: `${name}-${width}-${scheme}`, fullPage: true });
        await page.context().close();
      }
    }
  } finally {
    await browser.close();
  }
}

/** Addresses of all pages by name: those of a batch and of a run are found by their links. */
async function findPages(page, url) {
  const linkOn = async (address, selector) => {
    await page.goto(address);
    const href = await page.locator(selector).first().getAttribute("href");
    return new URL(href, url).href;
  };
  const items = await linkOn(url, 'main a[href^="/batches/"]:text-is("action items")');
  const demo = await linkOn(url, 'main a[href^="/batches/"]:text-is("demo")');
  return new Map([
    ["morning", url],
    ["batch", demo],
    ["run", await linkOn(demo, 'main a[href^="/runs/"]')],
    ["fields", `${items}/fields`],
    ["retry", `${demo}/retry`],
    ...PAGES.map((path) => [path.replace(/\W.*/, ""), new URL(path, url).href]),
    ["report", pathToFileURL(join(desk, "reports", "summaries.html")).href],
  ]);
}

async function takePictures(page, pages) {
  for (const name of ["morning", "batch", "run"]) await take(page, pages.get(name), { name });
}

/** Pages that listen for events are never idle: what comes behind the first paint has a moment. */
async function take(page, address, { name, fullPage = false }) {
  await page.goto(address);
  await page.waitForTimeout(fullPage ? 300 : 1_000);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, fullPage });
  const [height, over] = await page.evaluate(
    "[document.documentElement.scrollHeight, document.documentElement.scrollWidth - innerWidth]",
  );
  console.log(`${path}  ${height} pixels high${over > 0 ? `, ${over} too wide` : ""}`);
}
