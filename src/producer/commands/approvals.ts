import {
  checkedCommand,
  databaseCommand,
  userName,
} from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { decideApproval } from "../../shared/store/investigations/approvals.ts";
import type { ApprovalOutcome, NewDecision } from "../../shared/store/investigations/approvals.ts";
import { revokeDecision } from "../../shared/store/investigations/decisions.ts";
import { resolveStep, selectJobOf } from "../../shared/store/investigations/reviews.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { parseDuration } from "../../shared/schedules/time.ts";
import {
  approvalPage,
  approvalTable,
  ruleTable,
  uncertainTable,
  VERDICTS,
} from "../../shared/views/inbox-pages.ts";
import {
  countWaiting,
  selectApprovalDetail,
  selectApprovalGroups,
  selectDecisions,
  selectUncertainSteps,
} from "../../shared/views/inbox.ts";
import { countOf, formatMoment } from "../../shared/views/quantity.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { printList, printPage } from "../print/sections.ts";
import { hintWorker } from "../watch/obstacles.ts";
import { argumentOf, countOfOption, moreText, selectUpTo, textOf } from "./options.ts";

const DEFAULT_LIMIT = 50;

/** Lists what waits for a person: calls, equal ones grouped, or steps with an unknown outcome. */
export const approvalsList = databaseCommand(async (context, database) => {
  const { invocation } = context;
  const { options } = invocation;
  const limit = countOfOption(options, "limit") ?? DEFAULT_LIMIT;
  const batchId = await batchOf(database, invocation);
  if (options["uncertain"] === true) await listUncertain(context, database, { batchId, limit });
  else await listRequests(context, database, { batchId, limit });
});

type ListFilter = { readonly batchId: string | null; readonly limit: number };

/** The batch that `--batch` names; null for all. */
export async function batchOf(db: Queryable, { options }: Invocation): Promise<string | null> {
  const named = textOf(options, "batch");
  return named === undefined ? null : (await findNamedBatch(db, named)).batchId;
}

async function listRequests(
  { terminal, invocation }: CommandContext,
  database: Database,
  { batchId, limit }: ListFilter,
): Promise<void> {
  const which = invocation.options["all"] === true ? "all" : "waiting";
  const { rows: groups, hasMore } = await selectUpTo(limit, (most) =>
    selectApprovalGroups(database, { batchId, which, limit: most }),
  );
  if (terminal.isJson) return terminal.printJson(groups);
  if (groups.length > 0) await printList(terminal, approvalTable(groups));
  if (hasMore) terminal.say(moreText("first", limit));
  const waiting = await countWaiting(database, batchId);
  terminal.say(
    waiting.requests === 0
      ? "Nothing waits for approval."
      : `${countOf(waiting.requests, "run")} ${waiting.requests === 1 ? "waits" : "wait"} for ` +
          `${countOf(waiting.calls, "call")} to be approved. To decide: nightdesk approvals review`,
  );
  const uncertain = await selectUncertainSteps(database, batchId, 1);
  if (uncertain.length > 0)
    terminal.say("Some calls may have had their effect: nightdesk approvals list --uncertain");
}

async function listUncertain(
  { terminal }: CommandContext,
  database: Database,
  { batchId, limit }: ListFilter,
): Promise<void> {
  const { rows: steps, hasMore } = await selectUpTo(limit, (most) =>
    selectUncertainSteps(database, batchId, most),
  );
  if (terminal.isJson) return terminal.printJson(steps);
  if (steps.length === 0) {
    terminal.say("The outcome of every call is known.");
    return;
  }
  await printList(terminal, uncertainTable(steps));
  if (hasMore) terminal.say(moreText("first", limit));
  terminal.say(
    "Look whether it was done, and say so: nightdesk approvals resolve JOB STEP --happened (or --did-not-happen)",
  );
}

