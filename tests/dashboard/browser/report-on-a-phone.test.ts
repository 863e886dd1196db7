import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { htmlPage } from "../../../src/producer/report/html.ts";
import { findBatch } from "../../../src/shared/views/batches.ts";
import { reportPage } from "../../../src/shared/views/batch-report.ts";
import { gatherReport } from "../../../src/shared/views/report-rows.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { openPostgres } from "../../support/test-databases.ts";
import { describeInBrowser, openBrowser, overflowOf, violationsOf } from "./open-browser.ts";

const SUMMARIES = 60;
const SHA256 = "ab12".repeat(16);
const SCOPE = `Scope: full evidence from read_text_file (900/900), sha256=${SHA256}`;
const SENTENCES = "The brakes of the yard are bled in May, both wheels, and the fluid is changed. ";

describeInBrowser("a report of sixty summaries in a browser", () => {
  let browser: Browser;
  let folder = "";
  let file = "";

  beforeAll(async () => {
    const { db, close } = await openPostgres(() => undefined);
    const jobs = await insertFinishedBatch(db, {
      name: "sixty",
      jobs: Array.from({ length: SUMMARIES }, (_, at) => {
        const path = `notes/2026/a-folder-with-a-long-name/note-number-${at}.md`;
        return {
          ...{ customId: path, input: { kind: "summarize", path }, scope: SCOPE },
          answer: `${SENTENCES.repeat(6)}${at} [1].\n${SCOPE}`,
          evidence: [{ path, lines: [3, 9], sha256: SHA256 }],
        };
      }),
    });
    await db.query("update nightdesk_data.runs set grade = 'supported'");
    await db.query("update nightdesk_data.runs set grade = 'unsupported' where job_id = $1", [
      jobs.get("notes/2026/a-folder-with-a-long-name/note-number-59.md"),
    ]);
    const batch = await findBatch(db, "sixty");
    if (batch === undefined) throw new Error("the batch is not there");
    const report = await gatherReport(db, batch, {
      ...{ earlier: undefined, madeAt: new Date(), zone: "UTC", version: "0" },
    });
    folder = await mkdtemp(join(tmpdir(), "nightdesk-report-"));
    file = join(folder, "sixty.html");
    await writeFile(file, htmlPage(reportPage(report), "<!-- -->", "../"));
    await close();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  const open = async (width: number): Promise<Page> => {
    const viewport = { width, height: 800 };
    const context = await browser.newContext({ viewport, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    return page;
  };

  test("is at most 12,000 pixels long on a phone: ten cards are open, a tap opens another", async () => {
    const page = await open(400);
    const height = (await page.locator("html").boundingBox())?.height ?? Infinity;
    expect(height).toBeLessThanOrEqual(12_000);
    expect(await page.locator("details.card").count()).toBe(SUMMARIES);
    expect(await page.locator("details.card[open]").count()).toBe(10);
    // What is not supported by its evidence comes first.
    expect(await page.locator("details.card").first().textContent()).toContain("note-number-59");
    const closed = page.locator("details.card").nth(30);
    expect((await closed.boundingBox())?.height).toBeLessThan(50);
    await closed.locator("summary").first().click();
    expect(await closed.locator(".answer").isVisible()).toBe(true);
    await page.context().close();
  });

  test("prints all of them", async () => {
    const page = await open(1_280);
    await page.emulateMedia({ media: "print" });
    const last = page.locator("details.card .answer").last();
    expect((await last.boundingBox())?.height).toBeGreaterThan(20);
    await page.context().close();
  });

  test.each([400, 800])("lies within %d pixels, without violations of axe", async (width) => {
    const viewport = { width, height: 800 };
    const page = await (await browser.newContext({ viewport })).newPage();
    await page.goto(pathToFileURL(file).href);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  });
});
