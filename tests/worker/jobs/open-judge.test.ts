import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { refuse } from "../../../src/shared/failure.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { selectExam, upsertExam } from "../../../src/shared/store/hosts/exams.ts";
import type { AskedStatement, Auditor, RecalledReply } from "../../../src/worker/evidence/types.ts";
import { examineModel } from "../../../src/worker/jobs/judge/examine.ts";
import {
  auditorOf,
  examineeFor,
  keyOf,
  openJudge,
} from "../../../src/worker/jobs/judge/open-judge.ts";
import type { JudgeSettings } from "../../../src/worker/jobs/judge/open-judge.ts";
import type { Model, ModelReply } from "../../../src/worker/models/model.ts";
import { FACTS, SETTINGS, worldOf } from "../../support/pipeline-world.ts";
import { judgeBy, statementsIn, wrongStatements } from "../../support/judging-model.ts";
import type { JudgeMood } from "../../support/judging-model.ts";
import { openPglite } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const KEY = Buffer.alloc(32, 7);
const WRONG = wrongStatements(KEY);
const statement = (at: number): AskedStatement => ({
  text: `Boat ${at} is blue.`,
  lines: Array.from({ length: 9 }, (_, line) => ({
    source: "notes/boats.md > Boats",
    text: line === 8 ? `The colour of boat ${at} is that of the sky.` : `Line ${line} says little.`,
  })),
});
const statements = (count: number): AskedStatement[] =>
  Array.from({ length: count }, (_, at) => statement(at));

const replyOf = (text: string): ModelReply => ({
  ...{ kind: "reply", text, toolCalls: [], doneReason: "stop" },
  ...{ promptTokens: 10, completionTokens: 5, loadMs: 0 },
});
const OTHER = "other";

/** A comparison that gives each statement of the exam, by whether it is right, and all others as the right ones, one score. */
const compareBy =
  (score: Record<"right" | "wrong", number>): JudgeSettings["deps"]["compareClaims"] =>
  async (pairs) => ({
    model: "nli",
    scores: pairs.map(({ claim }) => ({
      entailment: WRONG.has(claim) ? score.wrong : score.right,
      contradiction: 0.01,
    })),
  });

