import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { createApp } from "../../src/dashboard/app.ts";
import { readAssets } from "../../src/dashboard/assets.ts";
import { drawIn } from "../../src/dashboard/draw.ts";
import { exposureOf } from "../../src/dashboard/exposure.ts";
import type { Exposure } from "../../src/dashboard/exposure.ts";
import { addressOf, listenOn } from "../../src/shared/http/listen.ts";
import { openLive } from "../../src/dashboard/live.ts";
import { openNights } from "../../src/dashboard/nights.ts";
import { ROUTES } from "../../src/dashboard/routes.ts";
import { openSessions } from "../../src/dashboard/sessions.ts";
import { takeTurns } from "../../src/shared/take-turns.ts";
import type { CommandEnd, RunCommand } from "../../src/dashboard/command-child.ts";
import type { ToolAnswer } from "../../src/dashboard/tools.ts";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import { createLogger } from "../../src/shared/logger.ts";
import { openPostgres } from "../support/test-databases.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";

const packageRoot = fileURLToPath(new URL("../../", import.meta.url));

export type TestDesk = {
  readonly db: Database;
  readonly url: string;
  readonly host: string;
  /** Commands that pages had run. */
  readonly commands: readonly (readonly string[])[];
  /** Moves the clock of the sessions. */
  readonly passHours: (hours: number) => void;
  readonly ask: (asked: Asked) => Promise<Got>;
  /** Asks as a browser does that holds a session, and sends a form where one is given. */
  readonly browse: (path: string, form?: Readonly<Record<string, string>>) => Promise<Got>;
  readonly close: () => Promise<void>;
};

export type Asked = {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Got = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

type Settings = {
  readonly dashboard?: Partial<Config["dashboard"]>;
  readonly host?: string;
  /** What pages are to be drawn for, in place of the connection on which they are sent. */
  readonly exposed?: Pick<Exposure, "tls" | "isLoopback">;
  readonly databaseDirectory?: string;
  readonly commandEnd?: CommandEnd;
  readonly toolAnswer?: ToolAnswer;
  /** What commands, and the answers of tools, wait for. */
  readonly childrenMayEnd?: Promise<unknown>;
};

export async function configFor(dashboard: Partial<Config["dashboard"]> = {}): Promise<Config> {
  const config = await loadConfig({ flags: {}, env: {}, cwd: tmpdir(), packageRoot });
  return { ...config, dashboard: { ...config.dashboard, zone: "UTC", ...dashboard } };
}

/** A desk over a database of its own, listening on a loopback address. */
export async function openDesk({
  dashboard = {},
  exposed,
  databaseDirectory = tmpdir(),
  commandEnd = { code: 0, stdout: "", stderr: "" },
  toolAnswer = { ok: true, result: { hits: [], checks: [] } },
  childrenMayEnd = Promise.resolve(),
}: Settings = {}): Promise<TestDesk> {
  const { db, close } = await openPostgres(() => undefined);
  const configured = await configFor(dashboard);
  const roots = { ...configured.roots, databaseDirectory };
  const config = { ...configured, roots };
  const exposure = await exposureOf(config, { host: "127.0.0.1", port: 0 });
  const commands: (readonly string[])[] = [];
  let hoursPassed = 0;
  const live = await openLive({ database: db, onError: () => undefined });
  const runCommand: RunCommand = async (words) => {
    commands.push(words);
    await childrenMayEnd;
    return commandEnd;
  };
  const app = createApp(
    {
      site: {
        config,
        database: db,
        runCommand,
        runStatement: runCommand,
        runDrawing: runCommand,
        runUpload: runCommand,
        tools: {
          ask: async () => {
            await childrenMayEnd;
            return toolAnswer;
          },
          close: () => undefined,
        },
        draw: drawIn("UTC"),
        nights: openNights(db, () => undefined),
        zone: "UTC",
        zoneOf: config.dashboard.zone === null ? "browser" : "desk",
        logger: createLogger("silent", "json"),
      },
      exposure: { ...exposure, ...exposed },
      live,
      addressOf,
      assets: await readAssets(packageRoot),
      sessions: openSessions(12 * 3_600_000, () => performance.now() + hoursPassed * 3_600_000),
      turns: takeTurns(3, 64, "The desk"),
      localUser: "ada",
    },
    ROUTES,
  );
  const listening = await listenOn(app, { ...exposure, requestMs: 15_000, keys: "dashboard.host" });
  const { host, port } = new URL(listening.url);
  const ask = (asked: Asked): Promise<Got> => send(Number(port), host, asked);
  let cookie = "";
  const browse: TestDesk["browse"] = async (path, form) => {
    if (form === undefined) {
      const got = await ask({ path, headers: { cookie, accept: "text/html" } });
      cookie = cookieOf(got) ?? cookie;
      return got;
    }
    const csrf = csrfOf((await browse("/")).text);
    return ask({
      path,
      method: "POST",
      headers: { ...FORM, cookie, accept: "text/html", origin: `http://${host}` },
      body: new URLSearchParams({ csrf, ...form }).toString(),
    });
  };
  return {
    db,
    url: listening.url,
    host,
    commands,
    ask,
    browse,
    passHours: (hours) => {
      hoursPassed += hours;
    },
    close: async () => {
      live.close();
      await listening.close();
      await close();
    },
  };
}

export const FORM = { "content-type": "application/x-www-form-urlencoded" };

export const cookieOf = ({ headers }: Got): string | undefined =>
  headers["set-cookie"]?.[0]?.split(";")[0];

export const csrfOf = (page: string): string => /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? "";

/** By hand: a browser's client lets nobody choose Host or Origin. */
function send(
  port: number,
  host: string,
  { path, method = "GET", headers = {}, body }: Asked,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers: { host, ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
