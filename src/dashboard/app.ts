import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { streamOf } from "../shared/http/stream-of.ts";
import { isZone } from "../shared/schedules/time.ts";
import { selectWorkState } from "../shared/views/desk.ts";
import type { WorkState } from "../shared/views/desk.ts";
import type { Assets } from "./assets.ts";
import type { Answer, Site, SiteRequest, Route } from "./site.ts";
import type { Exposure } from "./exposure.ts";
import { drawIn } from "./draw.ts";
import { failureOf, notFound, Refused } from "./failures.ts";
import { assertHost, assertOrigin, isChange, proxiedUser } from "./guard.ts";
import type { GuardedRequest } from "./guard.ts";
import { failureContent, htmlDocument, loginContent } from "./layout.ts";
import type { PageContent } from "./layout.ts";
import type { Live } from "./live.ts";
import { isSameSecret } from "./sessions.ts";
import type { Session, Sessions } from "./sessions.ts";
import { CSRF_HEADER, storeUpload, UPLOAD_PATH } from "./uploads.ts";
import { takeTurns } from "../shared/take-turns.ts";
import type { StepAside, Turns } from "../shared/take-turns.ts";

export type AppParts = {
  readonly site: Site;
  readonly exposure: Exposure;
  readonly sessions: Sessions;
  readonly assets: Assets;
  readonly live: Live;
  /** Limits pages at once, so that slow ones leave connections for the others. */
  readonly turns: Turns;
  /** The user who started the dashboard, for one without authentication. */
  readonly localUser: string;
  /** The client's address. */
  readonly addressOf: (context: Context) => string;
};

const COOKIE = "nightdesk_session";
const MOST_BODY = 256 * 1024;

/** The HTTP application: the guard first, then sessions, then pages. */
export function createApp(parts: AppParts, routes: readonly Route[]): Hono {
  const app = new Hono();
  app.onError((error, context) => answerFailure(parts, context, error));
  app.notFound((context) =>
    answerFailure(parts, context, notFound("There is no page of that address.")),
  );
  app.use(async (context, next) => {
    setSafetyHeaders(context, parts.exposure);
    const guarded = guardedRequestOf(parts, context);
    assertHost(guarded, parts.exposure);
    assertOrigin(guarded, parts.exposure);
    await next();
  });
  app.use(compress());
  if (parts.site.config.dashboard.uploads) addUploads(app, parts);
  app.use(bodyLimit({ maxSize: MOST_BODY, onError: refuseLargeBody }));
  addAssets(app, parts);
  addSignIn(app, parts);
  app.get("/events", (context) => {
    requireSession(parts, context);
    context.header("content-type", "text/event-stream");
    return context.body(parts.live.stream(context.req.header("last-event-id")));
  });
  for (const route of routes) {
    app[route.method ?? "get"](route.path, (context) => answerRoute(parts, context, route));
  }
  return app;
}

/** Added before the size limit of forms: the file is streamed to the command that stores it. */
function addUploads(app: Hono, parts: AppParts): void {
  app.put(UPLOAD_PATH, async (context) => {
    const session = requireSession(parts, context);
    if (!isSameSecret(context.req.header(CSRF_HEADER) ?? "", session.csrf)) throw staleForm();
    const { body } = context.req.raw;
    const { watch, name } = context.req.param();
    const length = context.req.header("content-length");
    return context.json(await storeUpload(parts.site, session, { watch, name, length, body }));
  });
}

function refuseLargeBody(): never {
  throw new Refused({
    status: 413,
    code: "TOO_LARGE",
    message: `That is more than ${MOST_BODY / 1024} kB.`,
  });
}

const guardedRequestOf = ({ addressOf }: AppParts, context: Context): GuardedRequest => ({
  method: context.req.method,
  header: (name) => context.req.header(name),
  address: addressOf(context),
});

const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "worker-src 'self'", "style-src 'self'"],
  ...["img-src 'self'", "connect-src 'self'", "form-action 'self'"],
  ...["frame-ancestors 'none'", "base-uri 'none'"],
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  // With no-referrer a browser hides the Origin of forms, which the guard checks.
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

