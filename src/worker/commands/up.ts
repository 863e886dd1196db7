import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SECRETS_FOLLOW, secretsOf, STOP_WITH_PARENT } from "../../shared/child-process.ts";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { writeAtomicFile } from "../../shared/files/atomic-file.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { Failure } from "../../shared/failure.ts";
import { keepRunning } from "./keep-running.ts";
import { work } from "./worker.ts";

/**
 * Runs the embedded database, a worker, the dashboard and, with `serve.with_up`, the API server, in the foreground. The
 * database process ends by itself after the worker.
 */
export const up: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  if (context.config.database.url !== "embedded") {
    throw new Failure(
      "CONFIG_ERROR",
      "`nightdesk up` is for the embedded database, and database.url names another. Run `nightdesk worker` instead.",
    );
  }
  context.terminal.say(
    `Database in ${context.config.roots.databaseDirectory}. It never calls fsync: a power cut may cost what was ` +
      "written since the last dump (backups/ there; nightdesk backup FILE writes one). Ctrl-C stops.",
  );
  const beside = await sideProcesses(context);
  if (beside.length === 0) return work(context, "for-ever");
  // Creates the database first, so that the other processes find it.
  await withDatabase(context, "create", async () => undefined);
  const kept = beside.map(({ name, words, env }) =>
    keepRunning(
      () => startSideProcess(context, words, env),
      ({ ending, pauseMs }) => {
        context.terminal.say(
          `${name} has ended (${ending}); it is started again in ${pauseMs / 1_000} s. Jobs go on.`,
        );
      },
    ),
  );
  const stop = (): void => {
    for (const each of kept) each.stop();
  };
  // Ctrl-C reaches these processes too: their end is then expected.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, stop);
  }
  try {
    return await work(context, "for-ever");
  } finally {
    stop();
  }
};

type SideProcess = {
  readonly name: string;
  /** The command with its options. */
  readonly words: readonly string[];
  readonly env: Environment;
};

/** The processes beside the worker: the dashboard, and the API server if it is configured. */
async function sideProcesses(context: CommandContext): Promise<readonly SideProcess[]> {
  const { config, invocation } = context;
  const { env, options } = invocation;
  const pages: readonly SideProcess[] =
    options["dashboard"] === false
      ? []
      : [
          {
            name: "The dashboard",
            words: ["dashboard", "--or-any-port"],
            env: await withToken(context),
          },
        ];
  const door = { name: "The door for programs", words: ["serve", "--beside-worker"], env };
  return config.serve.with_up ? [...pages, door] : pages;
}

type Environment = CommandContext["invocation"]["env"];

/** Creates a token, once and in a file beside the database, for a published dashboard that has none. */
async function withToken({ config, invocation, terminal }: CommandContext): Promise<Environment> {
  const { env } = invocation;
  if (!config.dashboard.published || config.dashboard.token !== null) return env;
  const file = join(config.roots.databaseDirectory, "dashboard-token");
  const made = randomBytes(TOKEN_BYTES).toString("hex");
  await writeAtomicFile(file, made, "keep").catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  terminal.say(
    `The dashboard asks for this token, which is kept in ${file}: ${await readFile(file, "utf8")}`,
  );
  return { ...env, NIGHTDESK_DASHBOARD_TOKEN_FILE: file };
}

const TOKEN_BYTES = 24;

/** Starts a process that prints its address and ends with this one. If it fails, jobs continue all the same. */
function startSideProcess(
  { config, invocation }: CommandContext,
  words: readonly string[],
  env: Environment,
): ChildProcess {
  const { packageRoot, cwd } = invocation;
  const secrets = secretsOf(env);
  const plain = Object.fromEntries(
    Object.entries(env).filter(([name]) => !Object.hasOwn(secrets, name)),
  );
  const child = spawn(
    process.execPath,
    [
      ...[join(packageRoot, "bin", "nightdesk.js"), ...words],
      ...["--config", config.file, "--workroot", config.roots.workroot],
    ],
    {
      cwd,
      env: { ...plain, [STOP_WITH_PARENT]: "1", [SECRETS_FOLLOW]: "1" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    },
  );
  if (child.connected) child.send(secrets, () => undefined);
  return child;
}
