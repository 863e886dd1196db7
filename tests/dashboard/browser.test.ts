import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { announceEvents } from "../../src/shared/store/jobs/announce.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { askAbout, investigationsOf } from "../support/waiting-investigations.ts";
import { describeInBrowser, openBrowser, overflowOf, violationsOf } from "./open-browser.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const HOSTILE = `<script>window.hacked=1</script><img src="/x" onerror="window.hacked=2"><style>main{display:none}</style><a href="javascript:window.hacked=3">tap</a>`;

describeInBrowser("the dashboard in a browser", () => {
  let desk: TestDesk;
  let browser: Browser;
  let batch: string;
  let jobs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    desk = await openDesk();
    browser = await openBrowser();
    jobs = await insertFinishedBatch(desk.db, {
      name: "evening",
      jobs: [
        {
          customId: "brakes",
          input: { kind: "ask", question: "How often are brakes bled?" },
          answer: "Brakes are bled once a year [1].",
          evidence: [{ path: "notes/brakes.md", lines: [10, 14], sha256: "a".repeat(64) }],
        },
        { customId: "hostile", input: { kind: "ask", question: HOSTILE }, answer: HOSTILE },
        {
          customId: "bill",
          input: { kind: "extract", path: "bills/march.txt" },
          output: { total: 1200.5, vendor: { name: "Harbour Chandlery" }, due: "2026-03-31" },
        },
        {
          customId: "gone",
          input: { kind: "summarize", path: "notes/gone.md" },
          state: "refused",
          code: "FILE_NOT_FOUND",
          message: "notes/gone.md is not there.",
        },
      ],
    });
    const { rows } = await desk.db.query("select batch_id from nightdesk_data.batches");
    batch = (rows[0] as { batch_id: string }).batch_id;
    await insertClaim(desk, jobs.get("brakes") ?? "");
  });
  afterAll(async () => {
    await browser.close();
    await desk.close();
  });

  /** A page in a browser of its own, that reports what it was refused. */
  async function open(path: string, options = {}): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(new URL(path, desk.url).href);
    return page;
  }

  test("shows a run of tonight as it happens, each event once", async () => {
    const page = await open("/");
    await page.getByText("Up to date").waitFor();
    const step = (n: number) => addStep(desk, jobs.get("brakes") ?? "", n, `step_${n}`);
    await step(101);
    await page.getByText("step 101").waitFor();
    await step(102);
    await page.getByText("step 102").waitFor();
    const lines = await page.locator("#activity li").allTextContents();
    expect(lines.map((line) => /step \d+/.exec(line)?.[0])).toEqual(["step 102", "step 101"]);
    // A batch that comes while the page is open stands on it without a reload.
    await insertFinishedBatch(desk.db, {
      name: "late batch",
      jobs: [{ customId: "one", input: { kind: "ask", question: "One?" }, answer: "One." }],
    });
    await announceEvents(desk.db);
    await page.getByRole("link", { name: "late batch" }).waitFor();
    await page.context().close();
  });

  test("filters the results of a batch", async () => {
    const page = await open(`/batches/${batch}`);
    await page.locator("select[name=state]").selectOption("refused");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/state=refused/);
    await page.getByRole("link", { name: "gone", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "brakes", exact: true }).count()).toBe(0);
    await page.getByText("FILE_NOT_FOUND").first().click();
    await page.context().close();
  });

  test("an update leaves what is chosen in a form and not sent yet", async () => {
    const page = await open("/batches");
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
    await page.goto(new URL(`/batches/${batch}`, desk.url).href);
    await isAsked;
    await page.evaluate("document.querySelector('[data-batch]').dataset.old = ''");
    // Without focus, as after a tap beside the form.
    await page.locator("select[name=state]").selectOption("refused");
    release();
    await page.locator("[data-batch]:not([data-old])").waitFor();
    expect(await page.locator("select[name=state]").inputValue()).toBe("refused");
    await page.context().close();
  });

  test("shows a statement beside the lines that carry it, with their numbers", async () => {
    const page = await open(`/runs/${jobs.get("brakes") ?? ""}`);
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

  test("a decision is taken by keyboard alone, and written down", async () => {
    const { jobIds } = await investigationsOf(desk.db, "look", 1);
    expect(await askAbout(desk.db, jobIds[0] ?? "")).toBe("waiting");
    const page = await open("/inbox");
    await page.keyboard.press("j");
    await page.keyboard.press("4");
    await page.getByLabel(/^Reason/).waitFor();
    await page.keyboard.type("not tonight");
    await page.keyboard.press("Enter");
    await page.getByText(/^Denied:/).waitFor();
    const { rows } = await desk.db.query(
      "select verdict, reason, decided_by from nightdesk_data.decisions",
    );
    expect(rows).toEqual([{ verdict: "deny", reason: "not tonight", decided_by: "ada" }]);
    await page.context().close();
  });

  test("a document that tries scripts, images, styles and links gets nothing", async () => {
    const page = await open("/");
    const outside: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(desk.url)) outside.push(request.url());
    });
    for (const path of [`/batches/${batch}`, `/runs/${jobs.get("hostile") ?? ""}`]) {
      await page.goto(new URL(path, desk.url).href);
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(await page.locator("main img, main style, main script").count()).toBe(0);
      expect(await page.locator('main a[href^="javascript"]').count()).toBe(0);
      expect(await page.locator("main").isVisible()).toBe(true);
    }
    expect(outside).toEqual([]);
    await page.context().close();
  });

  test.each([
    ["phone", { viewport: { width: 400, height: 800 } }],
    ["tablet", { viewport: { width: 800, height: 900 } }],
    ["wide and dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
  ])(
    "is read on a %s without violations of axe and without moving sideways",
    async (_, options) => {
      const page = await open("/", options);
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
        `/batches/${batch}`,
        `/batches/${batch}/retry`,
        `/batches/${batch}/fields`,
        `/runs/${jobs.get("brakes") ?? ""}`,
      ];
      for (const path of paths) {
        await page.goto(new URL(path, desk.url).href);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
        expect([path, await violationsOf(page)]).toEqual([path, []]);
      }
      await page.context().close();
    },
  );
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

/** A statement that line 11 of an indexed file carries. */
async function insertClaim(desk: TestDesk, jobId: string): Promise<void> {
  const text = Array.from({ length: 20 }, (_, at) =>
    at === 10 ? "Bleed the brakes once a year." : `Line ${at + 1}.`,
  ).join("\n");
  await desk.db.query(
    `with d as (
       insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
                                             metadata_state, chunk_settings)
       values ('corpus', 'notes/brakes.md', $2, 400, 400, 0, 0, 0, 0, true, 'absent', 'none') returning doc_id)
     insert into nightdesk_data.chunks (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text, sha256, terms)
     select doc_id, left($2, 32), 0, 0, $3, 1, 20, $1, $2, 0 from d`,
    [text, "a".repeat(64), text.length],
  );
  await desk.db.query(
    `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
            start_char, end_char, line_start, line_end, carrier)
     select run_id, 0, 0, 'Brakes are bled once a year.', '{1}', 'supported', 'kept', 'carried', true, 1, 'notes/brakes.md',
            80, 110, 11, 11, 'Bleed the brakes once a year.' from nightdesk_data.jobs where job_id = $1`,
    [jobId],
  );
}
