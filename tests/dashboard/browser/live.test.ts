import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { announceEvents } from "../../../src/shared/store/jobs/batches.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import type { TestDesk } from "../open-desk.ts";
import { describeInBrowser } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

describeInBrowser("an open page of the dashboard", () => {
  let sample: SampleDesk;
  beforeAll(async () => {
    sample = await openSample();
  });
  afterAll(() => sample.close());

  test("shows a run of tonight as it happens, each event once", async () => {
    const page = await sample.open("/");
    await page.getByText("Up to date").waitFor();
    const step = (n: number) =>
      addStep(sample.desk, sample.jobs.get("brakes") ?? "", n, `step_${n}`);
    await step(101);
    await page.getByText("step 101").waitFor();
    await step(102);
    await page.getByText("step 102").waitFor();
    const lines = await page.locator("#activity li").allTextContents();
    expect(lines.map((line) => /step \d+/.exec(line)?.[0])).toEqual(["step 102", "step 101"]);
    // A batch that comes while the page is open stands on it without a reload.
    await insertFinishedBatch(sample.desk.db, {
      name: "late batch",
      jobs: [{ customId: "one", input: { kind: "ask", question: "One?" }, answer: "One." }],
    });
    await announceEvents(sample.desk.db);
    await page.getByRole("link", { name: "late batch" }).waitFor();
    await page.context().close();
  });

  test("an update leaves what is chosen in a form and not sent yet", async () => {
    const page = await sample.open("/batches");
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    await page.route("**/batches/**", async (route) => {
      if (route.request().resourceType() === "fetch") {
        asked();
        await released;
      }
      await route.continue();
    });
    await page.goto(new URL(`/batches/${sample.batch}`, sample.desk.url).href);
    await isAsked;
    await page.evaluate("document.querySelector('[data-batch]').dataset.old = ''");
    // Without focus, as after a tap beside the form.
    await page.locator("select[name=state]").selectOption("refused");
    release();
    await page.locator("[data-batch]:not([data-old])").waitFor();
    expect(await page.locator("select[name=state]").inputValue()).toBe("refused");
    await page.context().close();
  });
});

async function addStep(
  desk: TestDesk,
  jobId: string,
  ordinal: number,
  step: string,
): Promise<void> {
  await desk.db.query(
    `insert into nightdesk_data.run_events (run_id, ordinal, step, duration_ms)
     select run_id, $2, $3, 5 from nightdesk_data.jobs where job_id = $1`,
    [jobId, ordinal, step],
  );
  await announceEvents(desk.db);
}
