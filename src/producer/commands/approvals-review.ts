import { openContext, userName, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { decideApproval } from "../../shared/store/investigations/approvals.ts";
import type { NewDecision } from "../../shared/store/investigations/approvals.ts";
import { selectApprovalGroups } from "../../shared/views/inbox.ts";
import type { ApprovalGroup } from "../../shared/views/inbox.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { askDecision, askReason } from "../print/decision-prompt.ts";
import { batchOf, decidedText, lateText, resumeRuns, RULE_HOLDS, secondsOf } from "./approvals.ts";

/** Asks a person on a terminal about each waiting call, first about the call that most runs wait for. */
export const approvalsReview: CommandHandler = async (invocation) => {
  assertTerminal(invocation);
  const context = await openContext(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const batchId = await batchOf(database, invocation);
    const { decided, left } = await reviewAll(context, database, batchId);
    context.terminal.say(endWords(decided, left));
  });
};

function endWords(decided: number, left: number): string {
  const done = decided === 0 ? "Nothing was decided" : `${countOf(decided, "call")} decided`;
  if (left === 0) return `${done}; nothing else waits.`;
  const waiting = `${countOf(left, "call")} still ${left === 1 ? "waits" : "wait"}`;
  return `${done}; ${waiting}: nightdesk approvals list`;
}

/** @throws Failure USAGE_ERROR without a terminal: piped input is no person's decision, and piped output shows nobody the call */
function assertTerminal({ options, screen }: Invocation): void {
  const isBothEnds = process.stdin.isTTY && screen.stdout.isTTY === true;
  if (isBothEnds && options["json"] !== true) return;
  throw new Failure(
    "USAGE_ERROR",
    "approvals review asks a person: it needs a terminal for its input and its output, and nothing was decided. " +
      "Without one: nightdesk approvals list, then nightdesk approvals approve ID or deny ID.",
  );
}

/** The most waiting calls that one query of a review returns. */
const MOST_CALLS = 500;

async function reviewAll(
  context: CommandContext,
  database: Database,
  batchId: string | null,
): Promise<{ readonly decided: number; readonly left: number }> {
  const later = new Set<string>();
  for (let decided = 0; ;) {
    // Queried each time, because others decide too, and new runs ask.
    const filter = { batchId, which: "waiting", limit: MOST_CALLS } as const;
    const groups = await selectApprovalGroups(database, filter);
    const open = groups.filter(({ fingerprint }) => !later.has(fingerprint));
    const [group] = open;
    if (group === undefined) return { decided, left: groups.length };
    const choice = await chooseDecision(context, group, open.length);
    if (choice === "left") return { decided, left: groups.length };
    if (choice === "later") later.add(group.fingerprint);
    else if (await applyDecision(context, database, group, choice)) decided += 1;
  }
}

type Chosen = Pick<NewDecision, "verdict" | "scope" | "reason">;

async function chooseDecision(
  { terminal, invocation: { options, env } }: CommandContext,
  group: ApprovalGroup,
  calls: number,
): Promise<Chosen | "later" | "left"> {
  terminal.clearStatus();
  const isPlain =
    options["color"] === false || options["color"] === "never" || (env["NO_COLOR"] ?? "") !== "";
  const color = isPlain ? "plain" : "color";
  const choice = await askDecision({ group, calls, color, ruleHolds: RULE_HOLDS });
  if (choice === "left" || choice === "later") return choice;
  if (choice !== "deny") return { verdict: "approve", scope: choice, reason: null };
  const reason = await askReason();
  return reason === undefined ? "left" : { verdict: "deny", scope: "once", reason };
}

/** @returns whether this decision took effect */
async function applyDecision(
  context: CommandContext,
  database: Database,
  { approval_id: approvalId, tool }: ApprovalGroup,
  chosen: Chosen,
): Promise<boolean> {
  const decided = await decideApproval(database, approvalId, {
    ...chosen,
    decidedBy: userName(),
    expiresInSeconds: chosen.scope === "rule" ? secondsOf(RULE_HOLDS) : null,
  });
  if (decided.kind === "decided") {
    context.terminal.say(`${tool}: ${decidedText(chosen, decided)}`);
    await resumeRuns(context, database, 0);
    return true;
  }
  context.terminal.say(
    decided.kind === "late" ? lateText(approvalId, decided) : "Its batch was deleted meanwhile.",
  );
  return false;
}
