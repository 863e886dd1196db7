import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { BrowserContextOptions, Page } from "playwright-core";
import { announceEvents } from "../../../src/shared/store/jobs/batches.ts";
import { queueAdHoc } from "../../../src/shared/store/jobs/queue-ad-hoc.ts";
import { waitForReview } from "../../support/waiting-review.ts";
import { rowsOf } from "../../producer/desk.ts";
import { describeInBrowser, overflowOf } from "./open-browser.ts";
import { openSample } from "./sample-desk.ts";
import type { SampleDesk } from "./sample-desk.ts";

/** What Tab comes to. */
type Stop = {
  readonly name: string;
  readonly outline: string;
  readonly isSeen: boolean;
  /** Its place among what it should come to. */
  readonly at: number;
};
/** One radio button of a group, and nothing that is folded or off. */
const STOPS = `
  [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
    .filter((each) => !each.disabled && each.checkVisibility())
    .filter((each, _, all) => {
      const group = all.filter(({ type, name, form }) => type === "radio" && name === each.name && form === each.form);
      return each.type !== "radio" || each === (group.find(({ checked }) => checked) ?? group[0]);
    })`;
const WATCH = `
  window.stops = [];
  addEventListener("focusin", ({ target }) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    const { right, width } = target.getBoundingClientRect();
    const outline = outlineStyle === "none" ? "none" : outlineWidth;
    const name = target.outerHTML.slice(0, 90);
    window.stops.push({ name, outline, isSeen: right > 0 && width > 0, at: ${STOPS}.indexOf(target) });
  });
  ${STOPS}.length`;
/** Of what is wider than the page, what has no scroller of its own. */
const WIDE = `
  [...document.querySelectorAll("main *, header *, footer *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && each.closest(".scroll, pre, .unseen, .skip") === null)
    .map((each) => each.outerHTML.slice(0, 120))`;

/** Presses Tab once more than there is something to come to: then the focus has left the page, or begins anew. */
async function walk(page: Page): Promise<readonly Stop[]> {
  const wanted = await page.evaluate<number>(WATCH);
  for (let presses = 0; presses <= wanted; presses += 1) await page.keyboard.press("Tab");
  const stops = await page.evaluate<readonly Stop[]>("window.stops");
  const isLeft = await page.evaluate<boolean>(
    `document.activeElement === document.body || document.activeElement === ${STOPS}[0]`,
  );
  expect([page.url(), isLeft]).toEqual([page.url(), true]);
  expect(stops.slice(0, wanted).map(({ at }) => at)).toEqual(
    Array.from({ length: wanted }, (_, at) => at),
  );
  return stops;
}

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press("Tab");
    const words = await page.evaluate<string>(
      "[document.activeElement.ariaLabel, document.activeElement.labels?.[0]?.innerText, document.activeElement.innerText].join(' ')",
    );
    if (name.test(words)) return;
  }
  throw new Error(`Tab never comes to ${String(name)}`);
}

