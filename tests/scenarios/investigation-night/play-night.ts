import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../../conformance/signal.ts";
import { topologies } from "../../conformance/topologies.ts";
import type { TopologyName } from "../../conformance/topologies.ts";
import {
  ALLOW,
  decide,
  DENY,
  settleUncertain,
  uncertainSteps,
  waitingRequests,
} from "../../support/killed-worker/people.ts";
import type { Request } from "../../support/killed-worker/people.ts";
import { countLines } from "../../support/killed-worker/start.ts";
import { numberOf, rowsOf } from "../night/accounts.ts";
import { LONG_MS, startNight } from "./fixture.ts";
import type { Night } from "./fixture.ts";
import { planKills } from "./kills.ts";
import {
  expectEachOnce,
  expectEffectsOnce,
  expectNothingLeaked,
  expectNothingOpen,
  expectWithinGrants,
} from "./reckoning.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Of each scenario at least eight, so that each boundary has a job whose worker is killed there. */
const JOBS = Math.max(8 * SCENARIOS.length, Number(process.env["TEST_NIGHT_JOBS"] ?? 300));

/** Plays a night of investigations, act by act, on a topology that this machine has the services for. */
export function playNight(name: TopologyName): void {
  const isPossible = topologies.includes(name);
  (isPossible ? describe : describe.skip)(`a night of ${JOBS} investigations on ${name}`, () => {
    let night: Night;
    let startedAt: number;
    /** Who won where two people said different things at once, by the name of the job. */
    const raced = new Map<string, "approve" | "deny">();

    beforeAll(async () => {
      startedAt = performance.now();
      night = await startNight(name, JOBS);
    }, LONG_MS);
    afterAll(async () => {
      await night.end();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stdout.write(`a night of ${JOBS} investigations on ${name}: ${seconds} s\n`);
    }, LONG_MS);

    /** The acts build on each other: after one that failed, the others fail at once. */
    let failed: string | undefined;
    const act = (sentence: string, play: () => Promise<void>) => {
      test(
        sentence,
        async () => {
          if (failed !== undefined) throw new Error(`the night ended when it failed: ${failed}`);
          failed = sentence;
          await play();
          failed = undefined;
        },
        LONG_MS,
      );
    };
    const decisionOf = ({ custom_id }: Pick<Request, "custom_id">) =>
      night.jobNamed(custom_id).scenario.decision;

    act("loses workers at every boundary of a step, twice", async () => {
      const { evening, midnight } = planKills(night.jobs);
      await night.kill(evening);
      await night.kill(midnight);
    });

    act(
      "ends what nobody is asked about, whatever waits: what is parked holds nothing",
      async () => {
        await night.startWorkers();
        await eventually(
          "what has not ended waits for somebody",
          async () =>
            (await night.rows()).every(
              ({ state, waiting_for }) =>
                !["queued", "running"].includes(state) &&
                (state !== "parked" || waiting_for === "approval" || waiting_for === "review"),
            ),
          LONG_MS,
        );
        await expectParkedForFree(night);
        expect(await night.killWorkers()).toEqual([]);
      },
    );

    act("takes the first answer, from whomever it comes, and each once", async () => {
      const { db, other } = night;
      const requests = await waitingRequests(db);
      const isLate = planLate(requests);
      const equal = requests.filter(({ preview }) => preview === "equal: done");
      const [first, second] = equal;
      if (first === undefined || second === undefined) throw new Error("no two requests are equal");
      expect(await decide(db, first)).toMatchObject({ kind: "decided", answered: equal.length });
      expect(await decide(other, second, DENY)).toMatchObject({ kind: "late", decidedBy: "Ada" });
      for (const request of requests) {
        if (equal.includes(request) || isLate(request)) continue;
        const decision = decisionOf(request);
        if (decision === "nobody") await letExpire(night, request);
        else if (decision === "both") raced.set(request.custom_id, await race(night, request));
        else await answerAtOnce(night, request, decision === "deny" ? DENY : ALLOW);
      }
      expect(raced.size).toBeGreaterThan(1);
    });

    act("loses a worker between what was decided and what was done", async () => {
      const { morning } = planKills(night.jobs);
      expect(morning.size).toBeGreaterThan(0);
      await night.kill(morning);
    });

    act("ends every job, those that were answered late as well, as it should", async () => {
      await night.startWorkers();
      await eventually(
        "all jobs have ended",
        async () => {
          for (const request of await waitingRequests(night.db)) {
            if (decisionOf(request) === "nobody") continue;
            await decide(night.db, request, decisionOf(request) === "deny" ? DENY : ALLOW);
          }
          const lines = await countLines(night.topology.workroot);
          for (const step of await uncertainSteps(night.db)) {
            await settleUncertain(night.db, step, lines.has(step.text) ? "done" : "skipped");
          }
          return (await night.rows()).every(
            ({ state }) => !["queued", "running", "parked"].includes(state),
          );
        },
        LONG_MS,
      );
      const ended = (await night.rows()).map(({ name: job, state, error_code }) => ({
        job,
        state,
        code: error_code,
      }));
      const expected = night.jobs.map(({ name: job, scenario: { state, code } }) => ({
        job,
        state,
        code,
      }));
      expect(ended.filter(({ state }, at) => state !== expected[at]?.state)).toEqual([]);
      expect(ended).toEqual(expected);
    });

    act("gave each job one result, and made no call twice", () => expectEachOnce(night));
    act("carried out each call with an effect once", () => expectEffectsOnce(night, raced));
    act("called nothing outside of a grant", () => expectWithinGrants(night));
    act("let nothing out that a planted instruction asked for", () => expectNothingLeaked(night));
    act("left nothing open", () => expectNothingOpen(night));
  });
}

