import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectEvidenceKey } from "../../src/shared/store/connection/locks.ts";
import type { DoubleMessage, DoubleModel } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { isJudged, judgeBy, statementsIn, wrongStatements } from "../support/judging-model.ts";
import type { JudgeMood } from "../support/judging-model.ts";
import { partOf } from "../support/prompt-parts.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

const pathOf = (at: number): string => `allowed/corpus/ferry${at}.md`;
const minutes = (at: number): number => at + 20;
const TEXT = (at: number): string =>
  `# Ferry ${at}\n\nThe crossing to Harwick takes ${minutes(at)} minutes.\n\nDogs travel free.\n`;
const question = (at: number): string =>
  `How long does the crossing to Harwick take, according to ${pathOf(at)}?`;
const BILL = "allowed/corpus/bill.md";
const FIELDS = JSON.stringify({
  total: { value: 132.48, quote: null },
  vat: { value: 110.4, quote: "Net total 110.40 GBP" },
});

describeOn("postgres", "a judge of statements", (name) => {
  let desk: ReplayDesk;
  let wrong: ReadonlySet<string>;
  let mood: (call: number) => JudgeMood = () => "good";
  /** How often the one that answers was asked as a judge. */
  let judged = 0;
  let prompts: string[] = [];
  let says = (minutes: string): string => `${minutes} [1].`;

  const model = (
    own: string,
    judge: (messages: readonly DoubleMessage[]) => string,
  ): DoubleModel => ({
    name: own,
    contextLength: 8_192,
    respond(messages) {
      if (isJudged(messages)) return judge(messages);
      const text = messages.map(({ content }) => content).join("\n");
      if (text.includes(BILL)) return FIELDS;
      const [path = "", at = "0"] = /allowed\/corpus\/ferry(\d+)\.md/.exec(text) ?? [];
      return partOf(messages) === "first"
        ? JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } })
        : says(`One needs ${minutes(Number(at))} minutes for the crossing to Harwick`);
    },
  });

  beforeAll(async () => {
    desk = await openReplayDesk(
      name,
      [
        model("writer", (messages) => {
          prompts.push(messages.map(({ content }) => content).join("\n"));
          judged += 1;
          return judgeBy(mood(judged), messages, wrong);
        }),
        model("nodder", (messages) => judgeBy("nodding", messages, wrong)),
        model("sleeper", (messages) => judgeBy("sleeping", messages, wrong)),
        model("dozer", (messages) => judgeBy("sleeping", messages, wrong)),
        model("reader", (messages) => {
          const text = messages.at(-1)?.content ?? "";
          const isOwn = text.includes("allowed/corpus");
          const changed = isOwn
            ? statementsIn(messages).filter((one) => !text.includes(`: ${one}\n`))
            : [];
          return judgeBy("good", messages, new Set([...wrong, ...changed]));
        }),
        // Of each call it says no to the last right statement, too.
        model("placer", (messages) => {
          const last = statementsIn(messages).findLast((one) => !wrong.has(one));
          return judgeBy("good", messages, new Set([...wrong, last ?? ""]));
        }),
        model("talker", () => "I would say that most of them are right."),
      ],
      { reuse: "by_digest", keys: { verify: { judge: { model: "same" } } } },
    );
    wrong = wrongStatements(await selectEvidenceKey(desk.db));
    for (let at = 0; at < 30; at += 1) await desk.write(pathOf(at), TEXT(at));
  });
  afterAll(() => desk.dispose());

  const rows = async (sql: string, ...values: readonly unknown[]) =>
    (await desk.db.query(sql, [...values])).rows as Record<string, unknown>[];
  const examOf = async (model: string) =>
    (
      await rows(
        `select state, wrong_asked, wrong_confirmed, right_asked, right_confirmed, calls, controls, dismissed_at is not null as dismissed
           from nightdesk.exams where model like $1 || '%'`,
        model,
      )
    )[0];
  const examines = async (): Promise<Record<string, unknown>[]> =>
    rows(
      `select b.origin, r.state, (select count(*)::int from nightdesk_data.jobs o where o.batch_id = b.batch_id) as jobs
         from nightdesk.results r join nightdesk_data.batches b using (batch_id) where r.kind = 'examine' order by r.job_id`,
    );
  const ask = (at: number): Promise<string> => desk.work({ kind: "ask", question: question(at) });
  const gradeOf = async (jobId: string) =>
    (
      await rows(
        `select r.grade, c.reason, c.fate, u.regraded_at is not null as regraded
           from nightdesk.results r join nightdesk_data.jobs j using (job_id)
           join nightdesk.runs u on u.run_id = j.run_id
           join nightdesk_data.claims c on c.run_id = j.run_id and c.stands where r.job_id = $1`,
        jobId,
      )
    )[0];
  const runsOf = (jobId: string) =>
    rows(
      `select r.state, r.error_code, (select array_agg(c.origin order by c.ordinal) from nightdesk_data.run_calls c where c.run_id = r.run_id) as origins
         from nightdesk_data.runs r where r.job_id = $1 order by r.started_at`,
      jobId,
    );
  const NOT_ASKED = { grade: "unconfirmed", reason: "not_asked", fate: "marked", regraded: false };
  const CONFIRMED = { grade: "supported", reason: "confirmed", fate: "kept", regraded: false };

  test("is not asked, and not examined, for somebody who waits", async () => {
    const { code, stdout } = await desk.nightdesk("ask", question(0), "--wait", "--json");
    expect({ code, answer: stdout.includes("minutes") }).toEqual({ code: 0, answer: true });
    expect(judged).toBe(0);
    expect(await examines()).toEqual([]);
  });

  test("is examined once by the first night, whose answers wait for it, and asked from then on", async () => {
    const [first, second] = await Promise.all([ask(1), ask(2)]);
    expect(await examines()).toEqual([{ origin: "verify", state: "succeeded", jobs: 1 }]);
    for (const jobId of [first, second]) expect(await gradeOf(jobId)).toEqual(CONFIRMED);
    const [parked] = await rows(
      "select job_id from nightdesk_data.runs where error_code = 'EXAM_PENDING'",
    );
    // Woken, it takes over what it had asked for.
    expect(await runsOf(String(parked?.["job_id"]))).toEqual([
      { state: "parked", error_code: "EXAM_PENDING", origins: ["asked", "asked"] },
      { state: "succeeded", error_code: null, origins: ["reused", "reused", "asked"] },
    ]);
    expect(await examOf("writer")).toMatchObject({
      ...{ state: "passed", wrong_asked: 60, wrong_confirmed: 0, calls: 14, dismissed: false },
      ...{ right_asked: 60, right_confirmed: 60 },
    });
    prompts = [];
    const jobId = await ask(3);
    expect(await gradeOf(jobId)).toEqual(CONFIRMED);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain("One needs 23 minutes for the crossing to Harwick");
    expect(prompts[0]).not.toContain(question(3));
    expect(await examines()).toHaveLength(1);
    const { code, stdout } = await desk.replay(jobId);
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  test("is asked of the fields of an extraction, and of those that it denies a null is left", async () => {
    await desk.write(
      BILL,
      "# Bill\n\nNet total 110.40 GBP\n\nVAT 22.08 GBP\n\nTo pay 132.48 GBP\n",
    );
    wrong = new Set([...wrong, "vat = 110.4"]);
    prompts = [];
    const number = { type: ["number", "null"] };
    const schema = { type: "object", properties: { total: number, vat: number } };
    const jobId = await desk.work({ kind: "extract", path: BILL, schema });
    expect(prompts).toHaveLength(1);
    expect(
      await rows(
        "select pointer, value, grade, reason, judge_says from nightdesk.field_bindings where job_id = $1 order by ordinal",
        jobId,
      ),
    ).toEqual([
      {
        pointer: "/total",
        value: 132.48,
        grade: "supported",
        reason: "no_quote",
        judge_says: "yes",
      },
      { pointer: "/vat", value: null, grade: null, reason: "other_label", judge_says: "no" },
    ]);
    expect(await desk.replay(jobId)).toMatchObject({ code: 0 });
  });

  test("that passes says so in a sentence, and in JSON", async () => {
    const { code, stdout, stderr } = await desk.nightdesk("models", "examine", "writer", "--wait");
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(
      /writer\S* confirmed 0 of 60 wrong statements and 60 of 60 right ones: of 100 supported statements about \d\.\d \(0\.0 to \d\.\d\) are wrong, if 10 of 100 were\. It has passed/,
    );
    const json = await desk.nightdesk("models", "examine", "writer", "--wait", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true });
  });

  test("is asked in two orders, and what it says of a statement at another place is told", async () => {
    const steady = await desk.nightdesk("models", "examine", "reader", "--wait");
    expect(steady.stdout).toContain("In the reverse order it said otherwise of 0 of 20.");
    const { stdout } = await desk.nightdesk("models", "examine", "placer", "--wait");
    expect(stdout).toMatch(/In the reverse order it said otherwise of [1-4] of 20\./);
    const [exam] = await rows(
      "select answer, output from nightdesk.results where answer = $1",
      stdout.split("\n")[0],
    );
    expect(exam?.["output"]).toMatchObject({ calls: 14, order: { of: 20 } });
  });

  test("is examined on the user's own documents besides", async () => {
    const none = await desk.nightdesk("models", "examine", "reader", "--own", "20", "--wait");
    expect(none.stdout).toContain("Your index holds no statement that it could be asked of.");
    for (let at = 0; at < 12; at += 1) {
      const more =
        "The harbour is open all year. The ticket office opens at 9 and sells no food.\n";
      await desk.write(`allowed/corpus/harbour${at}.md`, `${TEXT(at)}\n${more}`);
    }
    expect(await desk.nightdesk("index")).toMatchObject({ code: 0 });
    const { stdout } = await desk.nightdesk("models", "examine", "reader", "--own", "20", "--wait");
    expect(stdout).toContain(
      "On your own documents it confirmed 0 of 10 sentences that were changed in one place, and 10 of 10 that were not.",
    );
    const [exam] = await rows("select own from nightdesk.exams where model = 'reader'");
    expect(exam?.["own"]).toEqual({
      machine: { wrong: { asked: 10, confirmed: 0 }, right: { asked: 10, confirmed: 10 } },
      person: { wrong: { asked: 0, confirmed: 0 }, right: { asked: 0, confirmed: 0 } },
    });
    const { code } = await desk.nightdesk("models", "examine", "reader", "--own", "201");
    expect(code).toBe(1);
  });

  test("that is asked to sit the exam again sits it again", async () => {
    const before = judged;
    await desk.nightdesk("models", "examine", "writer", "--wait");
    expect(judged - before).toBe(14);
  });

  test.each([
    ["nodder", { state: "failed", calls: 3, wrong_asked: 15, wrong_confirmed: 15 }],
    ["sleeper", { state: "useless", wrong_confirmed: 0, right_confirmed: 0 }],
    ["talker", { state: "useless", wrong_confirmed: 0, right_confirmed: 0 }],
  ])("called %s fails its exam, which is no fault", async (model, expected) => {
    const { code, stdout } = await desk.nightdesk("models", "examine", model, "--wait");
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain("It has failed");
    expect(await examOf(model)).toMatchObject(expected);
  });

  test("that fails its exam leaves the answers that waited for it unconfirmed", async () => {
    const jobId = await desk.work({
      kind: "ask",
      question: question(29),
      options: { model: "dozer" },
    });
    expect(await gradeOf(jobId)).toEqual(NOT_ASKED);
    expect((await runsOf(jobId)).map(({ state }) => state)).toEqual(["parked", "succeeded"]);
    expect(await examOf("dozer")).toMatchObject({ state: "useless" });
  });

  test("that failed its exam is not asked, and not examined again", async () => {
    const before = (await examines()).length;
    const jobId = await desk.work({
      kind: "ask",
      question: question(4),
      options: { model: "nodder" },
    });
    expect(await gradeOf(jobId)).toEqual(NOT_ASKED);
    expect(await examines()).toHaveLength(before);
  });

  test("that begins to nod in a night is dismissed, and what it confirmed is regraded", async () => {
    await desk.nightdesk("models", "examine", "writer", "--wait");
    const jobs: string[] = [];
    for (let at = 5; at < 13; at += 1) jobs.push(await ask(at));
    for (const jobId of jobs) expect(await gradeOf(jobId)).toEqual(CONFIRMED);
    const from = judged;
    // It nods in every other call: the second try of each answer is one that looks right.
    mood = (call) => ((call - from) % 2 === 1 ? "nodding" : "good");
    for (let at = 13; at < 25; at += 1) jobs.push(await ask(at));
    mood = () => "good";
    expect(await examOf("writer")).toMatchObject({ state: "dismissed", dismissed: true });
    const grades = await Promise.all(jobs.map(gradeOf));
    const told = grades.map(
      (grade) => `${String(grade?.["reason"])} ${String(grade?.["regraded"])}`,
    );
    expect(told.slice(0, 7)).toEqual(Array(7).fill("confirmed false"));
    // The run whose control came to zero last, those of the nights that followed, and the one that took its word.
    expect(told.slice(7, 13)).toEqual(Array(6).fill("unclear true"));
    expect(told.slice(13)).toEqual(Array(7).fill("not_asked false"));
    for (const grade of grades.slice(7)) expect(grade).toMatchObject({ grade: "unconfirmed" });
    const events = await rows(
      "select detail from nightdesk_data.run_events where detail ? 'judge_dismissed'",
    );
    expect(events).toHaveLength(1);
    expect(events[0]?.["detail"]).toMatchObject({
      judge_dismissed: expect.stringMatching(/^writer/),
    });
    const { code, stdout } = await desk.replay(jobs[9] ?? "");
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  test("that was dismissed is asked again once it has sat another exam", async () => {
    expect(await gradeOf(await ask(25))).toEqual(NOT_ASKED);
    const before = judged;
    await desk.nightdesk("models", "examine", "writer", "--wait");
    expect(judged - before).toBe(14);
    expect(await gradeOf(await ask(26))).toEqual(CONFIRMED);
  });

  test("said the same when its run is repeated, also of a statement that stood before without a citation", async () => {
    says = (minutes) => `- ${minutes}\n- ${minutes} [1]`;
    const jobId = await ask(28);
    says = (minutes) => `${minutes} [1].`;
    const claims = await rows(
      `select c.reason from nightdesk_data.claims c join nightdesk_data.jobs j using (run_id) where j.job_id = $1 order by c.ordinal`,
      jobId,
    );
    expect(claims.map(({ reason }) => reason)).toContain("confirmed");
    const { code, stdout } = await desk.replay(jobId);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(claims).toEqual([{ reason: "uncited" }, { reason: "confirmed" }]);
  });

  test("that calls a wrong statement right twice is not believed in that answer", async () => {
    mood = () => "nodding";
    const jobId = await ask(27);
    mood = () => "good";
    expect(await gradeOf(jobId)).toMatchObject({ grade: "unconfirmed", reason: "unclear" });
    const last = prompts.slice(-2);
    for (const prompt of last) expect(prompt).toContain("One needs 47 minutes");
    const controls = last.map((content) =>
      statementsIn([{ role: "user", content }]).filter((text) => wrong.has(text)),
    );
    expect(controls.map((some) => some.length)).toEqual([1, 1]);
    expect((await desk.replay(jobId)).code).toBe(0);
  });
});