describe("a judge that is opened", () => {
  let database: TestDatabase;
  let digest: string;
  let mood: JudgeMood | "overflows" | "yes" | "no";
  let prompts: string[];
  /** Of the second of two judges. */
  let otherMood: JudgeMood;
  let others: number;
  beforeAll(async () => {
    database = await openPglite();
  });
  afterAll(() => database.close());
  beforeEach(() => {
    digest = randomUUID().replaceAll("-", "").repeat(2);
    mood = "good";
    prompts = [];
    otherMood = "good";
    others = 0;
  });

  const modelOf = (name: string): Model => ({
    name,
    facts: {
      ...FACTS,
      digest: name === OTHER ? digest.replace(/^./, "f").replace(/.$/, "f") : digest,
    },
    promptChars: () => 100_000,
    async complete({ messages }) {
      if (name === OTHER) {
        others += 1;
        return replyOf(judgeBy(otherMood, messages, WRONG));
      }
      prompts.push(messages.at(-1)?.content ?? "");
      if (mood === "overflows") return refuse("CONTEXT_OVERFLOW", "The host cut the prompt.");
      const text = mood === "yes" || mood === "no" ? mood : judgeBy(mood, messages, WRONG);
      return replyOf(text);
    },
  });

  type Judge = JudgeSettings["config"]["verify"]["judge"];
  const settingsOf = (
    judge: Partial<Judge> = {},
    compareClaims?: JudgeSettings["deps"]["compareClaims"],
  ): JudgeSettings => ({
    config: {
      model: SETTINGS.model,
      verify: {
        judge: { model: "same", form: "list", supported_means: "yes", ...judge },
        entailment: { model_id: "nli", dtype: "fp32", digest: null },
      },
    } as unknown as JudgeSettings["config"],
    database: database.db,
    jobId: randomUUID(),
    deps: {
      models: { get: async (name) => modelOf(name) },
      fenceKey: KEY,
      compareClaims,
    },
  });
  const answerer = (): Auditor => ({
    model: modelOf("writer"),
    choice: { name: "writer", why: "test", maxTokens: 800, timeoutMs: 1_000 },
  });
  const signal = new AbortController().signal;
  const partsOf = (recorded = new Map<string, RecalledReply>()) => {
    const { offload, calls } = worldOf({ models: [] });
    return {
      offload,
      trace: startTrace(),
      signal,
      calls: {
        ...calls,
        recall: async (request: string) => recorded.get(request),
        async commit(call: { requestSha256: string } & RecalledReply) {
          recorded.set(call.requestSha256, call);
        },
      },
    };
  };
  async function passes(
    settings: JudgeSettings,
    who = answerer(),
  ): Promise<ReturnType<typeof keyOf>> {
    const examinee = examineeFor(settings, who);
    if (examinee === null) throw new Error("nobody is examined");
    await upsertExam(database.db, keyOf(examinee), {
      ...{ model: examinee.name, isKnown: true, state: "passed", calls: 12, parts: [] },
      ...{ wrongAsked: 60, wrongConfirmed: 0, rightAsked: 60, rightConfirmed: 60, yesFrom: null },
      jobId: randomUUID(),
    });
    return keyOf(examinee);
  }
  const controls = async (): Promise<unknown> =>
    (
      await database.db.query("select controls from nightdesk_data.exams where identity = $1", [
        digest,
      ])
    ).rows[0];

  test("is not asked without an exam, and nothing is put on record", async () => {
    const settings = settingsOf();
    const said = await openJudge(settings)(statements(3), answerer(), partsOf());
    expect(said).toEqual([null, null, null]);
    expect(prompts).toEqual([]);
  });

  test("is asked of eight statements a call, beside a control, and gives a verdict for each in order", async () => {
    const settings = settingsOf();
    await passes(settings);
    const said = await openJudge(settings)(statements(17), answerer(), partsOf());
    expect(said).toHaveLength(17);
    for (const one of said) {
      expect(one).toEqual({ says: "yes", detail: expect.stringMatching(/^writer: /) });
    }
    expect(prompts).toHaveLength(3);
    for (const prompt of prompts) {
      const asked = statementsIn([{ role: "user", content: prompt }]);
      expect(asked.length).toBeLessThanOrEqual(10);
      expect(asked.filter((text) => WRONG.has(text))).toHaveLength(1);
    }
  });

  test("shows a wrong one at no place of its own, and asks the same when a run is repeated", async () => {
    const settings = settingsOf();
    await passes(settings);
    const places = new Set<number>();
    for (let at = 0; at < 12; at += 1) {
      await openJudge(settings)([statement(at), statement(at + 50)], answerer(), partsOf());
      const asked = statementsIn([{ role: "user", content: prompts.at(-1) ?? "" }]);
      places.add(asked.findIndex((text) => WRONG.has(text)));
    }
    expect(places.size).toBeGreaterThan(1);
    const before = prompts.length;
    await openJudge(settings)([statement(0), statement(50)], answerer(), partsOf());
    expect(prompts[before]).toBe(prompts[0]);
  });

  test("is asked beside another one, each after its own exam, and only what both confirm is confirmed", async () => {
    const settings = settingsOf({ model: ["same", OTHER] });
    const ask = () => openJudge(settings)(statements(2), answerer(), partsOf());
    expect(await ask()).toEqual([null, null]);
    const own = await passes(settings);
    const [alone] = await ask();
    expect(alone).toEqual({
      says: "unclear",
      detail: expect.stringMatching(
        /^writer: its lines say it.*; no other judge has passed an exam$/,
      ),
    });
    expect({ asked: prompts.length, others }).toEqual({ asked: 1, others: 0 });
    const key = await passes(settings, { ...answerer(), model: modelOf(OTHER) });
    const [both] = await ask();
    expect(both).toEqual({
      says: "yes",
      detail: expect.stringMatching(/^writer: its lines say it.*; other: its lines say it/),
    });
    expect({ asked: prompts.length, others }).toEqual({ asked: 2, others: 1 });
    otherMood = "sleeping";
    expect((await ask()).map((verdict) => verdict?.says)).toEqual(["no", "no"]);
    otherMood = "nodding";
    for (let at = 0; at < 2; at += 1) await ask();
    expect(await selectExam(database.db, key)).toMatchObject({ state: "dismissed" });
    expect(await selectExam(database.db, own)).toMatchObject({ state: "passed" });
  });

  test("is not two judges where it wrote the answer and is named as well", async () => {
    const settings = settingsOf({ model: ["same", OTHER] });
    const who = { ...answerer(), model: modelOf(OTHER) };
    await passes(settings, who);
    const [said] = await openJudge(settings)(statements(1), who, partsOf());
    expect(said).toEqual({
      says: "unclear",
      detail: expect.stringMatching(
        /^other: its lines say it.*; no other judge has passed an exam$/,
      ),
    });
    expect(others).toBe(1);
  });

  test("that nods is asked once more, with the nearest lines, and not believed", async () => {
    const settings = settingsOf();
    await passes(settings);
    mood = "nodding";
    const said = await openJudge(settings)(statements(1), answerer(), partsOf());
    expect(said).toEqual([{ says: "unclear", detail: expect.stringContaining("twice") }]);
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toContain("Line 7 says little.");
    expect(prompts[1]).toContain("The colour of boat 0 is that of the sky.");
    expect(prompts[1]).not.toContain("Line 7 says little.");
  });

  test("loses its word by what it says of controls", async () => {
    const settings = settingsOf();
    const key = await passes(settings);
    mood = "nodding";
    for (let at = 0; at < 2; at += 1) {
      await openJudge(settings)([statement(at)], answerer(), partsOf());
    }
    expect(await selectExam(database.db, key)).toMatchObject({ state: "dismissed" });
    const asked = prompts.length;
    expect(await openJudge(settings)([statement(9)], answerer(), partsOf())).toEqual([null]);
    expect(prompts).toHaveLength(asked);
  });

  test("that only scores does not lose its word by runs of one job that give the same again", async () => {
    const settings = settingsOf({ form: "nli" }, compareBy({ right: 0.999, wrong: 0.999 }));
    const key = await passes(settings);
    const ask = (isRepeated: boolean) =>
      openJudge({ ...settings, isRepeated })(statements(1), answerer(), partsOf());
    for (const isRepeated of [false, true, true, true]) await ask(isRepeated);
    expect(await selectExam(database.db, key)).toMatchObject({ state: "passed" });
    await ask(false);
    expect(await selectExam(database.db, key)).toMatchObject({ state: "dismissed" });
  });

  test("loses its word as well when it confirms none of the right ones among its statements", async () => {
    const settings = settingsOf();
    const key = await passes(settings);
    mood = "sleeping";
    for (let at = 0; at < 40; at += 1) {
      await openJudge(settings)([statement(at)], answerer(), partsOf());
    }
    expect(await selectExam(database.db, key)).toMatchObject({ state: "dismissed" });
  });

  test("is counted once for a call, however often its run begins again", async () => {
    const settings = settingsOf();
    await passes(settings);
    const recorded = new Map<string, RecalledReply>();
    const first = await openJudge(settings)(statements(2), answerer(), partsOf(recorded));
    const before = await controls();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const again = await openJudge(settings)(statements(2), answerer(), partsOf(recorded));
      expect(again).toEqual(first);
    }
    expect(prompts).toHaveLength(1);
    expect(await controls()).toEqual(before);
  });

  test("whose host refuses leaves its statements unclear, with the code, and counts no control", async () => {
    const settings = settingsOf();
    await passes(settings);
    mood = "overflows";
    const said = await openJudge(settings)(statements(2), answerer(), partsOf());
    expect(said).toEqual(
      Array(2).fill({ says: "unclear", detail: expect.stringContaining("CONTEXT_OVERFLOW") }),
    );
    expect(await controls()).toEqual({ controls: 0 });
  });

  test("of the form yes_no whose no is the good one says yes by it, and nods by it", async () => {
    const settings = settingsOf({ form: "yes_no", supported_means: "no" });
    await passes(settings);
    mood = "yes";
    expect(await openJudge(settings)(statements(1), answerer(), partsOf())).toMatchObject([
      { says: "no" },
    ]);
    mood = "no";
    expect(await openJudge(settings)([statement(5)], answerer(), partsOf())).toMatchObject([
      { says: "unclear" },
    ]);
  });

  test("of the form nli is asked by its scores, and no model in words", async () => {
    const settings = settingsOf({ form: "nli" }, compareBy({ right: 0.7, wrong: 0.65 }));
    const examined = await examineModel({
      ...settings,
      ...{ input: { kind: "examine" }, parts: partsOf() },
    });
    // All limits down to 0.7 let no wrong statement pass, and the next one all of them.
    expect(examined).toMatchObject({
      answer: expect.stringContaining("It says yes from a score of 0.7 on."),
      summary: {
        ...{ form: "nli", state: "passed", yes_from: 0.7 },
        ...{ wrong: { asked: 200, confirmed: 0 }, right: { asked: 200, confirmed: 200 } },
      },
    });
    const saysOf = async (right: number) => {
      const judge = openJudge(settingsOf({ form: "nli" }, compareBy({ right, wrong: 0.65 })));
      return (await judge(statements(1), answerer(), partsOf()))[0]?.says;
    };
    expect(await saysOf(0.7)).toBe("yes");
    expect(await saysOf(0.69)).toBe("unclear");
    expect(prompts).toEqual([]);
  });

  test("of the form nli says no of what its lines contradict, and of nothing else", async () => {
    const saysOf = async (contradiction: number) => {
      const settings = settingsOf({ form: "nli" }, async (pairs) => ({
        model: "nli",
        scores: pairs.map(() => ({ entailment: 0.3, contradiction })),
      }));
      await passes(settings);
      return (await openJudge(settings)(statements(1), answerer(), partsOf()))[0]?.says;
    };
    expect(await saysOf(0.5)).toBe("no");
    expect(await saysOf(0.49)).toBe("unclear");
  });

  test("of the form nli fails where no score tells wrong from right", async () => {
    const settings = settingsOf({ form: "nli" }, compareBy({ right: 0.995, wrong: 0.995 }));
    const summary = { state: "failed", yes_from: 0.99, wrong: { asked: 200, confirmed: 200 } };
    expect(
      await examineModel({ ...settings, input: { kind: "examine" }, parts: partsOf() }),
    ).toMatchObject({ summary });
  });

  describe("whom models examine means", () => {
    const examined = async (judge: Partial<Judge>, name?: string): Promise<string | undefined> =>
      (await auditorOf(name, settingsOf(judge), signal))?.model.name;
    test.each([
      ["the model that is named", {}, "x", "x"],
      ["the model that is named, whoever judges", { model: "big" }, "x", "x"],
      ["who judges, where none is named", { model: "big" }, undefined, "big"],
      ["who answers, where the same one judges", {}, undefined, "scripted"],
      ["who answers, where none judges", { model: "off" }, undefined, "scripted"],
      ["nobody in words, of the form nli", { form: "nli" }, "nli", undefined],
    ] as const)("%s", async (_, judge, name, expected) => {
      expect(await examined(judge, name)).toBe(expected);
    });

    test("nobody, without a model of language", async () => {
      const settings = settingsOf();
      const config = {
        ...settings.config,
        model: { ...settings.config.model, provider: "extractive" },
      };
      expect(
        await auditorOf(undefined, { ...settings, config } as unknown as JudgeSettings, signal),
      ).toBeNull();
    });
  });
});
