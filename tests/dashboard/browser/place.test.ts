import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { openMarkedPage, WORDS } from "../marked-page.ts";
import { describeInBrowser, openBrowser, overflowOf, violationsOf } from "./open-browser.ts";

describeInBrowser("a page with its marks in a browser", () => {
  let marked: Awaited<ReturnType<typeof openMarkedPage>>;
  let browser: Browser;
  beforeAll(async () => {
    marked = await openMarkedPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await marked.close();
  });

  /** Without scripts. */
  async function open(width: number): Promise<Page> {
    const viewport = { width, height: 800 };
    const context = await browser.newContext({ viewport, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(new URL(`/runs/${marked.runId}`, marked.desk.url).href);
    await page.getByRole("link", { name: "Show on its page" }).click();
    await page.getByRole("img", { name: WORDS }).waitFor();
    return page;
  }

  test.each([400, 1_280])(
    "the mark lies on its words and is in sight at %d pixels",
    async (width) => {
      const page = await open(width);
      const [image, mark] = await Promise.all([
        page.locator("figure img").boundingBox(),
        page.locator("#place-mark").boundingBox(),
      ]);
      if (image === null || mark === null) throw new Error("the page is not drawn");
      expect(image.height / image.width).toBeCloseTo(842 / 595, 1);
      // The words begin 120 points from the left, 300 above the lower edge.
      expect((mark.x - image.x) / image.width).toBeCloseTo(119 / 595, 2);
      expect((mark.y + mark.height - image.y) / image.height).toBeCloseTo((842 - 297) / 842, 2);
      expect(mark.y).toBeGreaterThan(0);
      expect(mark.y + mark.height).toBeLessThan(800);
      await page.context().close();
    },
  );

  test.each([400, 1_280])(
    "its size is chosen by keys, and nothing reaches over %d pixels",
    async (width) => {
      const page = await open(width);
      const widthOf = async (): Promise<number> =>
        (await page.locator(".sheet").boundingBox())?.width ?? 0;
      const full = await widthOf();
      await page.getByRole("radio", { name: "Full width" }).focus();
      await page.keyboard.press("ArrowRight");
      expect(await widthOf()).toBeCloseTo(full * 2, -1);
      await page.getByText("Whole page").click();
      expect((await page.locator("figure img").boundingBox())?.height).toBeLessThan(800);
      await page.context().close();
      const scripted = await (
        await browser.newContext({ viewport: { width, height: 800 } })
      ).newPage();
      await scripted.goto(new URL(`/runs/${marked.runId}/statements/1`, marked.desk.url).href);
      expect(await overflowOf(scripted)).toBeLessThanOrEqual(0);
      expect(await violationsOf(scripted)).toEqual([]);
      await scripted.context().close();
    },
  );
});
