import { userName } from "../shared/commands/command-context.ts";
import type { CommandContext } from "../shared/commands/command-context.ts";
import { endsInTime } from "../shared/ends-in-time.ts";
import { Failure } from "../shared/failure.ts";
import { startMetrics } from "../shared/metrics/process-metrics.ts";
import { connectDatabase } from "../shared/store/connection/connect.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { installationZone } from "../shared/schedules/windows.ts";
import { createApp } from "./app.ts";
import { readAssets } from "./assets.ts";
import { commandStarter, openCommands } from "./command-child.ts";
import { drawIn } from "./draw.ts";
import { exposureOf } from "./exposure.ts";
import { addressOf, listenOn, serveUntilSignal } from "../shared/http/listen.ts";
import type { Listening } from "../shared/http/listen.ts";
import { openLive } from "./live.ts";
import { openNights } from "./nights.ts";
import { ROUTES } from "./routes.ts";
import { openSessions } from "./sessions.ts";
import { openTools } from "./tools.ts";
import { takeTurns } from "../shared/take-turns.ts";

/** Time to close the database connections: one that does not close must not block the exit. */
const CLOSE_MS = 2_000;
/** SQL statements at once; each is a process. */
const STATEMENTS = 2;
const DRAWINGS = 2;
const REQUEST_MS = 15_000;
const HOUR_MS = 3_600_000;
/** Limit of pages that wait for their turn. */
const MOST_WAITING = 64;

/** Serves the dashboard until a signal. */
export const serveDashboard = serveUntilSignal(openDashboard, {
  describe: (url) => `Dashboard: ${url}`,
  name: "the dashboard",
});

/** @throws Failure CONFIG_ERROR if it would be exposed, or can't listen */
async function openDashboard(context: CommandContext): Promise<Listening> {
  const { config, invocation, logger } = context;
  const { options } = invocation;
  const exposure = await exposureOf(config, {
    host: typeof options["host"] === "string" ? options["host"] : config.dashboard.host,
    port: typeof options["port"] === "number" ? options["port"] : config.dashboard.port,
  });
  const assets = await readAssets(invocation.packageRoot);
  const databases = await openDatabases(context);
  const onError = (err: unknown): void => {
    logger.warn({ err }, "events could not be read");
  };
  const onUnread = (err: unknown): void => {
    logger.warn({ err }, "a night could not be read");
  };
  const live = await openLive({ database: databases.live, onError });
  const zone = config.dashboard.zone ?? installationZone(config.windows);
  const isFixed = config.dashboard.zone !== null || config.windows.length > 0;
  const startCommand = commandStarter(invocation, config);
  const tools = openTools(() => startCommand(["mcp", "--dashboard"]));
  const app = createApp(
    {
      site: {
        config,
        database: databases.pages,
        runCommand: openCommands(startCommand, 1, "The desk"),
        runStatement: openCommands(startCommand, STATEMENTS, "The SQL page"),
        runDrawing: openCommands(startCommand, DRAWINGS, "The drawing of pages"),
        runUpload: openCommands(startCommand, 1, "The intake of files"),
        tools,
        draw: drawIn(zone),
        nights: openNights(databases.pages, onUnread),
        zone,
        zoneOf: isFixed ? "desk" : "browser",
        logger,
      },
      exposure,
      assets,
      live,
      addressOf,
      sessions: openSessions(config.dashboard.session_hours * HOUR_MS, () => performance.now()),
      turns: takeTurns(config.dashboard.connections, MOST_WAITING, "The desk"),
      localUser: userName(),
    },
    ROUTES,
  );
  // These metrics also report that no worker is alive, when no worker can report it.
  const metrics = await startMetrics(context, databases.pages, { definitions: {} });
  const close = async (): Promise<void> => {
    live.close();
    tools.close();
    await metrics?.stop();
    await endsInTime(Promise.all(Object.values(databases).map((each) => each.end())), CLOSE_MS);
  };
  try {
    const listening = await listenWhere(context, exposure.port, (port) =>
      listenOn(app, {
        ...{ host: exposure.host, port, tls: exposure.tls },
        requestMs: REQUEST_MS,
        keys: "dashboard.host and dashboard.port",
      }),
    );
    return {
      url: listening.url,
      close: async () => {
        live.close();
        await listening.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** With --or-any-port it takes a free port if the configured one is in use. */
async function listenWhere<T>(
  { invocation: { options } }: CommandContext,
  port: number,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  try {
    return await listen(port);
  } catch (error) {
    if (options["orAnyPort"] !== true || port === 0 || !(error instanceof Failure)) throw error;
    return listen(0);
  }
}

type Databases = Readonly<Record<"pages" | "live", Database>>;

/** Separate pools, so that no page delays the events. */
async function openDatabases({ config, invocation, logger }: CommandContext): Promise<Databases> {
  const open = (maxConnections: number): Promise<Database> =>
    connectDatabase({
      config,
      packageRoot: invocation.packageRoot,
      create: "must-exist",
      maxConnections,
      statementTimeoutMs: config.dashboard.statement_timeout_s * 1_000,
      onError: (err) => {
        logger.warn({ err }, "idle database connection lost");
      },
    });
  const pages = await open(config.dashboard.connections);
  return { pages, live: await open(2) };
}