describeInBrowser("the dashboard without a mouse", () => {
  let sample: SampleDesk;
  let paths: readonly string[];
  const commandEnd = { code: 0, stdout: "", stderr: "" };
  beforeAll(async () => {
    sample = await openSample({ commandEnd });
    await sample.desk.db.query(
      `insert into nightdesk_data.schedules (name, origin, cron, timezone, command, catch_up, enabled)
       values ('nightly', 'set', '0 1 * * *', 'UTC', '{index}', '12h', false)`,
    );
    await askAbout("shown");
    paths = [
      ...["/", "/start", "/inbox", "/index", "/schedules", "/sql"],
      `/batches/${sample.batch}`,
      `/runs/${sample.jobs.get("brakes") ?? ""}`,
    ];
  });
  afterAll(() => sample.close());

  const askAbout = (draft: string): Promise<string> => waitForReview(sample.desk.db, { draft });
  const reviewOf = async (job: string) =>
    (
      await rowsOf(
        sample.desk.db,
        "select state, correction, reason from nightdesk_data.draft_reviews where job_id = $1",
        [job],
      )
    )[0];

  test("Tab comes to each thing of a page in the order in which it stands, shows where it is, and leaves it", async () => {
    const page = await sample.open("/");
    for (const path of paths) {
      await page.goto(new URL(path, sample.desk.url).href);
      const unseen = (await walk(page)).filter(
        ({ outline, isSeen }) => outline !== "2px" || !isSeen,
      );
      expect([path, unseen]).toEqual([path, []]);
    }
    await page.context().close();
  }, 120_000);

  test("the first Tab and Enter go over the menu to what the page says", async () => {
    const page = await sample.open("/batches");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(
      await page.evaluate("document.querySelector('main').contains(document.activeElement)"),
    ).toBe(true);
    await page.context().close();
  });

  test("a question is asked by Tab and Enter from any page", async () => {
    const page = await sample.open("/schedules");
    const queued = await queueAdHoc(sample.desk.db, { kind: "ask", question: "And by keys?" });
    commandEnd.stdout = JSON.stringify({
      ...{ ok: true, job_id: queued.jobId, batch_id: queued.batchId },
    });
    await tabTo(page, /Ask a question/);
    await page.keyboard.type("And by keys?");
    await page.keyboard.press("Enter");
    await page.getByText("waits for a worker").waitFor();
    expect(sample.desk.commands.at(-1)?.[0]).toBe("ask");
    await page.context().close();
  });

  test("what has the focus keeps it when the page is brought up to date", async () => {
    await queueAdHoc(sample.desk.db, { kind: "ask", question: "Something old?" });
    const page = await sample.open("/batches");
    await page.getByText("Up to date").waitFor();
    await tabTo(page, /^\s*Asked/);
    await page.evaluate("document.querySelector('main').firstElementChild.id = 'before'");
    await queueAdHoc(sample.desk.db, { kind: "ask", question: "Something new?" });
    await announceEvents(sample.desk.db);
    await page.waitForSelector("#before", { state: "detached" });
    expect(await page.evaluate("document.activeElement.localName")).toBe("summary");
    await page.context().close();
  });

  describe("an answer that waits", () => {
    test("is corrected by Tab and Enter", async () => {
      const job = await askAbout("24 minutes");
      const page = await sample.open(`/inbox`);
      await page.evaluate(`document.getElementById("r-${job}").focus()`);
      await tabTo(page, /^\s*Decide/);
      await page.keyboard.press("Enter");
      await tabTo(page, /Answer in your own words/);
      await page.keyboard.type("25 minutes");
      await tabTo(page, /2 Correct/);
      await page.keyboard.press("Enter");
      await page.getByText("The answer is corrected").waitFor();
      expect(await reviewOf(job)).toMatchObject({ state: "corrected", correction: "25 minutes" });
      await page.context().close();
    });

    test("is not accepted by Enter behind the reason why it is rejected", async () => {
      const job = await askAbout("26 minutes");
      const page = await sample.open("/inbox");
      await page.evaluate(`document.getElementById("r-${job}").focus()`);
      await page.keyboard.press("4");
      expect(await page.evaluate("document.activeElement.value")).toBe("4");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.type("wrong figure");
      await page.keyboard.press("Enter");
      expect(await reviewOf(job)).toMatchObject({ state: "waiting" });
      await tabTo(page, /4 Reject/);
      await page.keyboard.press("Enter");
      await page.getByText("The answer is rejected").waitFor();
      expect(await reviewOf(job)).toMatchObject({ state: "rejected", reason: "wrong figure" });
      await page.context().close();
    });
  });

  // 1,280 pixels at 200 %, and WCAG 1.4.10.
  test.each<[string, BrowserContextOptions]>([
    ["at 200 %", { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
    ["on 320 pixels", { viewport: { width: 320, height: 256 } }],
  ])(
    "%s nothing but a table in its own scroller goes over the edge",
    async (_, options) => {
      const page = await sample.open("/", options);
      for (const path of paths) {
        await page.goto(new URL(path, sample.desk.url).href);
        await page.evaluate(
          "for (const each of document.querySelectorAll('details')) each.open = true",
        );
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
        expect([path, await page.evaluate(WIDE)]).toEqual([path, []]);
      }
      await page.context().close();
    },
    120_000,
  );
});