function setSafetyHeaders(context: Context, { tls, isLoopback }: Exposure): void {
  for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
  // On a loopback address it would apply to everything that this machine serves.
  if (tls !== null && !isLoopback) {
    context.header("strict-transport-security", "max-age=31536000");
  }
}

function addAssets(app: Hono, { assets }: AppParts): void {
  app.get("/assets/:version/:name", (context) => {
    const asset = assets.find(context.req.param("name"));
    if (asset === undefined) throw notFound("There is no such file.");
    context.header("cache-control", "public, max-age=31536000, immutable");
    return context.body(asset.body, 200, { "content-type": asset.type });
  });
}

function addSignIn(app: Hono, parts: AppParts): void {
  const { exposure, sessions } = parts;
  const inTurn = takeTurns(SIGN_INS, MOST_WAITING, "Signing in");
  app.get("/login", (context) =>
    context.html(drawSignedOut(parts, loginContent("first", localPath(context.req.query("back"))))),
  );
  app.post("/login", async (context) => {
    if (exposure.identity.kind !== "token") return context.redirect("/", 303);
    const { token } = exposure.identity;
    const form = await formOf(context);
    const back = localPath(form.get("back") ?? undefined);
    const isRight = await inTurn(async () => {
      if (isSameSecret(form.get("token") ?? "", token)) return true;
      await sleep(WRONG_MS);
      return false;
    });
    if (!isRight) return context.html(drawSignedOut(parts, loginContent("wrong", back)), 401);
    // A session from before the sign-in may be known to an attacker.
    const old = getCookie(context, COOKIE);
    if (old !== undefined) sessions.end(old);
    setSession(context, sessions.start("token"), exposure);
    return context.redirect(back, 303);
  });
  app.post("/leave", async (context) => {
    const session = requireSession(parts, context);
    assertCsrf(session, await formOf(context));
    sessions.end(session.id);
    deleteCookie(context, COOKIE);
    return context.redirect("/", 303);
  });
}

/** A wrong token blocks its place for a second, which allows five guesses a second in total, and soon a turn for a right one. */
const SIGN_INS = 5;
const MOST_WAITING = 30;
const WRONG_MS = 1_000;

/** Allows only a path of the dashboard. */
const localPath = (path: string | undefined): string =>
  path !== undefined && /^\/(?![/\\])[\x20-\x7e]*$/.test(path) ? path : "/";

function setSession(context: Context, session: Session, { tls }: Exposure): void {
  setCookie(context, COOKIE, session.id, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure: tls !== null,
  });
}

/** @throws Refused 401 without a session, 403 if the proxy names no user, or for a form without a session */
function requireSession(parts: AppParts, context: Context): Session {
  const { exposure, sessions } = parts;
  const { identity } = exposure;
  const id = getCookie(context, COOKIE);
  if (identity.kind === "token") {
    const found = sessions.find(id);
    if (found !== undefined) return found;
    throw new Refused({ status: 401, code: "UNAUTHORIZED", message: "Sign in first." });
  }
  const guarded = guardedRequestOf(parts, context);
  const user = identity.kind === "proxy" ? proxiedUser(guarded, identity) : parts.localUser;
  const session = sessions.derive(user, id);
  if (session.id === id) return session;
  if (isChange(guarded)) throw staleForm();
  setSession(context, session, exposure);
  return session;
}

function assertCsrf(session: Session, form: URLSearchParams): void {
  if (!isSameSecret(form.get("csrf") ?? "", session.csrf)) throw staleForm();
}

const staleForm = (): Refused =>
  new Refused({
    status: 403,
    code: "FORBIDDEN",
    message: "That form is not of this session. Load its page again, and send it once more.",
  });

/** The fields of a form, without NUL, which the database refuses in texts. No form sends JSON or files. */
async function formOf(context: Context): Promise<URLSearchParams> {
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    const message = "A change is sent as application/x-www-form-urlencoded.";
    throw new Refused({ status: 400, code: "INPUT_INVALID", message });
  }
  const form = new URLSearchParams(await context.req.text());
  return new URLSearchParams(
    [...form].map(([name, text]): [string, string] => [name, text.replaceAll("\0", "")]),
  );
}

