import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { settleOutcome } from "../../../src/shared/job/settlement.ts";
import { announceEvents } from "../../../src/shared/store/jobs/batches.ts";
import { reportProgress } from "../../../src/shared/store/jobs/claim-job.ts";
import { queueAdHoc } from "../../../src/shared/store/jobs/queue-ad-hoc.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { answered, claimNext, EMPTY_RECORD, MADE_WITH } from "../../conformance/jobs.ts";
import { openDesk } from "../open-desk.ts";
import type { TestDesk } from "../open-desk.ts";
import { describeInBrowser, openBrowser, overflowOf, violationsOf } from "./open-browser.ts";

describeInBrowser("a question in the browser", () => {
  let browser: Browser;
  let desk: TestDesk;
  const commandEnd = { code: 0, stdout: "", stderr: "" };
  beforeAll(async () => {
    [browser, desk] = await Promise.all([openBrowser(), openDesk({ commandEnd })]);
  });
  afterAll(async () => {
    await browser.close();
    await desk.close();
  });

  /** What the command would have queued, and a worker claims. */
  async function queue(question: string): Promise<string> {
    const queued = await queueAdHoc(desk.db, { kind: "ask", question });
    const { jobId: job_id, batchId: batch_id } = queued;
    commandEnd.stdout = JSON.stringify({ ok: true, job_id, batch_id });
    return job_id;
  }
  const step = async (runId: string, steps: readonly string[]): Promise<void> => {
    await reportProgress(desk.db, runId, { step: steps.at(-1), steps });
    await announceEvents(desk.db);
  };
  const settle = async (runId: string, answer: string): Promise<void> => {
    const run = { runId, runMs: 5, ...MADE_WITH };
    await settleRun(desk.db, run, settleOutcome(answered(answer)), EMPTY_RECORD);
    await announceEvents(desk.db);
  };

  test("goes from the field of any page to its steps and its answer, without a reload", async () => {
    const context = await browser.newContext({ viewport: { width: 400, height: 800 } });
    const page = await context.newPage();
    await page.goto(new URL("/index", desk.url).href);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const jobId = await queue("What is the rent?");
    await page.getByLabel("Ask a question").fill("What is the rent?");
    await page.keyboard.press("Enter");
    await page.getByText("waits for a worker").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.evaluate("window.isSamePage = true");
    const { runId } = await claimNext(desk.db, jobId);
    await step(runId, ["classifies the question", `reads ${"very-long-name-".repeat(12)}.pdf`]);
    await page.getByText("reads very-long-name").first().waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    // Somebody begins the next question meanwhile.
    await page.getByLabel("Ask a question").fill("And the dep");
    await settle(runId, "The rent is 900 EUR.");
    await page.getByText("The rent is 900 EUR.").waitFor();
    expect(await page.getByText("Not answered yet").count()).toBe(0);
    expect(await page.getByLabel("Ask a question").inputValue()).toBe("And the dep");
    expect(await page.evaluate("window.isSamePage")).toBe(true);
    expect(await page.evaluate("document.body.dataset.updates")).toBe("still");
    await page.getByText("Ask a follow-up").click();
    expect(await page.getByRole("checkbox", { name: /Carry along/ }).isChecked()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await context.close();
  });

  test("comes to its answer without script", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(desk.url);
    const jobId = await queue("And without?");
    await page.getByLabel("Ask a question").fill("And without?");
    await page.keyboard.press("Enter");
    await page.getByText("waits for a worker").waitFor();
    const { runId } = await claimNext(desk.db, jobId);
    await settle(runId, "It is the same.");
    await page.getByText("It is the same.").waitFor();
    await context.close();
  });
});
