import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { buildProgram } from "./shared/commands/build-program.ts";
import type { Command, CommandHandlers, Invocation } from "./shared/commands/command.ts";
import { exitCodeOf, printFailure } from "./shared/commands/report-failure.ts";

const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(`${packageRoot}/package.json`, "utf8")) as {
  version: string;
};

/** Loads the one process that a command needs. */
const processes: Record<Command["process"], () => Promise<CommandHandlers>> = {
  producer: async () => (await import("./producer/main.ts")).handlers,
  worker: async () => (await import("./worker/main.ts")).handlers,
  embedded: async () => (await import("./embedded/main.ts")).handlers,
};

async function run(command: Command, invocation: Invocation): Promise<number> {
  const handlers = await processes[command.process]();
  const load = handlers[command.name];
  if (load === undefined) throw new Error(`${command.name} has no handler in ${command.process}`);
  const handle = await load();
  return handle(invocation);
}

const wantsJson = process.argv.includes("--json");
const wantsStack = process.argv.includes("--debug");

try {
  if (process.platform === "win32") {
    throw new CommanderError(
      78,
      "platform",
      "Nightdesk does not run on Windows. Use WSL or a Linux machine.",
    );
  }
  const program = buildProgram(version, async (command, args, options) => {
    process.exitCode = await run(command, {
      command,
      args,
      options,
      env: process.env,
      cwd: process.cwd(),
      packageRoot,
      version,
    });
  });
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed help, the version or what is wrong with the command line.
    process.exitCode = error.exitCode === 0 ? 0 : error.code === "platform" ? 78 : 2;
    if (error.code === "platform") process.stderr.write(`${error.message}\n`);
  } else {
    printFailure(error, { json: wantsJson, stack: wantsStack });
    process.exitCode = exitCodeOf(error);
  }
}
