import { resolve } from "node:path";
import { CommanderError } from "commander";
import { handlers } from "../../src/producer/main.ts";
import { buildProgram, usageFailure } from "../../src/shared/commands/build-program.ts";
import { exitCodeOf, printFailure } from "../../src/shared/commands/report-failure.ts";
import type { Screen } from "../../src/shared/terminal/terminal.ts";
import { handlers as workerHandlers } from "../../src/worker/main.ts";
import { captureStream } from "./capture-stream.ts";
import type { Ended } from "./run-bin.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..");

type CommandPlace = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of a terminal that stdout and stderr are; without it they are pipes. */
  readonly columns?: number;
};

/**
 * Runs a command of the producer or the worker as the bin does, in this process: a tenth of what it costs to start one. Only one at
 * a time, because what it writes to stdout and stderr is taken from the process. Signals, statuses of processes and what the bin
 * itself does are for `runBin`.
 */
export async function runCommand(
  words: readonly string[],
  { cwd, env = {}, columns }: CommandPlace,
): Promise<Ended> {
  const written = { stdout: "", stderr: "" };
  const restore = [
    captureStream("stdout", (text) => (written.stdout += text)),
    captureStream("stderr", (text) => (written.stderr += text)),
    moveTo(cwd),
  ];
  const screen = screenOf(columns);
  let code = 0;
  try {
    const program = buildProgram("0.0.0-test", async (command, args, options) => {
      const load = handlers[command.name] ?? workerHandlers[command.name];
      if (load === undefined) throw new Error(`${command.name} is not a command`);
      const handle = await load();
      const invocation = { command, args, options, env, cwd, screen, packageRoot };
      code = (await handle({ ...invocation, version: "0.0.0-test" })) ?? 0;
    });
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    const failure = error instanceof CommanderError ? usageFailure(error) : error;
    if (!(error instanceof CommanderError && error.exitCode === 0)) {
      printFailure(failure, { json: words.includes("--json"), stack: words.includes("--debug") });
      code = exitCodeOf(failure);
    }
  } finally {
    for (const undo of restore) undo();
  }
  return { code, ...written };
}

/** Some commands open the files that they are given as the process would. */
function moveTo(folder: string): () => void {
  process.chdir(folder);
  // Where tests run, whatever this began in: of two commands that overlap, the last would leave the process in the other's folder.
  return () => {
    process.chdir(packageRoot);
  };
}

/** What is written to it is captured like anything else that is written. */
function screenOf(columns: number | undefined): Screen {
  const streamOf = (name: "stdout" | "stderr") => ({
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    write: (text: string) => process[name].write(text),
    once: () => undefined,
  });
  return { stdout: streamOf("stdout"), stderr: streamOf("stderr") };
}
