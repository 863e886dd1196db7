import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import { format } from "node:util";
import type { CommandHandler, Invocation } from "./command.ts";
import { modelBaseUrl } from "../config/base-url.ts";
import { embedderHostsOf, modelHostsOf } from "../config/hosts.ts";
import { userStateFolder } from "../config/database-directory.ts";
import { loadConfig } from "../config/load-config.ts";
import type { Config } from "../config/schema.ts";
import { selectConfigFile, entryExists } from "../config/select-config-file.ts";
import type { ConfigRequest } from "../config/select-config-file.ts";
import { Failure } from "../failure.ts";
import { connectDatabase } from "../store/connection/connect.ts";
import type { Database } from "../store/connection/database.ts";
import { createLogger } from "../logger.ts";
import type { Logger } from "../logger.ts";
import { openTerminal } from "../terminal/terminal.ts";
import type { ColorChoice, Terminal } from "../terminal/terminal.ts";
import { isZone, localZone } from "../schedules/time.ts";
import { countOf } from "../views/quantity.ts";

/** What a command needs besides its own arguments. */
export type CommandContext = {
  readonly invocation: Invocation;
  readonly config: Config;
  readonly logger: Logger;
  readonly terminal: Terminal;
};

/** Reads the configuration of a command and opens its terminal. The logger is created on first use. */
export async function openContext(invocation: Invocation): Promise<CommandContext> {
  const config = await loadConfigFor(invocation);
  // A command of the worker calls the host itself, and doctor reports an invalid URL.
  const { process } = invocation.command;
  if (process === "producer" || process === "dashboard" || process === "serve")
    checkHostUrls(config, invocation);
  const terminal = openTerminalOf(invocation);
  if (config.chosen === "found" && dirname(config.file) !== invocation.cwd)
    terminal.say(`Configuration: ${config.file}`);
  printDatabaseFolder(config, terminal);
  const style = terminal.isInteractive ? "pretty" : "json";
  let logger: Logger | undefined;
  const openLogger = (): Logger => (logger ??= createLogger(config.log.level, style));
  // Libraries of the queue and of models warn on the console, whose lines are not in the format of the log.
  Object.assign(console, {
    warn: (...words: unknown[]) => {
      openLogger().warn(format(...words));
    },
  });
  return {
    invocation,
    config,
    get logger() {
      return openLogger();
    },
    terminal,
  };
}

/** Checks the flag even if no host is called. @throws Failure CONFIG_ERROR for an invalid URL */
function checkHostUrls(config: Config, { options }: Invocation): void {
  if (options["ollamaBaseUrl"] !== undefined) modelBaseUrl(config);
  modelHostsOf(config);
  embedderHostsOf(config);
}

function printDatabaseFolder({ database, roots }: Config, terminal: Terminal): void {
  const configured = resolve(roots.workroot, database.directory);
  if (database.url !== "embedded" || roots.databaseDirectory === configured) return;
  terminal.say(
    `The database is kept in ${roots.databaseDirectory}, because the work root could not be written; ` +
      "database.directory chooses another folder.",
  );
}

/** The terminal of a command, with its flags and environment for colour and times. */
export function openTerminalOf({ options, env, screen }: Invocation): Terminal {
  const { TZ: zone = "" } = env;
  return openTerminal({
    screen,
    color: colorChoice(options["color"], env),
    data: options["raw"] === true ? "raw" : "clean",
    isJson: options["json"] === true,
    zone: () => (options["json"] === true ? null : isZone(zone) ? zone : localZone()),
  });
}

/** `--color` and `--no-color`, then FORCE_COLOR, then NO_COLOR, then auto-detection. */
function colorChoice(option: unknown, env: Invocation["env"]): ColorChoice {
  if (option === false) return "never";
  if (option === "always" || option === "never" || option === "auto") return option;
  const { FORCE_COLOR: force = "", NO_COLOR: no = "", TERM: term } = env;
  if (force !== "") return force === "0" || force === "false" ? "never" : "always";
  return no !== "" || term === "dumb" ? "never" : "auto";
}

