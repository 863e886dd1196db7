import { openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { csrfOf } from "./open-desk.ts";

export type Page = { readonly status: number; readonly url: string; readonly text: string };

/** A work root, its database, and `nightdesk dashboard` over both as a process of its own. */
export type RealDesk = Desk & {
  readonly url: () => string;
  readonly dashboard: () => Running;
  /** A page; follows where it leads. With a form, what a browser sends by it. */
  readonly browse: (path: string, form?: Readonly<Record<string, string>>) => Promise<Page>;
  readonly stop: (signal: NodeJS.Signals) => Promise<void>;
  /** Starts the dashboard again, on the port that it had. */
  readonly start: () => Promise<void>;
  /** Both. */
  readonly restart: (signal: NodeJS.Signals) => Promise<void>;
};

export async function openRealDesk(): Promise<RealDesk> {
  const desk = await openDesk();
  let running = start(desk, 0);
  let url = await urlOf(running);
  let cookie = "";
  const fetched = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { accept: "text/html", cookie, origin: new URL(url).origin };
    const response = await fetch(new URL(path, url), {
      ...init,
      headers,
      redirect: "manual",
    });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return response;
  };
  const browse: RealDesk["browse"] = async (path, form) => {
    const csrf = form === undefined ? "" : csrfOf((await browse("/start")).text);
    const body = new URLSearchParams({ csrf, ...form });
    const response = await fetched(path, form === undefined ? {} : { method: "POST", body });
    const next = response.headers.get("location");
    if (next !== null) return browse(next);
    return { status: response.status, url: path, text: await response.text() };
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    running.kill(signal);
    await running.ended;
  };
  const startAgain = async (): Promise<void> => {
    running = start(desk, Number(new URL(url).port));
    url = await urlOf(running);
    cookie = "";
  };
  return {
    ...desk,
    url: () => url,
    dashboard: () => running,
    browse,
    stop,
    start: startAgain,
    async restart(signal) {
      await stop(signal);
      await startAgain();
    },
    async dispose() {
      await stop("SIGTERM");
      await desk.dispose();
    },
  };
}

const start = ({ workroot }: Desk, port: number): Running =>
  startBin(["dashboard", "--port", String(port)], { cwd: workroot });

const SAID = /Dashboard: (http:\S+)/;

async function urlOf(running: Running): Promise<string> {
  return (await running.said(SAID))[1] ?? "";
}
