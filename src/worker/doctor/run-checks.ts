import { loadConfigFor, openContext } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import { readerRights } from "../documents/reader/rights.ts";
import { probeShell } from "../sandbox/shell/probe.ts";
import { fail, ok } from "./check.ts";
import type { Check } from "./check.ts";
import { checkDatabase, checkQueue, checkRoots } from "./check-installation.ts";
import { checkHosts, checkModelHost } from "./check-model-host.ts";
import { checkIndex, checkRetrieval } from "./check-index.ts";
import { checkJudge } from "./check-judge.ts";
import { checkLocalModels } from "./check-local-models.ts";
import { checkMemory } from "./check-memory.ts";
import { checkOcr, checkReader } from "./check-readers.ts";
import { checkFiles, checkMirrors, checkVectorSettings } from "./check-sources.ts";
import { checkMcpServers, checkShell, checkSqlRole, checkWeb } from "./check-tools.ts";
import { checkUpkeep } from "./check-upkeep.ts";
import { textExtractionOf } from "../settings.ts";

/** Runs all checks, with the current configuration that the invocation selects. */
export async function runChecks(invocation: Invocation): Promise<readonly Check[]> {
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
  checks.push(...(await checkLocalModels(context.config)), checkShell(await probeShell()));
  checks.push(await checkReader(readerRights(), textExtractionOf(context.config)));
  checks.push(...checkOcr(context.config, context.invocation.packageRoot));
  checks.push(...(await checkMcpServers(context)));
  checks.push(...(await checkWeb(context.config, invocation.env)));
  if (invocation.options["ollama"] !== false) {
    const window = invocation.options["probeWindow"] === true ? "probe" : "look";
    checks.push(...(await checkModelHost(context.config, context.invocation.env, window)));
  }
  return checks;
}

/** The checks that need the database; even a queue in Redis can only be compared with the rows, which are authoritative. */
async function checkStored(context: CommandContext): Promise<readonly Check[]> {
  const { config, invocation } = context;
  const { checks, database } = await checkDatabase(context);
  if (database === undefined) return checks;
  const { requireEmbeddings, requirePhase3 } = invocation.options;
  const policy = requireEmbeddings === true || requirePhase3 === true ? "required" : "optional";
  try {
    return [
      ...checks,
      await checkSqlRole(database),
      ...(await checkQueue(context, database)),
      ...(await checkIndex(config, database, { vectors: policy, env: invocation.env })),
      ...(await checkFiles(config, database)),
      ...(await checkMirrors(config, database)),
      ...(await checkVectorSettings(config, database)),
      ...(await checkRetrieval(config, database)),
      ...(await checkJudge(config, database)),
      ...(await checkMemory(config, database)),
      ...(await checkUpkeep(config, database, context.terminal.zone)),
      ...(await checkHosts(database, context.terminal.zone)),
    ];
  } finally {
    await database.end();
  }
}

/** The checks as `doctor --json` prints them; ok if none fails. */
export const checksJson = (checks: readonly Check[]): object => ({
  ok: checks.every(({ level }) => level !== "fail"),
  checks: checks.map(({ level, code, message, fix }) => ({
    ok: level !== "fail",
    level,
    error_code: code,
    message,
    suggested_fix: fix,
  })),
});