/** Shows one request with everything that a decision needs. */
export const approvalsShow = databaseCommand(async ({ terminal, invocation }, database) => {
  const given = argumentOf(invocation);
  const approval = await selectApprovalDetail(database, await findApproval(database, given));
  if (approval === undefined) throw noApproval(given);
  if (terminal.isJson) return terminal.printJson(approval);
  const extent = invocation.options["all"] === true ? "full" : "brief";
  await printPage(terminal, approvalPage(approval, extent));
});

async function findApproval(db: Queryable, text: string): Promise<string> {
  const id = await findId(db, text, ["approval"]);
  if (id === undefined) throw noApproval(text);
  return id;
}

const noApproval = (text: string): Failure =>
  new Failure(
    "NOT_FOUND",
    `There is no approval ${JSON.stringify(text)}. nightdesk approvals list shows the ids; 8 characters of one are enough.`,
  );

export const approvalsApprove = decisionCommand("approve");

export const approvalsDeny = decisionCommand("deny");

function decisionCommand(verdict: NewDecision["verdict"]): CommandHandler {
  const check = ({ invocation }: CommandContext) => ({
    decision: decisionOf(invocation, verdict),
    isMany: assertOneWay(invocation),
  });
  return checkedCommand(check, async (context, database, { decision, isMany }) => {
    if (isMany) return decideMany(context, database, decision);
    const given = argumentOf(context.invocation);
    const approvalId = await findApproval(database, given);
    const decided = await decideApproval(database, approvalId, decision);
    if (decided.kind === "unknown") throw noApproval(given);
    if (decided.kind === "late") throw new Failure("INPUT_INVALID", lateText(approvalId, decided));
    await printDecided(context, decision, decided);
    return resumeRuns(context, database, decided.woken);
  });
}

/** Whether options select many calls; false for one id. @throws Failure USAGE_ERROR for both or neither */
function assertOneWay({ args, options }: Invocation): boolean {
  const isMany = ["all", "batch", "where"].some((name) => options[name] !== undefined);
  if (isMany !== args.length > 0) return isMany;
  throw new Failure(
    "USAGE_ERROR",
    "Say what is decided: the id of one approval, or --all, --batch BATCH, --where tool=NAME.",
  );
}

/** Calls per query. */
const MOST_CALLS = 500;

/** Makes the same decision on each waiting call, or only on those of the named batch or tool. */
async function decideMany(
  context: CommandContext,
  database: Database,
  decision: NewDecision,
): Promise<void> {
  const { terminal, invocation } = context;
  const batchId = await batchOf(database, invocation);
  const tool = toolOf(invocation);
  const done = { calls: 0, answered: 0, woken: 0 };
  for (let last = -1; done.calls > last;) {
    last = done.calls;
    const filter = { batchId, which: "waiting", limit: MOST_CALLS, tool } as const;
    for (const { approval_id: id } of await selectApprovalGroups(database, filter)) {
      const decided = await decideApproval(database, id, decision, batchId);
      // Somebody else decided first.
      if (decided.kind !== "decided") continue;
      done.calls += 1;
      done.answered += decided.answered;
      done.woken += decided.woken;
    }
  }
  if (terminal.isJson) {
    await terminal.printJson({ ok: true, verdict: decision.verdict, ...done });
  }
  const on = `${countOf(done.answered, "run")} ${done.answered === 1 ? "goes" : "go"} on`;
  terminal.say(
    done.calls === 0
      ? "Nothing of that waits for approval."
      : `${capital(VERDICTS[decision.verdict])}: ${countOf(done.calls, "call")}; ${on}.`,
  );
  await resumeRuns(context, database, done.woken);
}

/** @throws Failure USAGE_ERROR */
function toolOf({ options }: Invocation): string | null {
  const where = textOf(options, "where");
  if (where === undefined) return null;
  const tool = /^tool=(\S+)$/.exec(where)?.[1];
  if (tool !== undefined) return tool;
  throw new Failure(
    "USAGE_ERROR",
    `--where ${JSON.stringify(where)} is not of the form tool=NAME.`,
  );
}

