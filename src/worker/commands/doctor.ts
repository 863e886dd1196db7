import { loadConfigFor, openContext, openTerminalOf } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { layOutLines, line, styled } from "../../shared/styled-text.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { fail, ok } from "../doctor/check.ts";
import type { Check } from "../doctor/check.ts";
import {
  checkDatabase,
  checkEntailment,
  checkQueue,
  checkRoots,
  QUEUE_SCHEMA_OUTDATED,
} from "../doctor/check-installation.ts";
import { checkHosts, checkModelHost } from "../doctor/check-model-host.ts";
import { checkIndex } from "../doctor/check-index.ts";
import { checkMemory } from "../doctor/check-memory.ts";
import { checkShell } from "../doctor/check-shell.ts";
import { probeShell } from "../sandbox/shell/probe.ts";

/**
 * Looks at everything a job needs, and says what to do about what is missing. Exit 1 when a check fails, and 78, as for a
 * worker, when the queue's tables are missing.
 */
export const doctor: CommandHandler = async (invocation) => {
  const checks = await runChecks(invocation);
  const isHealthy = checks.every(({ level }) => level !== "fail");
  const terminal = openTerminalOf(invocation);
  if (invocation.options["json"] === true) await printJson(terminal, checks, isHealthy);
  else await printText(terminal, checks);
  if (isHealthy) return EXIT.ok;
  return checks.some(({ code }) => code === QUEUE_SCHEMA_OUTDATED) ? EXIT.config : EXIT.error;
};

async function runChecks(invocation: Invocation): Promise<readonly Check[]> {
  try {
    await loadConfigFor(invocation);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [
      fail("DOCTOR_CONFIG_INVALID", error.message, "Mend the file, or give another with --config."),
    ];
  }
  const context = await openContext(invocation);
  const checks = [
    ok(
      "DOCTOR_CONFIG_PATH_OK",
      `${context.config.file} (${context.config.chosen}), work root ${context.config.roots.workroot}`,
    ),
  ];
  checks.push(...(await checkRoots(context.config)), ...(await checkStored(context)));
  checks.push(...(await checkEntailment(context.config)), checkShell(await probeShell()));
  if (invocation.options["ollama"] !== false)
    checks.push(...(await checkModelHost(context.config)));
  return checks;
}

/** Everything behind the database; a queue in Redis can be looked at only with it, because the rows are the truth. */
async function checkStored(context: CommandContext): Promise<readonly Check[]> {
  const { config, invocation } = context;
  const { checks, database } = await checkDatabase(context);
  if (database === undefined) return checks;
  const { requireEmbeddings, requirePhase3 } = invocation.options;
  const policy = requireEmbeddings === true || requirePhase3 === true ? "required" : "optional";
  try {
    return [
      ...checks,
      ...(await checkQueue(config, database)),
      ...(await checkIndex(config, database, policy)),
      ...(await checkMemory(config, database)),
      ...(await checkHosts(database, context.terminal.zone)),
    ];
  } finally {
    await database.end();
  }
}

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

async function printJson(
  terminal: Terminal,
  checks: readonly Check[],
  isHealthy: boolean,
): Promise<void> {
  await terminal.printJson({
    ok: isHealthy,
    checks: checks.map(({ level, code, message, fix }) => ({
      ok: level !== "fail",
      level,
      error_code: code,
      message,
      suggested_fix: fix,
    })),
  });
}
