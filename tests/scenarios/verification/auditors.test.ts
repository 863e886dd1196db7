import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectEvidenceKey } from "../../../src/shared/store/connection/locks.ts";
import { databases } from "../../conformance/topologies.ts";
import { readAuditors } from "../../corpora/auditors/read-auditors.ts";
import { judgeBy, wrongStatements } from "../../support/judging-model.ts";
import { INDEX, LONG_MS, openCaseDesk, playBatch, playCases, workOne } from "./play-cases.ts";
import type { Ended } from "./play-cases.ts";
import { tableOfEnds } from "./tables.ts";

const WRONG = readAuditors("wrong");
const RIGHT = readAuditors("right");
const JUDGE = "referee";

let alone: readonly Ended[];
let judged: readonly Ended[];

/** All cases by the rules alone, and then, after its exam, with a judge who is right. */
beforeAll(async () => {
  const topology = databases.at(-1) ?? "embedded";
  const ruled = await playCases(topology, [...WRONG, ...RIGHT]);
  alone = ruled.ended;
  await ruled.dispose();
  const wrong = new Set(WRONG.flatMap(({ draft }) => draft.map(textOf)));
  const desk = await openCaseDesk(topology, [...WRONG, ...RIGHT], {
    name: JUDGE,
    contextLength: 8_192,
    respond: (messages) => judgeBy("good", messages, wrong),
  });
  const worker = await desk.work();
  try {
    for (const one of wrongStatements(await selectEvidenceKey(desk.db))) wrong.add(one);
    await workOne(desk.db, INDEX);
    await workOne(desk.db, { kind: "examine", model: JUDGE });
    judged = (await playBatch(desk.db, [...WRONG, ...RIGHT])).ended;
  } finally {
    await worker.stop();
    await desk.dispose();
  }
}, LONG_MS);
afterAll(() => {
  process.stdout.write(
    `\nBy rules alone:\n\n${tableOfEnds(alone)}\n\nWith a judge who is right:\n\n${tableOfEnds(judged)}\n\n`,
  );
});

const textOf = (claim: (typeof WRONG)[number]["draft"][number]): string =>
  "text" in claim ? claim.text : "";

const verifiedOf = (ended: readonly Ended[], truth: "right" | "wrong"): readonly string[] =>
  ended
    .filter(({ one, end }) => one.truth === truth && end === "verified")
    .map(({ one }) => one.id);

test("there are 40 wrong and 40 right statements", () => {
  expect([WRONG.length, RIGHT.length]).toEqual([40, 40]);
});

test("no wrong statement is verified beside a judge, whatever its auditor says", () => {
  expect(verifiedOf(judged, "wrong")).toEqual([]);
});

test("of right statements nine in ten are verified, with a judge and without", () => {
  expect(verifiedOf(judged, "right").length).toBeGreaterThanOrEqual(36);
  expect(verifiedOf(alone, "right").length).toBeGreaterThanOrEqual(36);
});

/** What no rule speaks against. A judge that confirms one in ten wrong statements leaves one in ten of them. */
const MOST_BY_RULES = 20;

test("where no judge is asked, the rules for claims hold back half of the wrong ones", () => {
  expect(verifiedOf(alone, "wrong").length).toBeLessThanOrEqual(MOST_BY_RULES);
});
