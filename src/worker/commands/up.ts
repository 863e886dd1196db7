import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SECRETS_FOLLOW, secretsOf, STOP_WITH_PARENT } from "../../shared/child-process.ts";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { Failure } from "../../shared/failure.ts";
import { keepRunning } from "./keep-running.ts";
import { work } from "./worker.ts";

/**
 * The embedded database, a worker and the pages of the desk, in the foreground. The database process ends by itself after
 * the worker.
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
  if (invocation.options["dashboard"] === false) return work(context, "for-ever");
  // The pages find the database made.
  await withDatabase(context, "create", async () => undefined);
  const env = await withToken(context);
  const dashboard = keepRunning(
    () => startDashboard(context, env),
    ({ ending, pauseMs }) => {
      context.terminal.say(
        `The dashboard has ended (${ending}); it is started again in ${pauseMs / 1_000} s. Jobs go on.`,
      );
    },
  );
  // Ctrl-C reaches the dashboard as well: that it ends then is no surprise.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, dashboard.stop);
  }
  try {
    return await work(context, "for-ever");
  } finally {
    dashboard.stop();
  }
};

type Environment = CommandContext["invocation"]["env"];

/** Of a published dashboard whose token nobody gave, with one that is made once and kept beside the database. */
async function withToken({ config, invocation, terminal }: CommandContext): Promise<Environment> {
  const { env } = invocation;
  if (!config.dashboard.published || config.dashboard.token !== null) return env;
  const file = join(config.roots.databaseDirectory, "dashboard-token");
  const made = randomBytes(TOKEN_BYTES).toString("hex");
  await writeFile(file, made, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  terminal.say(
    `The dashboard asks for this token, which is kept in ${file}: ${await readFile(file, "utf8")}`,
  );
  return { ...env, NIGHTDESK_DASHBOARD_TOKEN_FILE: file };
}

const TOKEN_BYTES = 24;

/** A process of its own, which prints its address and ends with this one. Without it jobs are worked all the same. */
function startDashboard({ config, invocation }: CommandContext, env: Environment): ChildProcess {
  const { packageRoot, cwd } = invocation;
  const secrets = secretsOf(env);
  const plain = Object.fromEntries(
    Object.entries(env).filter(([name]) => !Object.hasOwn(secrets, name)),
  );
  const child = spawn(
    process.execPath,
    [
      ...[join(packageRoot, "bin", "nightdesk.js"), "dashboard", "--or-any-port"],
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
