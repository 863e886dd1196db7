import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { widthOf } from "../../src/shared/terminal/styled-text.ts";
import { indexFolder } from "../../bench/index-folder.ts";
import { eventually } from "../conformance/signal.ts";
import { openDesk, pretendWorker, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { answered, SHA256, workByHand } from "./work-by-hand.ts";

const NAMES: Readonly<Record<string, string>> = {
  "32": "green",
  "33": "yellow",
  "31": "red",
  "36": "cyan",
  "90": "gray",
  "39": "/",
};
const DAY = "Kraftwerk Süd, week 47, minutes and logs of the night shift";
const NIGHT = "夜の作業";

const BRAKES = `# Bleeding the brakes

Bleeding is done by two, with fresh fluid of the kind that the cap of the reservoir names, from the wheel that is farthest away to the nearest.
`;

const ANSWER =
  "Bleeding is done by two, with fresh fluid of the kind that the cap of the reservoir names, from the wheel that is farthest away to the nearest [1].";
const NOT_ACQUIRED: Settlement = {
  kind: "refused",
  code: "EVIDENCE_NOT_ACQUIRED",
  message:
    "Nothing that was read answers it; ask for what the documents hold, or name the file that holds it.",
};

let desk: Desk;
/** Ids as they are, and as the tests write them: of the same width, and the same in each run. */
let ids: readonly (readonly [string, string])[];

beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  const model = "granite-tiny:4b-q4";
  await insertFinishedBatch(desk.database, {
    name: DAY,
    createdAt: "2026-07-20T21:00:00Z",
    jobs: [
      {
        customId: "logs/夜の作業日誌/タービン室.md",
        input: { kind: "ask", question: "?" },
        state: "refused",
        code: "EVIDENCE_NOT_ACQUIRED",
        message:
          "Nothing that was read answers it; ask for what the documents hold, or name the file that holds it.",
        model,
      },
      {
        customId: "minutes/2026-07-19-handover-of-the-turbine-hall.md",
        input: { kind: "summarize", path: "a.md" },
        answer: "It ran.",
        model,
      },
      {
        customId: "q3",
        input: { kind: "ask", question: "?" },
        state: "failed",
        code: "MODEL_NOT_FOUND",
        message: "No such model.",
        model,
      },
    ],
  });
  await insertFinishedBatch(desk.database, {
    name: NIGHT,
    createdAt: "2026-11-20T21:00:00Z",
    jobs: [{ customId: "one", input: { kind: "ask", question: "?" }, answer: "yes" }],
  });
  const lines = await desk.write("n.jsonl", '{"kind":"ask","question":"?"}\n');
  await desk.run("enqueue", lines, "--batch-name", "tonight");
  await desk.run("batch", "pause", "tonight");
  await desk.database.query(
    "update nightdesk_data.batches set created_at = '2026-11-21T21:00:00Z' where name = 'tonight'",
  );
  await desk.run("memory", "add", "Answer in German, name the shift.", "--type", "preference");
  await desk.run(
    "schedule",
    "set",
    "nightly-index",
    "--cron",
    "0 1 * * *",
    "--timezone",
    "UTC",
    "--",
    "index",
  );
  await desk.run(
    ...[
      "schedule",
      "set",
      "minutes-of-the-turbine-hall-and-the-switchyard",
      "--cron",
      "30 5 * * 1-5",
    ],
    ...["--timezone", "UTC", "--", "summarize", "allowed/corpus/minutes/**/*.md", "--changed"],
  );
  await desk.run(
    ...["memory", "add", "--type", "user_fact"],
    "The turbine hall is 夜の作業 in the logs of the night shift, and Halle 2 in the minutes of the works council.",
  );
  await desk.database.query(
    `update nightdesk_data.memory
        set created_at = case type when 'user_fact' then '2026-07-19T21:00:00Z' else '2026-11-19T21:00:00Z' end::timestamptz`,
  );
  await mkdir(join(desk.workroot, "corpus"));
  await desk.write("corpus/brakes.md", BRAKES);
  await indexFolder(desk.database, desk.workroot, false);
  const runs = await rowsOf(
    desk.database,
    `select r.run_id as id from nightdesk_data.runs r join nightdesk_data.jobs j using (job_id)
      order by j.seq`,
  );
  // Runs of one moment are listed by their ids.
  await desk.database.query(
    `update nightdesk_data.runs r set started_at = r.started_at - j.seq * interval '1 minute'
       from nightdesk_data.jobs j where j.job_id = r.job_id`,
  );
  const others = await rowsOf(
    desk.database,
    `select batch_id as id from nightdesk_data.batches union all select memory_id from nightdesk_data.memory`,
  );
  ids = [...runs, ...others].map(({ id }, at) => [String(id), String(at + 1).padStart(8, "0")]);
});
afterAll(() => desk.dispose());

