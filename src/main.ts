import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { buildProgram, usageFailure } from "./shared/commands/build-program.ts";
import type { Command, CommandHandlers, Invocation } from "./shared/commands/command.ts";
import { EXIT, exitCodeOf, printFailure } from "./shared/commands/report-failure.ts";
import { Failure } from "./shared/failure.ts";
import {
  receiveSecrets,
  SECRETS_FOLLOW,
  STOP_WITH_PARENT,
  stopWithParent,
} from "./shared/child-process.ts";

const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(`${packageRoot}/package.json`, "utf8")) as {
  version: string;
};

/** Loads the code of the process that a command belongs to. */
const processes: Record<Command["process"], () => Promise<CommandHandlers>> = {
  producer: async () => (await import("./producer/main.ts")).handlers,
  worker: async () => (await import("./worker/main.ts")).handlers,
  embedded: async () => (await import("./embedded/main.ts")).handlers,
  dashboard: async () => (await import("./dashboard/main.ts")).handlers,
  serve: async () => (await import("./serve/main.ts")).handlers,
};

async function run(command: Command, invocation: Invocation): Promise<number> {
  const handlers = await processes[command.process]();
  const load = handlers[command.name];
  if (load === undefined) throw new Error(`${command.name} has no handler in ${command.process}`);
  const handle = await load();
  return (await handle(invocation)) ?? EXIT.ok;
}

// The worker that runs the command of a schedule sends secrets by the channel instead of the environment.
if (process.env[SECRETS_FOLLOW] !== undefined) {
  Reflect.deleteProperty(process.env, SECRETS_FOLLOW);
  Object.assign(process.env, await receiveSecrets());
}
if (process.env[STOP_WITH_PARENT] !== undefined) stopWithParent();

const wantsJson = process.argv.includes("--json");
const wantsStack = process.argv.includes("--debug");

/** The only place that converts a command's error to a message and an exit code. */
function report(error: unknown): number {
  printFailure(error, { json: wantsJson, stack: wantsStack });
  return exitCodeOf(error);
}

// The reader closed the pipe, as in `… | head`: there is nobody to print for.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`nightdesk: the output can't be written: ${error.message}\n`);
  process.exit(1);
});

// An error outside of awaited code, such as in an event of a library: print no raw stack, and leave no broken process.
process.on("uncaughtException", (error) => {
  process.exit(report(error));
});

try {
  if (process.platform === "win32") {
    throw new Failure(
      "CONFIG_ERROR",
      "Nightdesk does not run on Windows. Use WSL or a Linux machine.",
    );
  }
  const program = buildProgram(version, async (command, args, options) => {
    const code = await run(command, {
      command,
      args,
      options,
      env: process.env,
      cwd: process.cwd(),
      screen: process,
      packageRoot,
      version,
    });
    // A database engine that was opened and then failed to migrate would keep its process alive for ever.
    if (command.process === "embedded") process.exit(code);
    process.exitCode = code;
  });
  const [, , ...words] = process.argv;
  const { operands, unknown } = program.parseOptions(words);
  const isStatus = operands.length + unknown.length === 0;
  await program.parseAsync(isStatus ? ["status", ...words] : words, { from: "user" });
} catch (error) {
  // Commander also throws after it has printed help or the version.
  const isDone = error instanceof CommanderError && error.exitCode === 0;
  if (!isDone) {
    process.exitCode = report(error instanceof CommanderError ? usageFailure(error) : error);
  }
}
