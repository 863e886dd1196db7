import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { parseDeadline } from "../../../src/producer/commands/options.ts";
import { formatMoment } from "../../../src/shared/views/quantity.ts";
import { setDefaultWindows } from "../../../src/shared/store/jobs/holds.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, failed, refused, workByHand } from "../work-by-hand.ts";

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const windowAround = (from: number, to: number): string =>
  `${[from, to].map((minutes) => inMinutes(minutes).toISOString().slice(11, 16)).join("-")} UTC`;
const CLOSED_NOW = windowAround(60, 120);

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterEach(async () => {
  await desk.database.query("delete from nightdesk_data.batches");
  await setDefaultWindows(desk.database, []);
});
afterAll(() => desk.dispose());

async function queue(name: string, count: number, ...flags: readonly string[]) {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ custom_id: `q${n}`, kind: "ask", question: `What of ${n}?` }),
  );
  const file = await desk.write(`${name}.jsonl`, lines.join("\n"));
  return desk.run("enqueue", file, "--batch-name", name, ...flags);
}
const shown = async (name: string) =>
  JSON.parse((await desk.run("batch", "show", name, "--json")).stdout) as Record<string, unknown>;

describe("batch pause and resume", () => {
  test("hold a batch and let it go on, and say what to run next", async () => {
    await queue("tonight", 2);
    const paused = await desk.run("batch", "pause", "tonight");
    expect(paused).toMatchObject({ code: 0, stdout: "" });
    expect(paused.stderr).toBe(
      'Batch "tonight" is paused: 2 queued.\nTo go on: nightdesk batch resume "tonight"\n',
    );
    expect((await desk.run("batch", "pause", "tonight")).stderr).toContain("was paused already");
    const show = await desk.run("batch", "show", "tonight");
    expect(show.stdout).toContain(
      'state     held: paused\n          to go on: nightdesk batch resume "tonight"\n',
    );
    expect((await desk.run("batch", "wait", "tonight", "--no-hold")).code).toBe(75);
    const resumed = await desk.run("batch", "resume", "tonight", "--json");
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: "queued", hold_reason: null });
    expect(resumed.stderr).toBe('Batch "tonight" was resumed: 2 queued.\n');
    expect((await desk.run("batch", "resume", "tonight")).stderr).toContain("was not paused");
  });

  test("of a batch that has ended change nothing and say so", async () => {
    await queue("over", 1);
    await desk.run("batch", "cancel", "over");
    expect((await desk.run("batch", "pause", "over")).stderr).toBe(
      'Batch "over" is cancelled already; there is nothing to pause.\n',
    );
    expect((await desk.run("batch", "resume", "over")).stderr).toBe(
      'Batch "over" was not paused: it is cancelled.\n',
    );
  });

  test("of a name that is not there suggest the one that was meant", async () => {
    await queue("tonight", 1);
    for (const command of ["pause", "resume", "retry"]) {
      const ran = await desk.run("batch", command, "tonigth");
      expect(ran).toMatchObject({ code: 1 });
      expect(ran.stderr).toContain('did you mean "tonight"?');
    }
  });
});

describe("batch list", () => {
  const list = async (...flags: readonly string[]) => {
    const { stdout, stderr } = await desk.run("batch", "list", "--json", ...flags);
    const batches = (JSON.parse(stdout) as { batch: string }[]).map(({ batch }) => batch);
    return { batches, stderr };
  };

  test("leaves single jobs out and counts them, and out of JSON too; --all lists them", async () => {
    await queue("older", 1);
    for (let question = 0; question < 3; question++) await desk.run("ask", `Number ${question}?`);
    await queue("newer", 2);
    const text = await desk.run("batch", "list");
    expect(text.stdout.match(/^(?:older|newer|ask) /gm)).toEqual(["newer ", "older "]);
    expect(text.stderr).toBe(
      "3 batches of a single job, such as a question, are not listed; --all lists them, too.\n",
    );
    expect(await list()).toEqual({ batches: ["newer", "older"], stderr: "" });
    // The single jobs between take none of the places.
    expect(await list("--limit", "2")).toMatchObject({ batches: ["newer", "older"] });
    const all = await list("--all");
    expect(all.batches).toEqual([
      "newer",
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^ask /)),
      "older",
    ]);
    expect(all.stderr).toBe("");
  });

  test("of nothing but single jobs says where they are", async () => {
    await desk.run("ask", "Alone?");
    const { stdout, stderr } = await desk.run("batch", "list");
    expect(stdout).toBe("");
    expect(stderr).toBe(
      "1 batch of a single job, such as a question, is not listed; --all lists it, too.\n",
    );
  });
});