const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** @throws Failure USAGE_ERROR */
function decisionOf({ options }: Invocation, verdict: NewDecision["verdict"]): NewDecision {
  const scope = SCOPES.find((known) => known === textOf(options, "scope")) ?? "once";
  const expires = textOf(options, "expires");
  if (expires !== undefined && scope !== "rule") {
    throw new Failure(
      "USAGE_ERROR",
      "--expires is for rules; give --scope rule, too, or leave it.",
    );
  }
  const reason = textOf(options, "reason")?.trim() ?? "";
  return {
    verdict,
    scope,
    reason: verdict === "approve" ? null : reason === "" ? NO_REASON : reason,
    decidedBy: userName(),
    expiresInSeconds: scope === "rule" ? secondsOf(expires ?? RULE_HOLDS) : null,
  };
}

const SCOPES = ["once", "job", "batch", "rule"] as const;
/** The reason that the model reads if the person gives none. */
const NO_REASON = "somebody was asked, and said no.";
/** The default duration of a rule. */
export const RULE_HOLDS = "7d";

export function secondsOf(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) {
    throw new Failure(
      "USAGE_ERROR",
      `--expires ${JSON.stringify(text)} is no duration; give one like 90m, 12h or 7d.`,
    );
  }
  return milliseconds / 1_000;
}

/** Who decided first: `It was approved before, by ada at …`. */
export function lateText(
  approvalId: string,
  { state, decidedBy, decidedAt }: Extract<ApprovalOutcome, { kind: "late" }>,
): string {
  const at = formatMoment(decidedAt);
  const show = `nightdesk approvals show ${approvalId} has the rest.`;
  switch (state) {
    case "approved":
    case "denied":
      return `It was ${state} before, by ${decidedBy ?? "somebody"} at ${at}; nothing was changed. ${show}`;
    case "expired":
      return `It expired at ${at}: its job is refused with APPROVAL_EXPIRED. Run the job again to be asked again. ${show}`;
    case "withdrawn":
      return `It was withdrawn at ${at}, because its job ended or a rule answers it. ${show}`;
  }
}

type Made = Extract<ApprovalOutcome, { kind: "decided" }>;

async function printDecided(
  { terminal }: CommandContext,
  { verdict, scope }: NewDecision,
  { decisionId, answered, woken }: Made,
): Promise<void> {
  if (terminal.isJson) {
    await terminal.printJson({
      ok: true,
      decision_id: decisionId,
      verdict,
      scope,
      answered,
      woken,
    });
  }
  terminal.say(decidedText({ verdict, scope }, { decisionId, answered }));
}

/** `Approved: 412 runs go on.` */
export function decidedText(
  { verdict, scope }: Pick<NewDecision, "verdict" | "scope">,
  { decisionId, answered }: Pick<Made, "decisionId" | "answered">,
): string {
  const on = verdict === "approve" ? "" : " without it";
  const sentence = `${capital(VERDICTS[verdict])}: ${countOf(answered, "run")} ${answered === 1 ? "goes" : "go"} on${on}.`;
  return scope === "once"
    ? sentence
    : `${sentence} The same is answered so from now on, ${SCOPE_ENDS[scope]}. To end that: nightdesk approvals revoke ${decisionId}`;
}

const SCOPE_ENDS = {
  job: "in this job",
  batch: "in this batch",
  rule: "until it expires",
} as const;

/** Releases a batch that was held because too many of its jobs waited, and wakes the workers. */
export async function resumeRuns(
  context: CommandContext,
  database: Database,
  woken: number,
): Promise<void> {
  await evaluateHolds(database);
  if (woken > 0) await hintWorker(context, database);
}

/** Lists the decisions that answer future requests. */
export const approvalsRules = databaseCommand(async ({ terminal, invocation }, database) => {
  const which = invocation.options["all"] === true ? "all" : "standing";
  const decisions = await selectDecisions(database, which);
  if (terminal.isJson) return terminal.printJson(decisions);
  if (decisions.length > 0) await printList(terminal, ruleTable(decisions));
  terminal.say(
    decisions.length === 0
      ? "No decision stands: each call that needs it is asked about."
      : "To end one: nightdesk approvals revoke DECISION",
  );
});

