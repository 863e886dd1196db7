import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { BrowserContextOptions } from "playwright-core";
import { describeInBrowser, outsideOf, overflowOf, violationsOf } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

const MOST_BYTES = 60_000;

describeInBrowser("the pages of the dashboard", () => {
  let sample: SampleDesk;
  beforeAll(async () => {
    sample = await openSample();
  });
  afterAll(() => sample.close());

  test.each<[string, BrowserContextOptions]>([
    ["phone", { viewport: { width: 400, height: 800 } }],
    ["tablet", { viewport: { width: 800, height: 900 } }],
    ["wide and dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
  ])(
    "is read on a %s without violations of axe and without moving sideways",
    async (_, options) => {
      const page = await sample.open("/", options);
      const paths = [
        "/",
        "/batches",
        "/start",
        "/inbox",
        "/audit",
        "/index",
        "/schedules",
        "/health",
        "/sql",
        `/batches/${sample.batch}`,
        `/batches/${sample.batch}/retry`,
        `/batches/${sample.batch}/fields`,
        `/runs/${sample.jobs.get("brakes") ?? ""}`,
      ];
      for (const path of paths) {
        await page.goto(new URL(path, sample.desk.url).href);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
        expect([path, await violationsOf(page)]).toEqual([path, []]);
        expect([path, await outsideOf(page)]).toEqual([path, []]);
        expect((await page.content()).length).toBeLessThan(MOST_BYTES);
      }
      await page.context().close();
    },
  );
});
