import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeInBrowser } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

describeInBrowser("what documents try in a browser", () => {
  let sample: SampleDesk;
  beforeAll(async () => {
    sample = await openSample();
  });
  afterAll(() => sample.close());

  test("a document that tries scripts, images, styles and links gets nothing", async () => {
    const page = await sample.open("/");
    const outside: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(sample.desk.url)) outside.push(request.url());
    });
    for (const path of [`/batches/${sample.batch}`, `/runs/${sample.jobs.get("hostile") ?? ""}`]) {
      await page.goto(new URL(path, sample.desk.url).href);
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(await page.locator("main img, main style, main script").count()).toBe(0);
      expect(await page.locator('main a[href^="javascript"]').count()).toBe(0);
      expect(await page.locator("main").isVisible()).toBe(true);
    }
    expect(outside).toEqual([]);
    await page.context().close();
  });
});
