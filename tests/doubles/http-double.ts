import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpError } from "./ollama/http-error.ts";

export type Body = Readonly<Record<string, unknown>>;

export type RequestRecord = {
  readonly path: string;
  readonly body: Body;
  /** waiting: for its turn to load, or for a slot. The last three say how it ended. */
  state: "waiting" | "loading" | "running" | "done" | "aborted" | "refused";
  status: number | null;
  promptTokens: number | null;
};

export type RouteContext = {
  readonly body: Body;
  readonly record: RequestRecord;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** To be called after a change of the record. */
  readonly changed: () => void;
};

export type Route = (context: RouteContext, response: ServerResponse) => Promise<void> | void;

export type HttpDouble = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Resolves when the requests meet the condition; rejects after 5 s. */
  until(condition: (requests: readonly RequestRecord[]) => boolean): Promise<void>;
  /** How many requests of a path were open at the same time, at most. */
  mostAtOnce(path: string): number;
  /** Cuts every connection, and refuses new ones until `comeBack`. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

type DoubleOptions = {
  /** By path, then by method. */
  readonly routes: Readonly<Record<string, Readonly<Record<string, Route>>>>;
  readonly notFound: (response: ServerResponse, why: 404 | 405) => void;
  readonly refuse: (response: ServerResponse, error: HttpError) => void;
};

/** A server that keeps a record of each request, and ends its route when the client goes away. */
export async function startHttpDouble(options: DoubleOptions): Promise<HttpDouble> {
  const requests: RequestRecord[] = [];
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const state: State = { options, requests, changed, open: new Map(), most: new Map() };
  const server = createServer((request, response) => void serve(request, response, state));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const goDown = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    until: (condition) => waitUntil(() => condition(requests), listeners),
    mostAtOnce: (path) => state.most.get(path) ?? 0,
    goDown,
    async comeBack() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    close: goDown,
  };
}

/** It may hold the start of a command and of a worker. */
const WAIT_LIMIT_MS = 40_000;

function waitUntil(isMet: () => boolean, listeners: Set<() => void>): Promise<void> {
  if (isMet()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      listeners.delete(check);
      reject(new Error("the double's requests did not come to what the test waits for"));
    }, WAIT_LIMIT_MS);
    const check = (): void => {
      if (!isMet()) return;
      clearTimeout(timer);
      listeners.delete(check);
      resolve();
    };
    listeners.add(check);
  });
}

type State = {
  readonly options: DoubleOptions;
  readonly requests: RequestRecord[];
  readonly changed: () => void;
  /** Requests by path: open now, and open at once at most. */
  readonly open: Map<string, number>;
  readonly most: Map<string, number>;
};

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  state: State,
): Promise<void> {
  const path = new URL(request.url ?? "/", "http://double").pathname;
  const methods = state.options.routes[path];
  const route = methods?.[request.method === "HEAD" ? "GET" : (request.method ?? "GET")];
  if (route === undefined) {
    state.options.notFound(response, methods === undefined ? 404 : 405);
    return;
  }
  const aborted = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) aborted.abort(new Error("the client went away"));
  });
  const record: RequestRecord = {
    path,
    body: {},
    state: "waiting",
    status: null,
    promptTokens: null,
  };
  count(path, state, 1);
  await answer(request, response, { ...state, route, record, signal: aborted.signal });
  count(path, state, -1);
}

function count(path: string, { open, most }: State, change: 1 | -1): void {
  const now = (open.get(path) ?? 0) + change;
  open.set(path, now);
  most.set(path, Math.max(now, most.get(path) ?? 0));
}

type Serving = State & {
  readonly route: Route;
  readonly record: RequestRecord;
  readonly signal: AbortSignal;
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { route, record, signal, requests, changed, options }: Serving,
): Promise<void> {
  try {
    const body = request.method === "POST" ? await readBody(request) : {};
    Object.assign(record, { body });
    requests.push(record);
    changed();
    await route({ body, record, signal, changed }, response);
    record.state = signal.aborted ? "aborted" : "done";
  } catch (error) {
    record.state = signal.aborted ? "aborted" : "refused";
    const refused = error instanceof HttpError ? error : new HttpError(500, String(error));
    if (!signal.aborted) options.refuse(response, refused);
  }
  record.status = signal.aborted ? null : response.statusCode;
  changed();
}

async function readBody(request: IncomingMessage): Promise<Body> {
  request.setEncoding("utf8");
  let text = "";
  for await (const part of request as AsyncIterable<string>) text += part;
  if (text === "") throw new HttpError(400, "missing request body");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const char = text.trim().charAt(0);
    const isCut = char === "{" || char === "[";
    const found = isCut
      ? "unexpected EOF"
      : `invalid character '${char}' looking for beginning of value`;
    throw new HttpError(400, found);
  }
  return isRecord(body) ? body : {};
}

export const isRecord = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Rejects when the client goes away. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
}

/** Writes a text; byte for byte where `bytes` says so, each apart, so that characters are split over reads. */
export async function writeText(
  response: ServerResponse,
  text: string,
  how: "whole" | "bytes" = "whole",
): Promise<void> {
  const whole = Buffer.from(text);
  const parts = how === "whole" ? [whole] : Array.from(whole, (byte) => Buffer.from([byte]));
  for (const part of parts) {
    if (!response.write(part) && !response.destroyed) await drained(response);
    if (how === "bytes") await new Promise(setImmediate);
  }
}

/** Resolves when more can be written, or when nobody reads any more. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once("drain", resolve).once("close", resolve);
  });
