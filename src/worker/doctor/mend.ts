import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import type { Terminal } from "../../shared/terminal.ts";
import type { Check } from "./check.ts";

/** Commands that take nothing away and may be run at any time, by what they mend. */
const MENDS: Readonly<Record<string, readonly string[]>> = {
  DOCTOR_CHUNKER_SIG_MISMATCH: ["index"],
  DOCTOR_FILES_CHANGED: ["index"],
  DOCTOR_EMBED_MISSING: ["embed"],
  DOCTOR_EMBED_OUTDATED: ["embed", "--rebuild"],
  DOCTOR_VECTOR_INDEX_MISSING: ["embed"],
};

/** What would be run for these checks, each command once, in the order of the checks. */
export function mendsOf(checks: readonly Check[]): readonly (readonly string[])[] {
  const found = checks.filter(({ level }) => level !== "ok").map(({ code }) => MENDS[code] ?? []);
  const lines = new Map(
    found.filter((words) => words.length > 0).map((words) => [words.join(" "), words]),
  );
  return [...lines.values()];
}

/**
 * Runs them, each after a yes. Their output goes to stderr: stdout is for the checks.
 * @returns how many were run
 * @throws Failure USAGE_ERROR where nobody can be asked and --yes is missing
 */
export async function mend(
  mends: readonly (readonly string[])[],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<number> {
  let ran = 0;
  for (const words of mends) {
    const line = `nightdesk ${words.join(" ")}`;
    if (!(await isWanted(line, invocation))) continue;
    terminal.say(`running: ${line}`);
    const code = await runBin(words, invocation);
    if (code !== 0) terminal.say(`${line} ended with ${code}`);
    ran += 1;
  }
  return ran;
}

async function isWanted(line: string, { options }: Invocation): Promise<boolean> {
  if (options["yes"] === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Failure(
      "USAGE_ERROR",
      `There is no terminal to ask on whether to run \`${line}\`. Give --yes to allow it.`,
    );
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const left = once(prompt, "close").then(() => "");
  const answer = await Promise.race([prompt.question(`Run \`${line}\`? [y/N] `), left]);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** With the configuration that was looked at. */
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
