import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeInBrowser } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

describeInBrowser("results and runs in a browser", () => {
  let sample: SampleDesk;
  beforeAll(async () => {
    sample = await openSample();
  });
  afterAll(() => sample.close());

  test("filters the results of a batch", async () => {
    const page = await sample.open(`/batches/${sample.batch}`);
    await page.locator("select[name=state]").selectOption("refused");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/state=refused/);
    await page.getByRole("link", { name: "gone", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "brakes", exact: true }).count()).toBe(0);
    await page.getByText("FILE_NOT_FOUND").first().click();
    await page.context().close();
  });

  test("shows a statement beside the lines that carry it, with their numbers", async () => {
    const page = await sample.open(`/runs/${sample.jobs.get("brakes") ?? ""}`);
    expect(await page.locator("h1").textContent()).toContain("How often are brakes bled?");
    const side = page.locator(".side");
    expect(await side.locator(".claim").textContent()).toContain("once a year");
    const carried = await side.locator(".carries").allTextContents();
    expect(carried).toEqual(["11Bleed the brakes once a year."]);
    const [claim, passage] = await Promise.all([
      side.locator(".claim").boundingBox(),
      side.locator(".passage").boundingBox(),
    ]);
    expect(passage?.x).toBeGreaterThan((claim?.x ?? 0) + (claim?.width ?? 0) - 1);
    await page.context().close();
  });
});