/** The configuration that flags and environment of a command select, or that is generated for its folder. */
export async function loadConfigFor(invocation: Invocation): Promise<Config> {
  const request = configRequestOf(invocation);
  await createMissingConfig(invocation, request);
  return loadConfig(request);
}

async function createMissingConfig(invocation: Invocation, request: ConfigRequest): Promise<void> {
  const folder = folderWithoutConfig(invocation, request);
  if (folder === undefined) return;
  const { isPlainWorkspace, makeFolderConfig } = await import("../config/make-folder-config.ts");
  if (request.flags.in === undefined && isPlainWorkspace(folder)) return;
  const size = invocation.options["yes"] === true ? "any" : "usual";
  const { explainMove } = await import("../config/moved-folder.ts");
  const moved = await explainMove(folder, request.env);
  const made = await makeFolderConfig(folder, request, size);
  const { state, files } = made;
  const terminal = openTerminalOf(invocation);
  terminal.say(
    `${made.folder}: ${countOf(files, "file")} to read. Its index and database are kept in ${state}; nightdesk init keeps the ` +
      "configuration in the folder.",
  );
  if (moved !== null) terminal.say(moved);
}

/** The folder that needs a generated configuration; undefined if it has one. */
function folderWithoutConfig({ command }: Invocation, request: ConfigRequest): string | undefined {
  const { flags, env, cwd, packageRoot } = request;
  const { file, how } = selectConfigFile(request);
  if (flags.in !== undefined) {
    if (flags.config !== undefined || flags.workroot !== undefined)
      throw new Failure("USAGE_ERROR", "--in stands without --config and --workroot.");
    return entryExists(file) ? undefined : resolve(cwd, flags.in);
  }
  const isNamed = [flags.workroot, env["NIGHTDESK_WORKROOT"], env["DATABASE_URL"]].some(Boolean);
  const isOurs = realpathSync(cwd) === realpathSync(packageRoot);
  const isMade = command.anyFolder === true && userStateFolder(env) !== undefined;
  return how === "shipped" && isMade && !isNamed && !isOurs ? cwd : undefined;
}

/** The inputs that select the configuration of a command. */
export function configRequestOf({ options, env, cwd, packageRoot }: Invocation): ConfigRequest {
  const names = ["config", "workroot", "in", "ollamaBaseUrl", "logLevel"] as const;
  const given = names.flatMap((name) => {
    const value = options[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return { flags: Object.fromEntries(given), env, cwd, packageRoot };
}

/** Opens the database of a command, which has to end it. @param create as in `withDatabase` */
export const openDatabase = (
  context: CommandContext,
  create: "create" | "must-exist",
  onStart?: () => void,
): Promise<Database> =>
  connectDatabase({
    config: context.config,
    packageRoot: context.invocation.packageRoot,
    create,
    onStart,
    onError: (err) => {
      context.logger.warn({ err }, "idle database connection lost");
    },
  });

/**
 * Runs the body with the database open, and closes it in any case.
 * @param create whether a missing embedded database is created, or fails with NOT_FOUND
 * @param onStart called before the process of an embedded database starts
 */
export async function withDatabase<T>(
  context: CommandContext,
  create: "create" | "must-exist",
  body: (database: Database) => Promise<T>,
  onStart?: () => void,
): Promise<T> {
  const database = await openDatabase(context, create, onStart);
  try {
    return await body(database);
  } finally {
    await database.end();
  }
}

/** A command that needs an existing, open database. */
export const databaseCommand = (
  run: (context: CommandContext, database: Database) => ReturnType<CommandHandler>,
): CommandHandler => checkedCommand(() => undefined, run);

/** The same with a `check` of the arguments before the database is opened. */
export const checkedCommand =
  <T>(
    check: (context: CommandContext) => T,
    run: (context: CommandContext, database: Database, checked: T) => ReturnType<CommandHandler>,
  ): CommandHandler =>
  async (invocation) => {
    const context = await openContext(invocation);
    const checked = check(context);
    const code = await withDatabase(context, "must-exist", async (database) =>
      run(context, database, checked),
    );
    return code ?? 0;
  };

/** The name of the user by the operating system. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an account entry, as in a container.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
