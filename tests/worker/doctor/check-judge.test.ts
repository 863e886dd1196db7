import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { updateOwnCounts, upsertExam } from "../../../src/shared/store/hosts/exams.ts";
import { checkJudge } from "../../../src/worker/doctor/check-judge.ts";
import { makeScratch } from "../../shared/config/scratch.ts";
import { openPglite } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const KEY = { identity: "ab".repeat(32), form: "list", prompt: "p", exam: "e" } as const;

let database: TestDatabase;
let config: Config;
beforeAll(async () => {
  database = await openPglite();
  const scratch = await makeScratch();
  await scratch.write("nightdesk.yaml", "verify: {judge: {model: judge:8b}}\n");
  config = await scratch.load();
  await scratch.remove();
});
afterAll(() => database.close());

const examine = (state: "passed" | "failed") =>
  upsertExam(database.db, KEY, {
    ...{ model: "judge:8b", isKnown: true, state, calls: 12, jobId: randomUUID() },
    ...{ wrongAsked: 60, wrongConfirmed: 1, rightAsked: 60, rightConfirmed: 55 },
    ...{ yesFrom: null, parts: [] },
  });

test("the doctor says what the judge is worth, in its exam and on the user's own documents", async () => {
  expect(await checkJudge(config, database.db)).toMatchObject([
    { level: "warn", code: "DOCTOR_JUDGE_NOT_EXAMINED" },
  ]);
  await examine("passed");
  const [ofExam] = await checkJudge(config, database.db);
  expect(ofExam).toMatchObject({ level: "ok", code: "DOCTOR_JUDGE_OK" });
  expect(ofExam?.message).not.toContain("own documents");
  const machine = { wrong: { asked: 10, confirmed: 2 }, right: { asked: 10, confirmed: 9 } };
  const person = { wrong: { asked: 0, confirmed: 0 }, right: { asked: 3, confirmed: 3 } };
  await updateOwnCounts(database.db, KEY, { machine, person });
  const [both] = await checkJudge(config, database.db);
  expect(both?.message).toContain("On your own documents it confirmed 2 of 10 sentences");
  expect(both?.message).toContain("and 3 of 3 that they accepted.");
  await examine("failed");
  const [failed] = await checkJudge(config, database.db);
  expect(failed).toMatchObject({ level: "warn", code: "DOCTOR_JUDGE_NOT_PASSED" });
  expect(failed?.message).toMatch(/It is failed, and not asked\.$/);
});

test("of two judges the doctor says what each is worth", async () => {
  const { verify } = config;
  const judge = { ...verify.judge, model: ["judge:8b", "new:4b"] as [string, string] };
  const two = await checkJudge({ ...config, verify: { ...verify, judge } }, database.db);
  expect(two.map(({ message }) => message.split(" ")[0])).toEqual(["judge:8b", "new:4b"]);
  expect(two[1]).toMatchObject({ code: "DOCTOR_JUDGE_NOT_EXAMINED" });
  const model = { ...config.model, aliases: { careful: "judge:8b" } };
  const aliased = { ...verify, judge: { ...verify.judge, model: "careful" } };
  expect(await checkJudge({ ...config, model, verify: aliased }, database.db)).toMatchObject([
    { message: expect.stringMatching(/^judge:8b /) },
  ]);
});
