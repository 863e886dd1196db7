import { openTerminalOf } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { layOutLines, line, styled } from "../../shared/terminal/styled-text.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import type { Check } from "../doctor/check.ts";
import { QUEUE_SCHEMA_OUTDATED } from "../doctor/check-installation.ts";
import { runRepairs, repairsFor } from "../doctor/run-repairs.ts";
import { checksJson, runChecks } from "../doctor/run-checks.ts";

/**
 * Checks everything that jobs need, and suggests repairs. Exit 1 if a check fails, and 78, like a worker, if the queue's tables
 * are missing. With --fix it first runs the safe repairs, each after confirmation.
 */
export const doctor: CommandHandler = async (invocation) => {
  const terminal = openTerminalOf(invocation);
  const found = await runChecks(invocation);
  const mends = invocation.options["fix"] === true ? repairsFor(found) : [];
  const ran = await runRepairs(mends, { invocation, terminal });
  const checks = ran === 0 ? found : await runChecks(invocation);
  if (terminal.isJson) await terminal.printJson(checksJson(checks));
  else await printText(terminal, checks);
  if (checks.every(({ level }) => level !== "fail")) return EXIT.ok;
  return checks.some(({ code }) => code === QUEUE_SCHEMA_OUTDATED) ? EXIT.config : EXIT.error;
};

const MARKS = {
  ok: styled("OK  ", "good"),
  warn: styled("WARN", "caution"),
  fail: styled("FAIL", "bad"),
} as const;

async function printText(terminal: Terminal, checks: readonly Check[]): Promise<void> {
  const lines = checks.flatMap(({ level, code, message, fix }) => [
    line`[${MARKS[level]}] ${code}: ${message}`,
    ...(fix === null ? [] : [`       fix: ${fix}`]),
  ]);
  for (const shown of layOutLines(lines, terminal.dataColumns)) await terminal.print(shown);
  const count = (level: Check["level"]) => checks.filter((check) => check.level === level).length;
  await terminal.print(
    `doctor summary: ok=${count("ok")} warn=${count("warn")} fail=${count("fail")}`,
  );
}
