import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe } from "@jest/globals";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

const PROGRAM = "/usr/bin/chromium";
const isThere = existsSync(PROGRAM);

if (!isThere && process.env["CI"] === "true" && process.env["TEST_SERVICES"] !== "none") {
  throw new Error(`${PROGRAM} is not there: apt-get install chromium, or set TEST_SERVICES=none.`);
}
if (!isThere) process.stderr.write(`The pages are not looked at: ${PROGRAM} is not there.\n`);

/** Tests that need a browser, and a server of Postgres. */
export const describeInBrowser =
  isThere && process.env["TEST_DATABASE_URL"] !== undefined ? describe : describe.skip;

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    // The superuser of a container has no sandbox for it.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What a reader of screens would stumble over, as axe names it. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // Our policy lets no script tag of anybody's in.
  await page.evaluate(axe);
  return page.evaluate<readonly string[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))",
  );
}

/** How far a page reaches beyond the screen, in pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

/** What of a table reaches over its right edge, on a screen on which a row is a card. */
export const outsideOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(
    `innerWidth > 640 ? [] : [...document.querySelectorAll(".scroll :is(td, th), .scroll td *")]
       .filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.outerHTML.slice(0, 200))`,
  );
