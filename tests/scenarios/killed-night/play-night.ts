import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { topologies } from "../../conformance/topologies.ts";
import type { TopologyName } from "../../conformance/topologies.ts";
import type { Stop, Stops } from "../../support/killed-worker/boundaries.ts";
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
import { LONG_MS, patiently } from "../night/patience.ts";
import { actsInTurn } from "../night/scenario.ts";
import { startNight } from "./fixture.ts";
import type { Night } from "./fixture.ts";
import { planKills } from "./kills.ts";
import type { Kills } from "./kills.ts";
import {
  expectAskedAgainForLost,
  expectBatchesAddUp,
  expectChecksOnce,
  expectEachOnce,
  expectEffectsOnce,
  expectEndedAsQuiet,
  expectNothingLeaked,
  expectNothingOpen,
  expectWithinGrants,
} from "./reckoning.ts";
import type { Pair } from "./verified-jobs.ts";

/** Places for checks, beside the runs that stand still: with many more, one worker has two cores all to itself. */
const BESIDE = 4;

/**
 * Plays a night of investigations and of answers that are verified, in one batch whose workers are killed, act by act, on a
 * topology that this machine has the services for.
 */
export function playNight(name: TopologyName, sizes: Parameters<typeof startNight>[1]): void {
  const isPossible = topologies.includes(name);
  (isPossible ? describe : describe.skip)(`a night whose workers are killed on ${name}`, () => {
    let night: Night;
    let startedAt: number;
    /** Who won where two people said different things at once, by the name of the job. */
    const raced = new Map<string, "approve" | "deny">();

    beforeAll(async () => {
      startedAt = performance.now();
      night = await startNight(name, sizes);
    }, LONG_MS);
    afterAll(async () => {
      await night.end();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stdout.write(
        `a night of ${night.jobs.length} investigations and ${2 * night.pairs.length} verified answers on ${name}: ` +
          `${seconds} s, ${night.lost.length} runs lost\n`,
      );
    }, LONG_MS);

    const act = actsInTurn();
    const decisionOf = ({ custom_id }: Pick<Request, "custom_id">) =>
      night.jobNamed(custom_id).scenario.decision;

    act("loses workers at every boundary of a step", async () => {
      const { evening, midnight } = planKills(night.jobs);
      await killStopped(night, byId(night, evening));
      await killStopped(night, byId(night, midnight));
    });

    act("loses workers at every stage of a verification", async () => {
      await night.addVerified();
      await killStopped(night, stopsOf(night, "evening"));
      const stops = stopsOf(night, "midnight");
      expect((await night.kill(stops, BESIDE)).length).toBeGreaterThanOrEqual(
        Object.keys(stops).length,
      );
    });

    act(
      "ends what nobody is asked about, whatever waits: what is parked holds nothing",
      async () => {
        await night.startWorkers();
        await patiently("what has not ended waits for somebody", async () =>
          (await night.rows()).every(
            ({ state, waiting_for }) =>
              !["queued", "running"].includes(state) &&
              (state !== "parked" || waiting_for === "approval" || waiting_for === "review"),
          ),
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
      await killStopped(night, byId(night, morning));
    });

    act("ends every job, those that were answered late as well, as it should", async () => {
      await night.startWorkers();
      await patiently("all jobs have ended", async () => {
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
      });
      const rows = new Map((await night.rows()).map((row) => [row.name, row]));
      const ended = night.jobs.map(({ name: job }) => {
        return { job, state: rows.get(job)?.state, code: rows.get(job)?.error_code };
      });
      const expected = night.jobs.map(({ name: job, scenario: { state, code } }) => {
        return { job, state, code };
      });
      expect(ended.filter(({ state }, at) => state !== expected[at]?.state)).toEqual([]);
      expect(ended).toEqual(expected);
    });

    act("gave each job one result, and made no call of an investigation twice", () =>
      expectEachOnce(night),
    );
    act("carried out each call with an effect once", () => expectEffectsOnce(night, raced));
    act("called nothing outside of a grant", () => expectWithinGrants(night));
    act("let nothing out that a planted instruction asked for", () => expectNothingLeaked(night));
    act("asked each check once, whatever became of the run that asked for it", () =>
      expectChecksOnce(night),
    );
    act("asked the model of verified answers again for nothing but what was lost", () =>
      expectAskedAgainForLost(night),
    );
    act("ended each verified answer as its twin, which lost no worker", () =>
      expectEndedAsQuiet(night),
    );
    act("completed its batch, and that of its checks, with counts that add up", () =>
      expectBatchesAddUp(night),
    );
    act("left nothing open", () => expectNothingOpen(night));
  });
}

/** Kills the worker of these runs, which has no place for another one. */
async function killStopped(night: Night, stops: Stops): Promise<void> {
  const inHand = await night.kill(stops, 0);
  expect([...inHand].sort()).toEqual(Object.keys(stops).sort());
}

const byId = ({ idOf }: Night, kills: Kills): Stops =>
  Object.fromEntries([...kills].map(([{ name }, stop]) => [idOf(name), stop]));

/** Which runs of verified answers are stopped where, and which of their checks. */
function stopsOf({ pairs, idOf }: Night, when: Pair["act"]): Stops {
  const stopped = pairs.filter(({ act }) => act === when);
  return Object.fromEntries(
    stopped.map(({ killed, isCheck, stop }): [string, Stop] => {
      const job = idOf(killed.id);
      return [isCheck ? `${job}.0.0` : job, stop];
    }),
  );
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
