import { posix } from "node:path";
import { checkedCommand, userName } from "../../shared/commands/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import { insertCommandRule } from "../../shared/store/investigations/command-rules.ts";
import type { NewCommandRule } from "../../shared/store/investigations/command-rules.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { batchOf, findJob, resumeRuns } from "./approvals.ts";
import { countOfOption, textOf } from "./options.ts";

const DAY_S = 86_400;
/** The default duration of an allow rule. */
const DEFAULT_DAYS = 7;
const MOST_DAYS = 3_650;

/**
 * Adds a rule for commands of the shell tool: one that allows, until it expires, or one that forbids. Runs that wait for a
 * command that the rule covers go on.
 */
export const approvalsRulesAdd = checkedCommand(
  ({ invocation }) => readRule(invocation),
  async (context, database, rule) => {
    const { terminal, invocation } = context;
    const within = await ruleScope(database, invocation);
    const { decisionId, expiresAt, woken } = await insertCommandRule(database, {
      ...rule,
      expiresInSeconds: within === undefined ? rule.expiresInSeconds : null,
      within,
    });
    if (terminal.isJson) {
      await terminal.printJson({
        ok: true,
        decision_id: decisionId,
        verdict: rule.verdict,
        rule: rule.rule,
        scope: within?.scope ?? "rule",
        expires_at: expiresAt,
        woken,
      });
    } else {
      await terminal.print(decisionId);
      terminal.say(
        `${formatRule(rule, within?.scope)}. To end it: nightdesk approvals revoke ${decisionId.slice(0, 8)}`,
      );
    }
    await resumeRuns(context, database, woken);
  },
);

/** @throws Failure USAGE_ERROR, NOT_FOUND */
async function ruleScope(
  database: Database,
  invocation: Invocation,
): Promise<NewCommandRule["within"]> {
  const { options } = invocation;
  const batchId = await batchOf(database, invocation);
  const job = textOf(options, "job");
  if (batchId === null && job === undefined) return undefined;
  if (options["days"] !== undefined || (batchId !== null && job !== undefined)) {
    throw new Failure(
      "USAGE_ERROR",
      "--batch, --job and --days each say how long the rule holds; give one of them.",
    );
  }
  return job === undefined
    ? { scope: "batch", id: batchId ?? "" }
    : { scope: "job", id: await findJob(database, job) };
}

function formatRule(
  { verdict, rule, expiresInSeconds }: NewCommandRule,
  scope: "job" | "batch" | undefined,
): string {
  const words = [rule.binary, ...rule.words].join(" ");
  const days =
    expiresInSeconds === null ? "for good" : `for ${countOf(expiresInSeconds / DAY_S, "day")}`;
  const until = scope === undefined ? days : `in this ${scope}`;
  return verdict === "deny"
    ? `Commands that begin with ${words} are forbidden ${until}`
    : `Commands that begin with ${words}, with paths in ${rule.folder ?? "/"}, run without asking ${until}`;
}

function readRule({ args, options }: Invocation): NewCommandRule {
  const [binary = "", ...words] = args;
  checkProgram(binary);
  const reason = textOf(options, "reason")?.trim() || null;
  const folder = textOf(options, "folder");
  const isDenial = options["forbid"] === true;
  if (isDenial && folder !== undefined) {
    throw new Failure(
      "USAGE_ERROR",
      "--folder is of rules that allow: what is forbidden is so wherever it runs.",
    );
  }
  if (isDenial && reason === null) {
    throw new Failure("USAGE_ERROR", "--reason is missing: say why it is forbidden.");
  }
  const days = countOfOption(options, "days") ?? (isDenial ? null : DEFAULT_DAYS);
  if (days !== null && days > MOST_DAYS)
    throw new Failure("USAGE_ERROR", `--days is at most ${MOST_DAYS.toLocaleString("en-US")}.`);
  return {
    verdict: isDenial ? "deny" : "approve",
    rule: { binary, words, folder: isDenial ? null : folderOf(folder ?? "/") },
    reason,
    decidedBy: userName(),
    expiresInSeconds: days === null ? null : days * DAY_S,
  };
}

function checkProgram(binary: string): void {
  if (/^[A-Za-z0-9_[][A-Za-z0-9_.+-]*$/.test(binary)) return;
  throw new Failure(
    "USAGE_ERROR",
    `${JSON.stringify(binary)} is not the plain name of a program; give one without a folder, like git.`,
  );
}

/** Checks that a folder is in the sandbox. There are no links above /scratch, so a plain path is the real path. */
function folderOf(folder: string): string {
  const plain = posix.normalize(folder).replace(/(?<=.)\/$/, "");
  if (/^\/(?:$|(?:input|scratch)(?:\/|$))/.test(plain)) return plain;
  throw new Failure(
    "USAGE_ERROR",
    `--folder ${JSON.stringify(folder)} is no folder of the sandbox; there are /input, /scratch, what lies in them, and / for both.`,
  );
}
