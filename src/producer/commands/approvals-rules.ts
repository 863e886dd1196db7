import { userInfo } from "node:os";
import { posix } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { insertCommandRule } from "../../shared/store/investigations/command-rules.ts";
import type { NewCommandRule } from "../../shared/store/investigations/command-rules.ts";
import { countOfOption, textOf } from "./options.ts";

const DAY_S = 86_400;
/** How long a rule that allows holds unless it is said. */
const DAYS = 7;

/** Adds a rule for commands of the tool shell: one that allows, until it expires, or one that forbids. */
export const approvalsRulesAdd: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const rule = readRule(invocation);
  const { decisionId, expiresAt } = await withDatabase(context, "must-exist", (database) =>
    insertCommandRule(database, rule),
  );
  const { terminal } = context;
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      decision_id: decisionId,
      verdict: rule.verdict,
      rule: rule.rule,
      expires_at: expiresAt,
    });
    return EXIT.ok;
  }
  await terminal.print(decisionId);
  terminal.say(`${toldOf(rule)}. To end it: nightdesk approvals revoke ${decisionId.slice(0, 8)}`);
  return EXIT.ok;
};

function toldOf({ verdict, rule, expiresInSeconds }: NewCommandRule): string {
  const words = [rule.binary, ...rule.words].join(" ");
  const until = expiresInSeconds === null ? "for good" : `for ${expiresInSeconds / DAY_S} days`;
  if (verdict === "deny") return `Commands that begin with ${words} are forbidden ${until}`;
  const flags = rule.flags.length === 0 ? "no flags" : `the flags ${rule.flags.join(", ")}`;
  const folder = rule.folder ?? "/";
  return `Commands that begin with ${words}, with ${flags} and paths in ${folder}, run without asking ${until}`;
}

function readRule({ args, options }: Invocation): NewCommandRule {
  const [binary = "", ...words] = args;
  const reason = textOf(options, "reason")?.trim();
  const days = countOfOption(options, "days");
  const isDenial = options["forbid"] === true;
  checkProgram(binary);
  const flags = flagsOf(options["flag"]);
  const folder = textOf(options, "folder");
  if (!isDenial) {
    return {
      verdict: "approve",
      rule: { binary, words, flags, folder: folderOf(folder ?? "/") },
      reason: reason ?? null,
      decidedBy: userInfo().username,
      expiresInSeconds: (days ?? DAYS) * DAY_S,
    };
  }
  if (flags.length > 0 || folder !== undefined) {
    throw new Failure(
      "USAGE_ERROR",
      "--flag and --folder are of rules that allow: what is forbidden is so with any flag, wherever it runs.",
    );
  }
  if (reason === undefined || reason === "") {
    throw new Failure("USAGE_ERROR", "--reason is missing: say why it is forbidden.");
  }
  return {
    verdict: "deny",
    rule: { binary, words, flags: [], folder: null },
    reason,
    decidedBy: userInfo().username,
    expiresInSeconds: days === undefined ? null : days * DAY_S,
  };
}

function checkProgram(binary: string): void {
  if (/^[A-Za-z0-9_[][A-Za-z0-9_.+-]*$/.test(binary)) return;
  throw new Failure(
    "USAGE_ERROR",
    `${JSON.stringify(binary)} is not the plain name of a program; give one without a folder, like git.`,
  );
}

function flagsOf(given: Invocation["options"][string]): readonly string[] {
  const flags = Array.isArray(given) ? given.map(String) : [];
  const odd = flags.find((flag) => !/^-./.test(flag));
  if (odd === undefined) return flags;
  throw new Failure(
    "USAGE_ERROR",
    `--flag ${JSON.stringify(odd)} does not begin with a dash; other words that may follow are paths in --folder.`,
  );
}

/** The sandbox has no links of its own above /scratch, so that a plain path is the real one. */
function folderOf(folder: string): string {
  const plain = posix.normalize(folder).replace(/(?<=.)\/$/, "");
  if (/^\/(?:$|(?:input|scratch)(?:\/|$))/.test(plain)) return plain;
  throw new Failure(
    "USAGE_ERROR",
    `--folder ${JSON.stringify(folder)} is no folder of the sandbox; there are /input, /scratch, what lies in them, and / for both.`,
  );
}