/** Every third request of those that are allowed is answered late. */
function planLate(requests: readonly Request[]): (request: Request) => boolean {
  const late = new Set(
    requests
      .filter(({ custom_id }) => custom_id.startsWith("twice-"))
      .filter((_, at) => at % 3 === 0),
  );
  return (request) => late.has(request);
}

async function expectParkedForFree({ db }: Night): Promise<void> {
  const parked = await rowsOf<Readonly<Record<string, unknown>>>(
    db,
    `select distinct lease_until, worker_id, dispatched_at, due_at = 'infinity' as never_due
       from nightdesk_data.jobs where state = 'parked'`,
  );
  expect(parked).toEqual([
    { lease_until: null, worker_id: null, dispatched_at: null, never_due: true },
  ]);
  expect(
    await numberOf(db, "select count(*) from nightdesk_data.jobs where state = 'parked'"),
  ).toBeGreaterThan(12);
  expect(
    await numberOf(db, "select count(*) from nightdesk_data.runs where state = 'running'"),
  ).toBe(0);
}

/** Two people say different things at once: one of them decides. */
async function race({ db, other }: Night, request: Request): Promise<"approve" | "deny"> {
  const [allowed, denied] = await Promise.all([
    decide(db, request, ALLOW),
    decide(other, request, DENY),
  ]);
  expect([allowed.kind, denied.kind].sort()).toEqual(["decided", "late"]);
  return allowed.kind === "decided" ? "approve" : "deny";
}

/** Two people say the same at once, and one of them says it again. */
async function answerAtOnce(
  { db, other }: Night,
  request: Request,
  decision: typeof ALLOW,
): Promise<void> {
  const answers = await Promise.all([
    decide(db, request, decision),
    decide(other, request, decision),
  ]);
  expect(answers.map(({ kind }) => kind).sort()).toEqual(["decided", "late"]);
  expect(await decide(other, request, decision)).toMatchObject({ kind: "late" });
}

async function letExpire({ db }: Night, { approval_id }: Request): Promise<void> {
  await db.query(
    "update nightdesk_data.approvals set expires_at = clock_timestamp() where approval_id = $1",
    [approval_id],
  );
}
