import { dirname, resolve } from "node:path";
import type { Invocation } from "./commands/command.ts";
import { loadConfig } from "./config/load-config.ts";
import type { Config } from "./config/schema.ts";
import { connectDatabase } from "./db/connect.ts";
import type { Database } from "./db/database.ts";
import { createLogger } from "./logger.ts";
import type { Logger } from "./logger.ts";
import { openTerminal } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** What a command works with, besides its own arguments. */
export type CommandContext = {
  readonly invocation: Invocation;
  readonly config: Config;
  readonly logger: Logger;
  readonly terminal: Terminal;
};

/** Reads the configuration of a command and opens its terminal. The logger is made when it is first asked for. */
export async function openContext(invocation: Invocation): Promise<CommandContext> {
  const config = await loadConfigFor(invocation);
  const plain = invocation.options["color"] === false || Boolean(invocation.env["NO_COLOR"]);
  const terminal = openTerminal({
    color: plain ? "plain" : "color",
    data: invocation.options["raw"] === true ? "raw" : "clean",
  });
  if (config.chosen === "found" && dirname(config.file) !== invocation.cwd)
    terminal.say(`Configuration: ${config.file}`);
  sayPlaceOfState(config, terminal);
  const style = process.stderr.isTTY && !plain ? "pretty" : "json";
  let logger: Logger | undefined;
  return {
    invocation,
    config,
    get logger() {
      return (logger ??= createLogger(config.log.level, style));
    },
    terminal,
  };
}

function sayPlaceOfState({ database, roots }: Config, terminal: Terminal): void {
  const configured = resolve(roots.workroot, database.directory);
  if (database.url !== "embedded" || roots.databaseDirectory === configured) return;
  terminal.say(
    `The database is kept in ${roots.databaseDirectory}, because the work root could not be written; ` +
      "database.directory chooses another folder.",
  );
}

/** The configuration that the flags and the environment of a command select. */
export function loadConfigFor({ options, env, cwd, packageRoot }: Invocation): Promise<Config> {
  const flags = {
    config: textOption(options["config"]),
    workroot: textOption(options["workroot"]),
    ollamaBaseUrl: textOption(options["ollamaBaseUrl"]),
    logLevel: textOption(options["logLevel"]),
  };
  const given = Object.fromEntries(
    Object.entries(flags).filter(([, value]) => value !== undefined),
  );
  return loadConfig({ flags: given, env, cwd, packageRoot });
}

const textOption = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/**
 * Runs the body with the database open, and closes it whatever happens.
 * @param create whether an embedded database that is not there yet is made, or is Failure NOT_FOUND
 */
export async function withDatabase<T>(
  context: CommandContext,
  create: "create" | "must-exist",
  body: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await connectDatabase({
    config: context.config,
    packageRoot: context.invocation.packageRoot,
    create,
    onError: (err) => {
      context.logger.warn({ err }, "idle database connection lost");
    },
  });
  try {
    return await body(database);
  } finally {
    await database.end();
  }
}
