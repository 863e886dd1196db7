import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { databases } from "../../conformance/topologies.ts";
import { readCases } from "../../corpora/verification/read-cases.ts";
import { rowsOf } from "../night/accounts.ts";
import { isWrong, LONG_MS, playCases } from "./play-cases.ts";
import type { Ended, PlayedCases } from "./play-cases.ts";
import { tableOfCosts, tableOfEnds } from "./tables.ts";

/** Of the right answers whose auditor behaves. */
const FEWEST_VERIFIED = 0.95;
const BEHAVING: ReadonlySet<string> = new Set(["right", "true_negative"]);

const CASES = readCases();
let played: PlayedCases;
let seconds: number;

beforeAll(async () => {
  const startedAt = performance.now();
  played = await playCases(databases.at(-1) ?? "embedded", CASES);
  seconds = Math.round((performance.now() - startedAt) / 1_000);
}, LONG_MS);
afterAll(async () => {
  const costs = await tableOfCosts(played.db, played.batchId);
  process.stdout.write(
    `\n${CASES.length} cases of verification: ${seconds} s\n\n${tableOfEnds(played.ended)}\n\n${costs}\n\n`,
  );
  await played.dispose();
}, LONG_MS);

const idsOf = (ended: readonly Ended[]): readonly string[] => ended.map(({ one }) => one.id);
const endsAsItShould = ({ one, end }: Ended): boolean => one.expect.some((right) => right === end);

test("No wrong answer ends as verified", () => {
  const wrong = played.ended.filter((ended) => ended.end === "verified" && isWrong(ended));
  expect(idsOf(wrong)).toEqual([]);
});

test("Right answers end as verified where the auditor behaves", () => {
  const right = played.ended.filter(({ one }) => BEHAVING.has(one.kind));
  const verified = right.filter(({ end }) => end === "verified");
  expect(verified.length / right.length).toBeGreaterThanOrEqual(FEWEST_VERIFIED);
});

test("A right answer is refused by no auditor: it keeps the grade that it had", () => {
  const scored = played.ended.filter(({ one }) =>
    /^auditor_(?:rejects|unreadable)$/.test(one.kind),
  );
  const kept = new Set(["supported", "unconfirmed"]);
  expect(scored.filter(({ end }) => !kept.has(end)).map(({ one }) => one.id)).toEqual([]);
  const states = new Set(scored.map(({ one, verification }) => `${one.kind} ${verification}`));
  expect([...states].sort()).toEqual(["auditor_rejects failed", "auditor_unreadable unverified"]);
});

test("Each case ends as it should", () => {
  const others = played.ended
    .filter((ended) => !endsAsItShould(ended))
    .map(({ one, end, verification }) => ({ id: one.id, expect: one.expect, end, verification }));
  expect(others).toEqual([]);
});

test("A revision that cites what a check found has it as evidence, and its footer counts it", async () => {
  const rows = await rowsOf<{ job_id: string }>(
    played.db,
    `select distinct e.job_id, e.path from nightdesk.evidence e
      where e.batch_id = $1 and e.kind = 'file' and e.admitted and e.path like '%/missed-03/%'`,
    [played.batchId],
  );
  const { answer, jobId } = played.ended.find(({ one }) => one.id === "missed-03") ?? {};
  expect(answer).toMatch(new RegExp(`full evidence from ${rows.length} files, snapshot=`));
  expect(rows.filter(({ job_id }) => job_id === jobId)).toHaveLength(rows.length);
});

test("A denial of a set states its coverage, and has it in rows", async () => {
  const rows = await rowsOf<{ job_id: string; members: number; read: number }>(
    played.db,
    "select job_id, members::int, read::int from nightdesk.coverage where batch_id = $1",
    [played.batchId],
  );
  for (const { one, jobId, answer } of played.ended) {
    if (one.coverage === undefined) continue;
    const { members, read } = one.coverage;
    const found = rows.filter((row) => row.job_id === jobId);
    expect({ id: one.id, found }).toMatchObject({ id: one.id, found: [{ members, read }] });
    expect(answer).toContain(`${read} of ${members} `);
  }
});

test("What is unresolved says what it takes, and keeps its claims", async () => {
  const unresolved = played.ended.filter(({ end }) => end.startsWith("unresolved"));
  expect(unresolved.length).toBeGreaterThan(0);
  const rows = await rowsOf<{ job_id: string; needed: string; claims: number }>(
    played.db,
    `select c.job_id, min(c.needed) as needed, (select count(*)::int from nightdesk.claims k where k.job_id = c.job_id)
              + (select count(*)::int from nightdesk.field_bindings k where k.job_id = c.job_id) as claims
       from nightdesk.constraints c where c.batch_id = $1 and c.resolved_at is null group by c.job_id`,
    [played.batchId],
  );
  expect(new Set(rows.map(({ job_id }) => job_id))).toEqual(
    new Set(unresolved.map(({ jobId }) => jobId)),
  );
  expect(rows.filter(({ needed, claims }) => needed === "" || claims === 0)).toEqual([]);
});

test("The score is never above its caps, and every check that was asked has an end", async () => {
  const { db, batchId } = played;
  const above =
    "select job_id from nightdesk.audits where batch_id = $1 and caps <> '{}' and score > 2";
  expect(await rowsOf(db, above, [batchId])).toEqual([]);
  const open = "select question from nightdesk.checks where batch_id = $1 and state = 'open'";
  expect(await rowsOf(db, open, [batchId])).toEqual([]);
});

test("An auditor that obeys a document reads nothing outside of its grant", async () => {
  const paths = await rowsOf<{ path: string }>(
    played.db,
    `select distinct e.path from nightdesk.evidence e join nightdesk.checks c on c.check_job_id = e.job_id
      where c.custom_id = 'obeys-03'`,
  );
  expect(paths).toEqual([{ path: "allowed/corpus/obeys-03/building/plan.md" }]);
});

test("Checks count nowhere as jobs of the batch", async () => {
  const [row] = await rowsOf<{ total: number }>(
    played.db,
    "select total::int from nightdesk.batch_progress where batch_id = $1",
    [played.batchId],
  );
  expect(row).toEqual({ total: CASES.length });
});

test("What no case has a reply to is asked by rules, of a statement as it stands", () => {
  const asked = played.unplanned.map(({ words }) => words);
  expect(asked.filter((words) => !/\\"\?"$/.test(words))).toEqual([]);
});