async function answerRoute(parts: AppParts, context: Context, route: Route): Promise<Response> {
  const session = requireSession(parts, context);
  const form = route.method === "post" ? await formOf(context) : new URLSearchParams();
  if (route.method === "post") assertCsrf(session, form);
  const request: SiteRequest = {
    session,
    path: context.req.path,
    part: (name) => context.req.param(name) ?? "",
    query: new URL(context.req.url).searchParams,
    form,
  };
  return parts.turns(async (stepAside) => {
    const site = siteFor(inBrowserZone(parts.site, context), stepAside);
    const answer = await route.answer(site, request);
    return sendAnswer({ ...parts, site }, context, { session, answer });
  });
}

const ZONE_COOKIE = "nightdesk_zone";
const MOST_ZONE_CHARS = 64;

/** Uses the timezone of the browser, unless the configuration sets one. */
function inBrowserZone(site: Site, context: Context): Site {
  const zone = getCookie(context, ZONE_COOKIE) ?? "";
  const isShown = site.zoneOf === "browser" && zone.length <= MOST_ZONE_CHARS && isZone(zone);
  return isShown ? { ...site, zone, draw: drawIn(zone) } : site;
}

/** A page that waits for a child process gives its turn to other pages: child processes have turns of their own. */
const siteFor = (site: Site, stepAside: StepAside): Site => ({
  ...site,
  runCommand: (words, limits) => stepAside(() => site.runCommand(words, limits)),
  runStatement: (words, limits) => stepAside(() => site.runStatement(words, limits)),
  runDrawing: (words, limits) => stepAside(() => site.runDrawing(words, limits)),
  tools: {
    ...site.tools,
    ask: (tool, args) => stepAside(() => site.tools.ask(tool, args)),
  },
});

type RouteAnswer = { readonly session: Session; readonly answer: Answer };

async function sendAnswer(
  parts: AppParts,
  context: Context,
  { session, answer }: RouteAnswer,
): Promise<Response> {
  switch (answer.kind) {
    case "redirect":
      return context.redirect(answer.to, 303);
    case "csv":
      context.header("content-disposition", `attachment; filename="${answer.name}"`);
      context.header("content-type", "text/csv; charset=utf-8");
      return context.body(streamOf(answer.chunks));
    case "picture":
      context.header("content-security-policy", "default-src 'none'; sandbox");
      context.header("content-type", answer.type);
      return context.body(Uint8Array.from(answer.bytes));
    case "page": {
      const state = await selectWorkState(parts.site.database);
      return context.html(draw(parts, answer.content, { session, state }));
    }
  }
}

function draw(
  { assets, site }: AppParts,
  content: PageContent,
  { session, state }: { readonly session: Session | null; readonly state: WorkState },
): string {
  return htmlDocument(content, {
    session,
    state,
    assetVersion: assets.version,
    zone: site.zone,
    zoneOf: site.zoneOf,
  });
}

const drawSignedOut = (parts: AppParts, content: PageContent): string =>
  draw(parts, content, { session: null, state: { waiting: 0, values: 0, is_working: false } });

function answerFailure(parts: AppParts, context: Context, error: unknown): Response {
  const failure = failureOf(error);
  if (failure.status === 500) parts.site.logger.error({ err: error }, "a page failed");
  const { status, code, message } = failure;
  setSafetyHeaders(context, parts.exposure);
  const accepts = context.req.header("accept") ?? "";
  const wantsPage = accepts.includes("text/html");
  if (!wantsPage) {
    return context.json({ ok: false, error_code: code, error_message: message }, status);
  }
  if (status === 401 && context.req.method === "GET") {
    const { pathname, search } = new URL(context.req.url);
    return context.redirect(`/login?back=${encodeURIComponent(pathname + search)}`, 303);
  }
  return context.html(drawSignedOut(parts, failureContent(failure)), status);
}
