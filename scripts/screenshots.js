// Takes the pictures of the dashboard that README.md and docs/dashboard.md show, of the demo's night in a copy of the examples.
//   node scripts/screenshots.js [folder, default docs/images]
// Needs Chromium at /usr/bin/chromium, or where CHROMIUM says.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { root } from "./root.js";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const folder = resolve(process.argv[2] ?? join(root, "docs", "images"));
const SIZE = { width: 1_280, height: 800 };
const PHONE = { width: 400, height: 800 };

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
  await ended(nightdesk("demo"));
  dashboard = nightdesk("dashboard", "--port", "0");
  await takeAll(await addressOf(dashboard));
} finally {
  dashboard?.kill("SIGTERM");
  if (dashboard !== undefined) await once(dashboard, "close");
  rmSync(desk, { recursive: true, force: true });
}

async function ended(child) {
  child.stderr.resume();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the demo ended with ${code}`);
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
    const open = async (viewport, colorScheme) => {
      const context = await browser.newContext({ viewport, colorScheme });
      return context.newPage();
    };
    const light = await open(SIZE, "light");
    await light.goto(new URL("/", url).href);
    await take(light, "tonight");
    const batch = await light.locator('main a[href^="/batches/"]').first().getAttribute("href");
    await light.goto(new URL(batch, url).href);
    await take(light, "batch");
    const run = await light.locator('main a[href^="/runs/"]').first().getAttribute("href");
    await light.goto(new URL(run, url).href);
    await take(light, "run");
    const dark = await open(PHONE, "dark");
    await dark.goto(new URL(run, url).href);
    await take(dark, "run-phone");
  } finally {
    await browser.close();
  }
}

/** Pages that listen for events are never idle: what comes behind the first paint has a moment. */
async function take(page, name) {
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(join(folder, `${name}.png`));
}