/** Ends a standing decision. */
export const approvalsRevoke = databaseCommand(async ({ terminal, invocation }, database) => {
  const given = argumentOf(invocation);
  const id = await findId(database, given, ["decision"]);
  const revoked = id === undefined ? "unknown" : await revokeDecision(database, id);
  if (id === undefined || revoked === "unknown") {
    throw new Failure(
      "NOT_FOUND",
      `There is no decision ${JSON.stringify(given)}. nightdesk approvals rules shows the ids.`,
    );
  }
  if (revoked !== "revoked") throw new Failure("INPUT_INVALID", NOT_REVOKED[revoked](id));
  if (terminal.isJson) await terminal.printJson({ ok: true, decision_id: id });
  terminal.say(`Revoked ${id}. What it answered stays; the same is asked about again.`);
});

const NOT_REVOKED = {
  once: (id: string) =>
    `Decision ${id} answered what waited then, and nothing since: there is nothing to revoke. nightdesk approvals rules lists those that stand.`,
  late: (id: string) => `Decision ${id} was revoked before.`,
} as const;

/** Records the outcome of a call during which a worker was lost. */
export const approvalsResolve = checkedCommand(
  ({ invocation: { options, args } }) => ({
    state: findingOf(options),
    step: stepOf(args[1] ?? ""),
  }),
  async (context, database, { state, step }) => {
    const { invocation, terminal } = context;
    const jobId = await findJob(database, argumentOf(invocation));
    const resolved = await resolveStep(database, jobId, step, { state, decidedBy: userName() });
    if (resolved.kind !== "resolved") throw notResolved(jobId, step, resolved);
    if (terminal.isJson) await terminal.printJson({ ok: true, job_id: jobId, step, state });
    terminal.say(
      state === "done"
        ? `Step ${step} counts as carried out: it is not made again. The model is told that its result is lost.`
        : `Step ${step} counts as not made: the model may ask for it again.`,
    );
    await resumeRuns(context, database, 1);
  },
);

function findingOf({ happened, didNotHappen }: Invocation["options"]): "done" | "skipped" {
  if ((happened === true) === (didNotHappen === true)) {
    throw new Failure(
      "USAGE_ERROR",
      "Say what became of the call: either --happened or --did-not-happen.",
    );
  }
  return happened === true ? "done" : "skipped";
}

function stepOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new Failure(
    "USAGE_ERROR",
    `${JSON.stringify(text)} is no step; nightdesk approvals list --uncertain shows its number.`,
  );
}

/** @throws Failure NOT_FOUND */
export async function findJob(db: Queryable, text: string): Promise<string> {
  const id = await findId(db, text, ["job", "run"]);
  const jobId = id === undefined ? undefined : await selectJobOf(db, id);
  if (jobId !== undefined) return jobId;
  throw new Failure(
    "NOT_FOUND",
    `There is no job or run ${JSON.stringify(text)}. nightdesk approvals list --uncertain shows the ids.`,
  );
}

function notResolved(
  jobId: string,
  step: number,
  resolved: Exclude<Awaited<ReturnType<typeof resolveStep>>, { kind: "resolved" }>,
): Failure {
  const list = "nightdesk approvals list --uncertain shows what is to be resolved.";
  if (resolved.kind === "unknown")
    return new Failure("NOT_FOUND", `Job ${jobId} has no step ${step}. ${list}`);
  const { state, by } = resolved;
  return new Failure(
    "INPUT_INVALID",
    by === null
      ? `Step ${step} of job ${jobId} is ${state}, not uncertain. ${list}`
      : `${by} resolved step ${step} of job ${jobId} before: it is ${state}. Nothing was changed.`,
  );
}
