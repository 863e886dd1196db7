import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { askAbout, investigationsOf } from "../../support/waiting-investigations.ts";
import { describeInBrowser } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

describeInBrowser("the inbox in a browser", () => {
  let sample: SampleDesk;
  beforeAll(async () => {
    sample = await openSample();
  });
  afterAll(() => sample.close());

  test("a decision is taken by keyboard alone, and written down", async () => {
    const { jobIds } = await investigationsOf(sample.desk.db, "look", 1);
    expect(await askAbout(sample.desk.db, jobIds[0] ?? "")).toBe("waiting");
    const page = await sample.open("/inbox");
    await page.keyboard.press("j");
    await page.keyboard.press("4");
    await page.getByLabel(/^Reason/).waitFor();
    await page.keyboard.type("not tonight");
    await page.keyboard.press("Enter");
    await page.getByText(/^Denied:/).waitFor();
    const { rows } = await sample.desk.db.query(
      "select verdict, reason, decided_by from nightdesk_data.decisions",
    );
    expect(rows).toEqual([{ verdict: "deny", reason: "not tonight", decided_by: "ada" }]);
    await page.context().close();
  });
});