describe("windows", () => {
  test("of enqueue hold the batch, and batch set lets it run", async () => {
    await queue("night", 1, "--windows", CLOSED_NOW, "--windows", windowAround(180, 240));
    expect(await shown("night")).toMatchObject({ state: "held", hold_reason: "window" });
    const text = (await desk.run("batch", "show", "night")).stdout;
    expect(text).toMatch(/state {5}held: window, until .+Z\)?\n/);
    expect(text).toContain('to run it now: nightdesk batch set "night" --no-windows');
    expect(text).toContain(`windows   ${CLOSED_NOW}, `);
    const list = (await desk.run("batch", "list")).stdout;
    expect(list).toContain("held: window, until");
    expect(await desk.run("batch", "set", "night", "--no-windows")).toMatchObject({
      code: 0,
      stderr: 'Batch "night" runs at any time, has no deadline, has priority 0.\n',
    });
    expect(await shown("night")).toMatchObject({ state: "queued", windows: [] });
  });

  test("of the desk hold what nobody waits for; --now and --wait do without", async () => {
    await setDefaultWindows(desk.database, [CLOSED_NOW]);
    await queue("held", 1);
    await queue("at-once", 1, "--now");
    expect(await shown("held")).toMatchObject({ state: "held", windows: [CLOSED_NOW] });
    expect(await shown("at-once")).toMatchObject({ state: "queued", windows: [] });
    await desk.run("ask", "What of it?");
    const asked = desk.run("ask", "What now?", "--wait");
    await workByHand(desk.database, 2, () => answered("this"));
    expect((await asked).code).toBe(0);
    const later = await rowsOf(
      desk.database,
      "select batch from nightdesk.batch_progress where state = 'held' and batch like 'ask %'",
    );
    expect(later).toHaveLength(1);
  });

  test("that nobody can read are refused with what was expected", async () => {
    const ran = await queue("bad", 1, "--windows", "22-6 Berlin");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(
      '--windows "22-6 Berlin" is no window; expected times and a zone like "22:00-06:00 Europe/Berlin"',
    );
    expect((await queue("bad", 1, "--windows", CLOSED_NOW, "--now")).stderr).toContain(
      "leave --windows or --now away",
    );
    expect(await rowsOf(desk.database, "select from nightdesk_data.batches")).toEqual([]);
  });

  test("hold a single job whose batch was paused: 75, with what to do", async () => {
    const waiting = desk.run("ask", "What now?", "--wait");
    for (let found: unknown[] = []; found.length === 0;) {
      found = await rowsOf(
        desk.database,
        "update nightdesk_data.batches set paused_at = now(), hold_reason = 'paused' where state = 'open' returning 1",
      );
    }
    const ran = await waiting;
    expect(ran.code).toBe(75);
    expect(ran.stderr).toMatch(
      /^The batch is held: paused\.\nTo go on: nightdesk batch resume "ask .+"\nIt stays queued\./,
    );
  });
});

describe("batch set", () => {
  test("changes windows, deadline and priority, and says what is in force", async () => {
    await queue("night", 1, "--priority", "-7", "--deadline", "8h");
    expect(await shown("night")).toMatchObject({ priority: -7 });
    const set = await desk.run(
      ...["batch", "set", "night", "--priority", "5", "--deadline", "none"],
      ...["--windows", "00:00-24:00 UTC", "--json"],
    );
    expect(JSON.parse(set.stdout)).toMatchObject({
      priority: 5,
      deadline_at: null,
      windows: ["00:00-24:00 UTC"],
      state: "queued",
    });
    const back = await desk.run("batch", "set", "night", "--windows", "desk");
    expect(back.stderr).toBe('Batch "night" runs at any time, has no deadline, has priority 5.\n');
  });

  test("without anything to set, or of a batch that has ended, says what to do", async () => {
    await queue("over", 1);
    expect((await desk.run("batch", "set", "over")).code).toBe(2);
    await desk.run("batch", "cancel", "over");
    const ran = await desk.run("batch", "set", "over", "--priority", "1");
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(
      'nightdesk batch retry "over"; what was refused by: nightdesk batch rerun "over" --refused',
    );
    expect((await desk.run("batch", "set", "over", "--priority", "101")).stderr).toContain(
      "expected a whole number from -100 to 100",
    );
  });

  test("goes by the later of --no-windows and --windows", async () => {
    await queue("night", 1);
    const both = ["--no-windows", "--windows", CLOSED_NOW];
    expect((await desk.run("batch", "set", "night", ...both)).code).toBe(0);
    expect(await shown("night")).toMatchObject({ state: "held", windows: [CLOSED_NOW] });
    await desk.run("batch", "set", "night", ...both.slice(1), "--no-windows");
    expect(await shown("night")).toMatchObject({ state: "queued", windows: [] });
  });

  test("is done by enqueue for a batch that is there already", async () => {
    await queue("night", 1);
    await queue("night", 2, "--priority", "3");
    expect(await shown("night")).toMatchObject({ priority: 3, total: 2 });
  });
});

