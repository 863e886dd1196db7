import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { eventually } from "../../conformance/signal.ts";
import { startBin } from "../../support/run-bin.ts";
import type { Running } from "../../support/run-bin.ts";
import { rowsOf } from "../../producer/desk.ts";
import { openRealDesk } from "../real-desk.ts";
import type { RealDesk } from "../real-desk.ts";
import { describeInBrowser, openBrowser } from "./open-browser.ts";

const NOTES = ["anchors", "brakes", "cranes", "docks", "engines", "ferries"];

describeInBrowser("a night in a browser, with a worker", () => {
  let desk: RealDesk;
  let browser: Browser;
  let context: BrowserContext;
  let worker: Running;

  beforeAll(async () => {
    desk = await openRealDesk();
    await mkdir(join(desk.workroot, "allowed/corpus/notes"));
    for (const name of NOTES) {
      const text = `# ${name}\n\nThe ${name} of the yard are looked at once a year. A list of them hangs in the office.\n`;
      await desk.write(`allowed/corpus/notes/${name}.md`, text);
    }
    browser = await openBrowser();
    context = await browser.newContext();
    worker = startBin(["worker"], { cwd: desk.workroot });
  });
  afterAll(async () => {
    await browser.close();
    worker.kill("SIGTERM");
    await worker.ended;
    await desk.dispose();
  });

  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(new URL(path, desk.url()).href);
    await page.getByText("Up to date").waitFor();
    return page;
  };
  const eventIds = async (): Promise<readonly unknown[]> =>
    (await rowsOf(desk.database, "select event_id from nightdesk_data.run_events order by 1")).map(
      ({ event_id: id }) => String(id),
    );

  test("is seen from its start to its end without a reload, and each event once although the dashboard is away for a time", async () => {
    const tonight = await open("/");
    await tonight.evaluate(LISTEN);
    const order = await open("/start");
    await order.locator("#files").fill("corpus/notes/*.md");
    await order.getByLabel(/^Name of the batch/).fill("the yard");
    await order.getByRole("button", { name: "Show what would be queued" }).click();
    await order.getByText("6 jobs would be queued").waitFor();
    await order.getByRole("button", { name: "Queue", exact: true }).click();
    await order.waitForURL(/\/batches\//);
    await order.evaluate("window.isTheSamePage = true");

    // Its page, and the one that was left open, tell the end of it by themselves.
    await order.getByRole("heading", { level: 1, name: "the yard completed" }).waitFor();
    await order.getByRole("link", { name: "6 succeeded" }).waitFor();
    const ended = tonight.locator("section", { hasText: "Last night" });
    await ended.getByRole("link", { name: "the yard" }).waitFor();
    await tonight.locator("#activity li").first().waitFor();
    await untilSeen(tonight, await eventIds());

    await desk.stop("SIGKILL");
    await tonight.getByText("does not answer").waitFor();
    const words = [
      "summarize",
      "allowed/corpus/notes/docks.md",
      "--batch-name",
      "while it was away",
    ];
    const asked = await startBin([...words, "--wait"], { cwd: desk.workroot }).ended;
    expect(asked).toMatchObject({ code: 0 });
    await desk.start();
    await tonight.getByText("Up to date").waitFor();
    await ended.getByRole("link", { name: "while it was away" }).waitFor();
    const ids = await eventIds();
    await untilSeen(tonight, ids);
    expect(await tonight.evaluate("window.seen")).toEqual(ids);
    for (const page of [tonight, order]) {
      expect(await page.evaluate("window.isTheSamePage")).toBe(true);
    }
  }, 180_000);
});

/** What the pages are told, over the connection that they have. */
const LISTEN = `
  window.isTheSamePage = true;
  window.seen = [];
  const { port } = new SharedWorker(document.body.dataset.live, { name: "nightdesk-live" });
  port.addEventListener("message", ({ data }) => {
    if (data.kind === "step") window.seen.push(data.id);
  });
  port.start();`;

const untilSeen = async (page: Page, ids: readonly unknown[]): Promise<void> => {
  // Asked from here: what a page evaluates later by itself is kept from it by the page's own policy.
  await eventually("the page has each event", async () => {
    return (await page.evaluate<number>("window.seen.length")) >= ids.length;
  });
};
