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

/** Loads the one process that a command needs. */
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

// The worker that runs the command of a schedule hands over what no environment should hold, and says that it does.
if (process.env[SECRETS_FOLLOW] !== undefined) {
  Reflect.deleteProperty(process.env, SECRETS_FOLLOW);
  Object.assign(process.env, await receiveSecrets());
}
if (process.env[STOP_WITH_PARENT] !== undefined) stopWithParent();

const wantsJson = process.argv.includes("--json");
const wantsStack = process.argv.includes("--debug");

/** The one place where a command's error becomes words and an exit code. */
function report(error: unknown): number {
  printFailure(error, { json: wantsJson, stack: wantsStack });
  return exitCodeOf(error);
}

// A reader that went away, as in `… | head`, has all it wanted: nobody is left to print for.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`nightdesk: the output can't be written: ${error.message}\n`);
  process.exit(1);
});

// A fault outside of any awaited call, such as an event of a library: no raw stack, and no half-dead process.
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
    // An engine that was opened and then failed to migrate would keep its process for ever.
    if (command.process === "embedded") process.exit(code);
    process.exitCode = code;
  });
  const [, , ...words] = process.argv;
  const { operands, unknown } = program.parseOptions(words);
  const isStatus = operands.length + unknown.length === 0;
  await program.parseAsync(isStatus ? ["status", ...words] : words, { from: "user" });
} catch (error) {
  // Commander ends so, too, after it has printed help or the version.
  const isDone = error instanceof CommanderError && error.exitCode === 0;
  if (!isDone) {
    process.exitCode = report(error instanceof CommanderError ? usageFailure(error) : error);
  }
}
