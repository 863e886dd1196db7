import type { CommandContext } from "../shared/commands/command-context.ts";
import { endsInTime } from "../shared/ends-in-time.ts";
import { Failure } from "../shared/failure.ts";
import { hostNamesOf } from "../shared/http/host-names.ts";
import type { MalformedBody } from "../shared/http/refuse-malformed.ts";
import { listenOn, serveUntilSignal } from "../shared/http/listen.ts";
import type { Listening } from "../shared/http/listen.ts";
import { readTls } from "../shared/http/read-tls.ts";
import type { Tls } from "../shared/http/read-tls.ts";
import { isLoopbackHost } from "../shared/http/network-address.ts";
import { connectDatabase } from "../shared/store/connection/connect.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { failInterrupted } from "../shared/store/programs/batches.ts";
import { deleteExpiredFiles } from "../shared/store/programs/files.ts";
import { countAliveWorkers } from "../shared/store/jobs/workers.ts";
import { NO_WORKER } from "../shared/views/desk.ts";
import { takeTurns } from "../shared/take-turns.ts";
import { createApp } from "./app.ts";
import { BATCHES } from "./batches.ts";
import { countRequests } from "./count-requests.ts";
import { COMPLETIONS } from "./completions.ts";
import { malformedBody } from "./failures.ts";
import { FILES } from "./files.ts";
import { limitRequests } from "./limit-requests.ts";
import { MODELS } from "./models.ts";

/** Time to close the database: a connection that does not close must not block the exit. */
const CLOSE_MS = 2_000;
const UPLOADS_AT_ONCE = 8;
const LOADS_AT_ONCE = 2;
const MOST_WAITING = 200;
const CLEAN_MS = 600_000;

export const servePrograms = serveUntilSignal(openServer, {
  describe: (url) => `For programs: ${url}v1`,
  name: "the door for programs",
});

/** @throws Failure CONFIG_ERROR if a token could be read on a network, or if it can't listen */
export async function openServer(context: CommandContext): Promise<Listening> {
  const { config, invocation, logger } = context;
  const { serve } = config;
  const { options } = invocation;
  const host = typeof options["host"] === "string" ? options["host"] : serve.host;
  const port = typeof options["port"] === "number" ? options["port"] : serve.port;
  const tls = await readTls(serve.tls, config.roots.configRoot, "serve.tls");
  assertPrivate(host, tls);
  const database = await connectDatabase({
    config,
    packageRoot: invocation.packageRoot,
    create: "must-exist",
    maxConnections: serve.connections,
    onError: (err) => {
      logger.warn({ err }, "idle database connection lost");
    },
  });
  const counter = await countRequests(context, database);
  const app = createApp(
    {
      api: {
        ...{ config, database, logger },
        uploads: takeTurns(UPLOADS_AT_ONCE, MOST_WAITING, "The door"),
        loads: takeTurns(LOADS_AT_ONCE, MOST_WAITING, "The door"),
      },
      hostNames: hostNamesOf(host, serve.allowed_hosts),
      count: counter.count,
      admitRequest: limitRequests(serve.limits.requests_per_minute, () => performance.now()),
    },
    [...FILES, ...BATCHES, ...MODELS, ...COMPLETIONS],
  );
  const cleaning = cleanUp(context, database);
  const close = async (): Promise<void> => {
    clearInterval(cleaning);
    await counter.stop();
    await endsInTime(database.end(), CLOSE_MS);
  };
  const malformed: MalformedBody = (status) => {
    counter.count("malformed", status);
    return malformedBody(status);
  };
  try {
    const place = { host, port, tls, requestMs: serve.upload_timeout_s * 1_000 };
    if (options["besideWorker"] !== true && (await countAliveWorkers(database, null)) === 0)
      context.terminal.say(NO_WORKER);
    const listening = await listenOn(app, {
      ...place,
      keys: "serve.host and serve.port",
      malformed,
    });
    return {
      url: listening.url,
      close: async () => {
        await listening.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function assertPrivate(host: string, tls: Tls | null): void {
  if (isLoopbackHost(host) || tls !== null) return;
  throw new Failure(
    "CONFIG_ERROR",
    `serve.host ${JSON.stringify(host)} can be reached from a network, and without TLS tokens could be read there. ` +
      "Set serve.tls.cert_file and key_file, put a proxy with TLS in front of 127.0.0.1, or listen on 127.0.0.1.",
  );
}

/** Deletes expired files and fails interrupted batches, now and then every CLEAN_MS. */
function cleanUp({ logger }: CommandContext, database: Database): NodeJS.Timeout {
  const clean = (): void => {
    Promise.all([deleteExpiredFiles(database), failInterrupted(database)]).catch((err: unknown) => {
      logger.warn({ err }, "what is over could not be deleted");
    });
  };
  clean();
  return setInterval(clean, CLEAN_MS).unref();
}
