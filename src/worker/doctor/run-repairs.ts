import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Invocation } from "../../shared/commands/command.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { askForYes } from "../../shared/commands/ask-for-yes.ts";
import type { Check } from "./check.ts";

/** Harmless commands by the fault that they repair. No command repairs a schema in use by workers, or one of another build. */
const REPAIRS: Readonly<Record<string, readonly string[]>> = {
  DOCTOR_INDEX_SCHEMA_VERSION: ["migrate"],
  DOCTOR_QUEUE_SCHEMA_VERSION: ["migrate"],
  DOCTOR_CHUNKER_SIG_MISMATCH: ["index"],
  DOCTOR_FILES_CHANGED: ["index"],
  DOCTOR_EMBED_MISSING: ["embed"],
  DOCTOR_EMBED_OUTDATED: ["embed"],
  DOCTOR_VECTOR_INDEX_MISSING: ["embed"],
};

/** Commands that queue work. */
const QUEUED = new Set(["index", "embed"]);

/** With a server, commands do not start workers: a command that waits would wait for ever. */
const NO_WORKER = "DOCTOR_NO_WORKER";

/**
 * The commands that repair these faults, each once, in the order of the checks. If no worker is alive, they queue their work
 * and do not wait for it.
 */
export function repairsFor(checks: readonly Check[]): readonly (readonly string[])[] {
  const faults = checks.filter(({ level }) => level !== "ok");
  const waits = faults.some(({ code }) => code === NO_WORKER) ? ["--no-wait"] : [];
  const found = faults.map(({ code }) => {
    const words = REPAIRS[code];
    if (words === undefined) return [];
    return QUEUED.has(words[0] ?? "") ? [...words, ...waits] : words;
  });
  const lines = new Map(
    found.filter((words) => words.length > 0).map((words) => [words.join(" "), words]),
  );
  return [...lines.values()];
}

/**
 * Runs the commands, each after confirmation. Their output goes to stderr: stdout is for the checks.
 * @returns how many were run
 * @throws Failure USAGE_ERROR if nobody can confirm and --yes is missing
 */
export async function runRepairs(
  mends: readonly (readonly string[])[],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<number> {
  let ran = 0;
  for (const words of mends) {
    const line = `nightdesk ${words.join(" ")}`;
    if (!(await askForYes(invocation, `Run \`${line}\`?`, `to run \`${line}\``))) continue;
    terminal.say(`running: ${line}`);
    const code = await runBin(words, invocation);
    if (code !== 0) terminal.say(`${line} ended with ${code}`);
    ran += 1;
  }
  return ran;
}

/** Runs a command with the configuration that was checked. */
async function runBin(
  words: readonly string[],
  { options, packageRoot, cwd, env }: Invocation,
): Promise<number> {
  const chosen = (["config", "workroot"] as const).flatMap((name) => {
    const value = options[name];
    return typeof value === "string" ? [`--${name}`, value] : [];
  });
  const child = spawn(
    process.execPath,
    [join(packageRoot, "bin", "nightdesk.js"), ...words, ...chosen],
    { cwd, env, stdio: ["ignore", process.stderr, process.stderr] },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