const shortened = (text: string): string =>
  ids.reduce((shown, [id, name]) => shown.replaceAll(id.slice(0, 8), name), text);

/** What a command shows on a terminal in Berlin: stdout, then stderr. */
async function screenOf(columns: number, ...words: readonly string[]): Promise<string> {
  const env = { TZ: "Europe/Berlin", TERM: "xterm" };
  const { stdout, stderr } = await desk.runOn({ columns, env }, ...words);
  return shortened(stdout + stderr);
}

/** Colours by their names. */
const withNames = (text: string): string =>
  text.replace(/\u001b\[(\d+)m/g, (_, code: string) => `<${NAMES[code] ?? code}>`);
/** The days of the next runs come and go. */
const withoutDays = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\d(?= 0\d:)/g, "YYYY-MM-DD");
const withoutNames = (text: string): string => text.replace(/<[a-z/]+>/g, "");

/** Compares what is shown with colours and without, and measures it. @returns what is shown, to say more of it */
async function expectScreen(
  columns: number,
  words: readonly string[],
  expected: readonly string[],
  part: (shown: string) => string = (shown) => shown,
): Promise<void> {
  const inColour = part(withNames(await screenOf(columns, ...words)));
  expect(inColour.split("\n")).toEqual([...expected, ""]);
  const plain = part(await screenOf(columns, ...words, "--color", "never"));
  expect(plain).toBe(withoutNames(inColour));
  for (const line of plain.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
}

describe("on a terminal, with colours and without", () => {
  test("batch list cuts names in the middle and loses no column at 80", async () => {
    await expectScreen(
      80,
      ["batch", "list"],
      [
        "batch            state         jobs  of them               created",
        "---------------  ------------  ----  --------------------  ---------------------",
        "tonight          <yellow>held: paused</>     1  1 queued              2026-11-21 22:00 CET",
        "夜の作業         <green>completed</>        1  <green>1 succeeded</>           2026-11-20 22:00 CET",
        "Kraftwe…t shift  <green>completed</>        3  <green>1 succeeded</>, <yellow>1 refu</>…  2026-07-20 23:00 CEST",
      ],
    );
    await expectScreen(
      120,
      ["batch", "list"],
      [
        "batch                                        state         jobs  of them                           created",
        "-------------------------------------------  ------------  ----  --------------------------------  ---------------------",
        "tonight                                      <yellow>held: paused</>     1  1 queued                          2026-11-21 22:00 CET",
        "夜の作業                                     <green>completed</>        1  <green>1 succeeded</>                       2026-11-20 22:00 CET",
        "Kraftwerk Süd, week 4…gs of the night shift  <green>completed</>        3  <green>1 succeeded</>, <yellow>1 refused</>, <red>1 failed</>  2026-07-20 23:00 CEST",
      ],
    );
  });

  test("batch show breaks its sentences between words, and shows times by the clocks here", async () => {
    const head = [
      "batch     Kraftwerk Süd, week 47, minutes and logs of the night shift",
      "id        ID",
      "state     <green>completed</>",
      "jobs      3 jobs: <green>1 succeeded</>, <yellow>1 refused</>, <red>1 failed</>",
      "created   2026-07-20 23:00:00 CEST",
      "finished  2026-07-21 07:00:00 CEST, after 8 h 0 min",
      "",
      "What did not succeed:",
      "  MODEL_NOT_FOUND, <red>1 job failed</>: q3",
      "    No such model.",
      "  EVIDENCE_NOT_ACQUIRED, <yellow>1 job refused</>: logs/夜の作業日誌/タービン室.md",
    ];
    const withoutId = (shown: string) => shown.replace(/^(id {8}).*$/m, "$1ID");
    await expectScreen(
      80,
      ["batch", "show", DAY],
      [
        ...head,
        "    Nothing that was read answers it; ask for what the documents hold, or name",
        "      the file that holds it.",
      ],
      withoutId,
    );
    await expectScreen(
      120,
      ["batch", "show", DAY],
      [
        ...head,
        "    Nothing that was read answers it; ask for what the documents hold, or name the file that holds it.",
      ],
      withoutId,
    );
  });

  test("runs list shows eight characters of an id, and says which columns it has no room for", async () => {
    await expectScreen(
      80,
      ["runs", "list"],
      [
        "run       custom_id      state      started                code",
        "--------  -------------  ---------  ---------------------  ---------------------",
        "00000004  one            <green>succeeded</>  2026-11-20 21:56 CET   -",
        "00000001  logs/…室.md    <yellow>refused</>    2026-07-20 22:59 CEST  EVIDENCE_NOT_ACQUIRED",
        "00000002  minute…all.md  <green>succeeded</>  2026-07-20 22:58 CEST  -",
        "00000003  q3             <red>failed</>     2026-07-20 22:57 CEST  MODEL_NOT_FOUND",
        "Left out for want of room: batch, kind, took, model. --json has all.",
      ],
    );
    await expectScreen(
      120,
      ["runs", "list"],
      [
        "run       batch             custom_id          kind       state       took  started                code",
        "--------  ----------------  -----------------  ---------  ---------  -----  ---------------------  ---------------------",
        "00000004  夜の作業          one                ask        <green>succeeded</>  1.0 s  2026-11-20 21:56 CET   -",
        "00000001  Kraftwer…t shift  logs/夜…ン室.md    ask        <yellow>refused</>    1.0 s  2026-07-20 22:59 CEST  EVIDENCE_NOT_ACQUIRED",
        "00000002  Kraftwer…t shift  minutes/…-hall.md  summarize  <green>succeeded</>  1.0 s  2026-07-20 22:58 CEST  -",
        "00000003  Kraftwer…t shift  q3                 ask        <red>failed</>     1.0 s  2026-07-20 22:57 CEST  MODEL_NOT_FOUND",
        "Left out for want of room: model. --json has all.",
      ],
    );
  });

  test("doctor shows what is well, what is doubtful and what fails", async () => {
    // What stands before names folders of this machine.
    const ofTheIndex = (shown: string) =>
      /^\S+ *\S* DOCTOR_INDEX_CONSISTENT[^]*?\n {7}fix: .*\n/m.exec(shown)?.[0] ?? "";
    await expectScreen(
      80,
      ["doctor"],
      [
        "[<green>OK  </>] DOCTOR_INDEX_CONSISTENT: Documents, words and 1 chunk agree.",
        "[<yellow>WARN</>] DOCTOR_EMBED_MISSING: Chunks without a vector of hashing-384: 1; with one",
        "  of another build of it: 0.",
        "       fix: Run: nightdesk embed",
      ],
      ofTheIndex,
    );
    await expectScreen(
      120,
      ["doctor", "--require-embeddings"],
      [
        "[<green>OK  </>] DOCTOR_INDEX_CONSISTENT: Documents, words and 1 chunk agree.",
        "[<red>FAIL</>] DOCTOR_EMBED_MISSING: Chunks without a vector of hashing-384: 1; with one of another build of it: 0.",
        "       fix: Run: nightdesk embed",
      ],
      ofTheIndex,
    );
  });

  test("query breaks what a passage begins with", async () => {
    await expectScreen(
      80,
      ["query", "bleeding brakes"],
      [
        "1. corpus/brakes.md:1-3  Bleeding the brakes  (0.0164)",
        "   # Bleeding the brakes Bleeding is done by two, with fresh fluid of the kind",
        "     that the cap of the reservoir names, from the wheel that is farthest away",
        "     to the nearest.",
      ],
    );
    await expectScreen(
      120,
      ["query", "bleeding brakes"],
      [
        "1. corpus/brakes.md:1-3  Bleeding the brakes  (0.0164)",
        "   # Bleeding the brakes Bleeding is done by two, with fresh fluid of the kind that the cap of the reservoir names, from",
        "     the wheel that is farthest away to the nearest.",
      ],
    );
  });

  test("sql shows states in colour, and times with the offset that a statement takes back", async () => {
    const statement =
      "select batch, custom_id, state, finished_at from results where state = 'refused'";
    await expectScreen(
      80,
      ["sql", statement],
      [
        "-- row 1 --",
        "batch        Kraftwerk Süd, week 47, minutes and logs of the night shift",
        "custom_id    logs/夜の作業日誌/タービン室.md",
        "state        <yellow>refused</>",
        "finished_at  2026-07-20 23:00:10+02:00",
        "1 row",
      ],
    );
    await expectScreen(
      120,
      ["sql", statement],
      [
        "batch                                                custom_id                        state    finished_at",
        "---------------------------------------------------  -------------------------------  -------  -------------------------",
        "Kraftwerk Süd, week 47, minutes and logs of the ni…  logs/夜の作業日誌/タービン室.md  <yellow>refused</>  2026-07-20 23:00:10+02:00",
        "1 row",
      ],
    );
  });

  test("schedule list keeps to the width, and leaves out what matters least", async () => {
    await expectScreen(
      80,
      ["schedule", "list"],
      [
        "schedule       is  cron          next                    last run  command",
        "-------------  --  ------------  ----------------------  --------  -------------",
        "minute…chyard  on  30 5 * * 1-5  YYYY-MM-DD 05:30+00:00  -         summarize al…",
        "                                 YYYY-MM-DD 05:30+00:00",
        "                                 YYYY-MM-DD 05:30+00:00",
        "nightly-index  on  0 1 * * *     YYYY-MM-DD 01:00+00:00  -         index",
        "                                 YYYY-MM-DD 01:00+00:00",
        "                                 YYYY-MM-DD 01:00+00:00",
        "Left out for want of room: from, time zone. --json has all.",
        "In the configuration, and taken over when a worker starts: nightly-summaries",
        "  (off), weekly-digest (off).",
      ],
      withoutDays,
    );
    await expectScreen(
      120,
      ["schedule", "list"],
      [
        "schedule                  is  from  cron          time zone  next                    last run  command",
        "------------------------  --  ----  ------------  ---------  ----------------------  --------  -------------------------",
        "minutes-of-t…-switchyard  on  set   30 5 * * 1-5  UTC        YYYY-MM-DD 05:30+00:00  -         summarize allowed/corpus…",
        "                                                             YYYY-MM-DD 05:30+00:00",
        "                                                             YYYY-MM-DD 05:30+00:00",
        "nightly-index             on  set   0 1 * * *     UTC        YYYY-MM-DD 01:00+00:00  -         index",
        "                                                             YYYY-MM-DD 01:00+00:00",
        "                                                             YYYY-MM-DD 01:00+00:00",
        "In the configuration, and taken over when a worker starts: nightly-summaries (off), weekly-digest (off).",
      ],
      withoutDays,
    );
  });

  test("memory list keeps to the width, and cuts the text of a note last", async () => {
    await expectScreen(
      80,
      ["memory", "list"],
      [
        "note      type        in prompts  text",
        "--------  ----------  ----------  ----------------------------------------------",
        "00000009  user_fact   no          The turbine hall is 夜の作業 in the logs of t…",
        "00000008  preference  yes         Answer in German, name the shift.",
        "Left out for want of room: evidence, written. --json has all.",
      ],
    );
    await expectScreen(
      120,
      ["memory", "list"],
      [
        "note      type        in prompts  evidence  written                text",
        "--------  ----------  ----------  --------  ---------------------  -----------------------------------------------------",
        "00000009  user_fact   no          -         2026-07-19 23:00 CEST  The turbine hall is 夜の作業 in the logs of the nigh…",
        "00000008  preference  yes         -         2026-11-19 22:00 CET   Answer in German, name the shift.",
      ],
    );
  });

  test("batch report gives the files that it wrote, and a sentence on the batch", async () => {
    const written = [
      "reports/Kraftwerk-Sud-week-47-minutes-and-logs-of-the-night-shift.html",
      "reports/Kraftwerk-Sud-week-47-minutes-and-logs-of-the-night-shift.md",
      "1 of 3 jobs succeeded; 1 refused, 1 failed.",
    ];
    await expectScreen(80, ["batch", "report", DAY], written);
    await expectScreen(120, ["batch", "report", DAY], written);
  });

  test("an answer is broken between words, then what its numbers stand for", async () => {
    for (const [columns, expected] of [
      [
        80,
        [
          "Bleeding is done by two, with fresh fluid of the kind that the cap of the",
          "  reservoir names, from the wheel that is farthest away to the nearest [1].",
          "Scope: full evidence from read_text_file (10/10),",
          `  sha256=${SHA256}`,
          "[1] allowed/corpus/a.md#Bleeding lines 1-2",
          "",
        ],
      ],
      [
        120,
        [
          "Bleeding is done by two, with fresh fluid of the kind that the cap of the reservoir names, from the wheel that is",
          "  farthest away to the nearest [1].",
          "Scope: full evidence from read_text_file (10/10),",
          `  sha256=${SHA256}`,
          "[1] allowed/corpus/a.md#Bleeding lines 1-2",
          "",
        ],
      ],
    ] as const) {
      for (const color of ["always", "never"] as const) {
        const { code, told } = await waitedFor(columns, color, answered(ANSWER));
        expect({ code, told }).toEqual({ code: 0, told: expected });
      }
    }
  });

  test("a question that is refused says so in the colour of its state, and where to look", async () => {
    for (const [columns, expected] of [
      [
        80,
        [
          "<yellow>Refused</>: EVIDENCE_NOT_ACQUIRED: Nothing that was read answers it; ask for what",
          "  the documents hold, or name the file that holds it.",
          "What was done: nightdesk runs show ID",
          "",
        ],
      ],
      [
        120,
        [
          "<yellow>Refused</>: EVIDENCE_NOT_ACQUIRED: Nothing that was read answers it; ask for what the documents hold, or name the file that",
          "  holds it.",
          "What was done: nightdesk runs show ID",
          "",
        ],
      ],
    ] as const) {
      const inColour = await waitedFor(columns, "always", NOT_ACQUIRED);
      expect(inColour).toEqual({ code: 4, told: expected });
      const plain = await waitedFor(columns, "never", NOT_ACQUIRED);
      expect(plain.told).toEqual(expected.map(withoutNames));
    }
  });

  /** What a question says that is waited for, without the status line before it. */
  async function waitedFor(
    columns: number,
    color: "always" | "never",
    settlement: Settlement,
  ): Promise<{ readonly code: number; readonly told: readonly string[] }> {
    const terminal = { columns, env: { TERM: "xterm" } };
    const waited = desk.runOn(terminal, "ask", "Who?", "--wait", "--color", color);
    await eventually("the question is queued", async () => (await openQuestions()) > 0);
    await workByHand(desk.database, 1, () => settlement);
    const { code, stdout, stderr } = await waited;
    const said = stderr.slice(stderr.lastIndexOf("\r\u001b[2K") + 1).replace(/^\u001b\[2K/, "");
    const told = withNames(stdout + said)
      .replace(/(runs show )[-0-9a-f]{36}/, "$1ID")
      .split("\n");
    for (const line of told) expect(widthOf(withoutNames(line))).toBeLessThanOrEqual(columns);
    return { code, told };
  }

  const openQuestions = async (): Promise<number> => {
    const rows = await rowsOf(
      desk.database,
      "select from nightdesk_data.jobs where state = 'queued' and input->>'question' = 'Who?'",
    );
    return rows.length;
  };
});

describe("colours", () => {
  const list = async (env: Readonly<Record<string, string>>, ...flags: readonly string[]) => {
    const { stdout } = await desk.runOn({ columns: 80, env }, "batch", "list", ...flags);
    return stdout.includes("\u001b[") ? "colours" : "none";
  };

  test.each([
    [{}, [], "colours"],
    [{ NO_COLOR: "1" }, [], "none"],
    [{ NO_COLOR: "" }, [], "colours"],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, [], "colours"],
    [{ FORCE_COLOR: "0" }, [], "none"],
    [{ FORCE_COLOR: "1" }, ["--color", "never"], "none"],
    [{ FORCE_COLOR: "1" }, ["--no-color"], "none"],
    [{ NO_COLOR: "1" }, ["--color", "always"], "colours"],
    [{ NO_COLOR: "1" }, ["--color", "auto"], "colours"],
    [{ TERM: "dumb" }, [], "none"],
  ])("of a terminal with %j and %j: %s", async (env, flags, expected) => {
    expect(await list(env, ...flags)).toBe(expected);
  });

  test("are not sent into a pipe, unless it is asked for", async () => {
    expect((await desk.run("batch", "list")).stdout).not.toContain("\u001b");
    expect((await desk.run("batch", "list", "--color", "always")).stdout).toContain("\u001b[32m");
  });

  test("are never part of JSON or CSV", async () => {
    const statement = "select state, created_at from results where state = 'failed'";
    for (const words of [
      ["batch", "list", "--json"],
      ["runs", "list", "--json"],
      ["sql", statement, "--format", "json"],
      ["sql", statement, "--format", "csv"],
      ["batch", "export", DAY, "--format", "csv"],
    ]) {
      const env = { TZ: "Europe/Berlin", FORCE_COLOR: "1" };
      const { stdout } = await desk.runOn({ columns: 80, env }, ...words, "--color", "always");
      expect(stdout).not.toContain("\u001b");
      expect(stdout).toMatch(/2026-07-20T21:00:00(\.000)?Z/);
    }
  });

  test("of a text that was read from outside are its own pictures", async () => {
    const statement = "select chr(27) || '[31mfailed' as state";
    const { stdout } = await desk.runOn({ columns: 80 }, "sql", statement, "--color", "always");
    expect(stdout.split("\n")[2]).toBe("␛[31mfailed");
  });
});

test("a pipe gets whole names, whole ids and times in UTC, whatever the zone is", async () => {
  const { stdout } = await desk.run("batch", "list");
  expect(stdout.split("\n").find((line) => line.startsWith(DAY))).toBe(
    `${DAY}  completed        3  1 succeeded, 1 refused, 1 failed  2026-07-20 21:00:00Z`,
  );
  const runs = await desk.run("runs", "list");
  expect(runs.stdout).toMatch(/^[-0-9a-f]{36} {2}夜の作業/m);
});

test("times are by the clocks of TZ, and those of a zone without a name have their offset", async () => {
  const created = async (zone: string) => {
    const { stdout } = await desk.runOn({ columns: 80, env: { TZ: zone } }, "batch", "show", NIGHT);
    return /^created {3}(.*)$/m.exec(stdout)?.[1];
  };
  expect(await created("America/New_York")).toBe("2026-11-20 16:00:00 GMT-5");
  expect(await created("Asia/Kolkata")).toBe("2026-11-21 02:30:00 GMT+5:30");
  expect(await created("UTC")).toBe("2026-11-20 21:00:00 UTC");
});