describe("batch retry", () => {
  test("queues what failed again, keeps successes and refusals, and opens the batch", async () => {
    await queue("night", 3);
    await workByHand(desk.database, 3, (job) =>
      job.customId === "q0" ? answered("yes") : job.customId === "q1" ? refused : failed,
    );
    const retried = await desk.run("batch", "retry", "night", "--json");
    expect(JSON.parse(retried.stdout)).toMatchObject({
      retried: 1,
      state: "running",
      succeeded: 1,
      refused: 1,
      queued: 1,
    });
    expect(retried.stderr).toContain(
      'Queued 1 job of "night" again: 1 queued, 1 succeeded, 1 refused.',
    );
    await workByHand(desk.database, 1, () => answered("at last"));
    expect(await shown("night")).toMatchObject({ state: "completed", succeeded: 2 });
    expect((await desk.run("batch", "retry", "night")).stderr).toBe(
      'Batch "night" has no failed job; the refused (1) run again by nightdesk batch rerun "night" --refused.\n',
    );
  });

  test("names the states that hold something, and why a refusal is not among them", async () => {
    await queue("night", 2);
    await desk.run("batch", "cancel", "night");
    expect((await desk.run("batch", "retry", "night")).stderr).toBe(
      'Batch "night" has no failed job; --cancelled retries 2.\n',
    );
    const ran = await desk.run("batch", "retry", "night", "--refused");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('nightdesk batch rerun "night" --refused');
    expect((await desk.run("batch", "retry", "night", "--cancelled")).stderr).toContain(
      'Queued 2 jobs of "night" again',
    );
  });
});

test("small files of a batch go first: their sizes are looked up when they are queued", async () => {
  await desk.write("allowed/corpus/small.md", "x");
  await desk.write("allowed/corpus/large.md", "x".repeat(1_000));
  const path = (name: string) => ({ kind: "summarize", path: `allowed/corpus/${name}.md` });
  const lines = ["large", "small", "missing"].map((name) => ({ custom_id: name, ...path(name) }));
  const outside = { custom_id: "outside", kind: "summarize", path: "../../../etc/hostname" };
  const file = await desk.write(
    "files.jsonl",
    [...lines, outside].map((line) => JSON.stringify(line)).join("\n"),
  );
  await desk.run("enqueue", file, "--batch-name", "files");
  expect(
    await rowsOf(
      desk.database,
      "select custom_id, size::int from nightdesk_data.jobs order by seq",
    ),
  ).toEqual([
    { custom_id: "large", size: 1_000 },
    { custom_id: "small", size: 1 },
    { custom_id: "missing", size: 0 },
    { custom_id: "outside", size: 0 },
  ]);
});

describe("a deadline", () => {
  const now = new Date("2026-11-21T21:30:00Z");
  test.each([
    ["8h", "2026-11-22T05:30:00.000Z"],
    ["90min", "2026-11-21T23:00:00.000Z"],
    ["2d", "2026-11-23T21:30:00.000Z"],
    ["06:00", "2026-11-22T05:00:00.000Z"],
    ["22:45", "2026-11-21T21:45:00.000Z"],
    ["06:00 America/New_York", "2026-11-22T11:00:00.000Z"],
    ["2026-11-22T06:00", "2026-11-22T05:00:00.000Z"],
    ["2026-11-22T06:00:00Z", "2026-11-22T06:00:00.000Z"],
  ])("of %s is %s", (text, expected) => {
    expect(parseDeadline(text, now, "Europe/Berlin").toISOString()).toBe(expected);
  });

  test("in an hour that is skipped is when the clocks go on, and in one that occurs twice the first", () => {
    const before = (day: string) => new Date(`${day}T20:00:00Z`);
    const at = (day: string) => parseDeadline("02:30", before(day), "Europe/Berlin").toISOString();
    expect(at("2026-03-28")).toBe("2026-03-29T01:00:00.000Z");
    expect(at("2026-10-24")).toBe("2026-10-25T00:30:00.000Z");
  });

  test.each([
    ["soon", "is no time; expected a duration like 8h"],
    ["25:00", "is no time"],
    ["2026-11-21T06:00:00Z", "has passed already"],
    ["06:00 Berlin", 'names the zone "Berlin"'],
  ])("of %s is refused", (text, expected) => {
    expect(() => parseDeadline(text, now, "Europe/Berlin")).toThrow(expected);
  });

  test("is said as the clocks here show it, and in UTC", () => {
    const time = new Date("2026-11-22T05:00:00Z");
    expect(formatMoment(time, "Europe/Berlin")).toBe("2026-11-22 06:00 CET (2026-11-22 05:00:00Z)");
    expect(formatMoment(time, "UTC")).toBe("2026-11-22 05:00:00Z");
  });
});
