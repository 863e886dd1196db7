import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Context } from "hono";
import { streamOf } from "../shared/http/stream-of.ts";
import { isHostOf } from "../shared/http/host-names.ts";
import { useToken } from "../shared/store/programs/tokens.ts";
import type { Token, TokenScope } from "../shared/store/programs/tokens.ts";
import type { RequestCounter } from "./count-requests.ts";
import type { Answer, Api, ApiRequest, Route } from "./api.ts";
import { errorBody, invalid, loggedFailure, Refused, tokenEnded } from "./failures.ts";
import { readJson } from "./read-json.ts";

export type AppParts = {
  readonly api: Api;
  readonly hostNames: ReadonlySet<string>;
  /** Counts a request of a token, or throws Refused 429. */
  readonly admitRequest: (tokenId: string) => void;
  readonly count: RequestCounter["count"];
};

/** Node's request and response behind Hono's. */
const bindingsOf = (context: Context): HttpBindings => context.env as HttpBindings;

/**
 * The HTTP API below /v1. It checks host name and token before it reads a body. It sets no cookie, serves no page, and sends no
 * CORS header, so scripts of other sites can't read a reply.
 */
export function createApp(parts: AppParts, routes: readonly Route[]): Hono {
  const app = new Hono();
  app.onError((error, context) => answerFailure(parts, context, error));
  app.notFound((context) =>
    answerFailure(
      parts,
      context,
      new Refused({
        status: 404,
        code: "unknown_url",
        message: `There is no ${context.req.method} ${context.req.path.slice(0, 200)} here. docs/serve.md lists what there is.`,
      }),
    ),
  );
  const answering = new WeakMap<object, string>();
  app.use(async (context, next) => {
    await next();
    parts.count(answering.get(context) ?? "other", context.res.status);
  });
  app.use(async (context, next) => {
    context.header("x-request-id", randomUUID());
    context.header("cache-control", "no-store");
    context.header("x-content-type-options", "nosniff");
    assertHost(parts, context);
    await next();
  });
  for (const route of routes) {
    const name = `${route.method.toUpperCase()} /v1${route.path}`;
    app[route.method](`/v1${route.path}`, async (context) => {
      answering.set(context, name);
      const token = await tokenOf(parts, context, route.scope);
      return sendAnswer(context, await route.answer(parts.api, requestOf(context, token)));
    });
  }
  return app;
}

function assertHost({ hostNames }: AppParts, context: Context): void {
  if (isHostOf(context.req.header("host") ?? "", hostNames)) return;
  throw new Refused({
    status: 421,
    code: "misdirected",
    message:
      "This desk is not served under that name. Add it to serve.allowed_hosts, or use the address that nightdesk serve printed.",
  });
}

/** @throws Refused 401, 403 or 429 */
async function tokenOf(
  { api, admitRequest }: AppParts,
  context: Context,
  scope: TokenScope,
): Promise<Token> {
  const secret = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  if (secret === undefined) {
    throw new Refused({
      status: 401,
      code: "invalid_api_key",
      message:
        "Send a token as Authorization: Bearer nd_…; nightdesk tokens create makes one. OpenAI's clients take it as their API key.",
    });
  }
  const token = await useToken(api.database, secret);
  if (token === undefined) throw tokenEnded();
  admitRequest(token.tokenId);
  if (token.scopes.includes(scope) || token.scopes.includes("batches:write")) return token;
  throw new Refused({
    status: 403,
    code: "insufficient_scope",
    message: `Token ${JSON.stringify(token.name)} has not the scope ${scope}.`,
  });
}

function requestOf(context: Context, token: Token): ApiRequest {
  const { incoming, outgoing } = bindingsOf(context);
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return {
    requestId: requestIdOf(context),
    token,
    part: (name) => context.req.param(name) ?? "",
    query: new URL(context.req.url).searchParams,
    header: (name) => context.req.header(name),
    incoming,
    json: () => readJson(incoming),
    signal: gone.signal,
  };
}

const requestIdOf = (context: Context): string =>
  context.res.headers.get("x-request-id") ?? randomUUID();

function sendAnswer(context: Context, answer: Answer): Response {
  if (answer.kind === "json") return context.json(answer.value);
  context.header("content-type", answer.type);
  return context.body(streamOf(answer.chunks));
}

function answerFailure({ api }: AppParts, context: Context, error: unknown): Response {
  const isBadUrl =
    (error instanceof URIError || error instanceof TypeError) && /URI/.test(error.message);
  const requestId = requestIdOf(context);
  context.header("x-request-id", requestId);
  const failure = isBadUrl
    ? invalid("url", "The address is not a valid one.").failure
    : loggedFailure(error, api.logger, requestId);
  if (failure.retryAfter !== undefined) context.header("retry-after", String(failure.retryAfter));
  // OpenAI's clients retry a conflict, which would only fail again.
  else context.header("x-should-retry", "false");
  if (failure.status === 401) context.header("www-authenticate", "Bearer");
  // Closes the connection rather than wait for the rest of an unread body.
  if (!bindingsOf(context).incoming.readableEnded) context.header("connection", "close");
  return context.json(errorBody(failure), failure.status);
}
