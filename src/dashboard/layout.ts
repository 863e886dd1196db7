import type { WorkState } from "../shared/views/desk.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Fragment, Html } from "../shared/views/html-markup.ts";
import type { RequestFailure } from "./failures.ts";
import type { Session } from "./sessions.ts";

/** The content of a page between header and footer. */
export type PageContent = {
  readonly title: string;
  /** The menu entry of the page. */
  readonly menu: string;
  readonly body: Html;
  /** `live`: reloads after events; `awaited`: also reloads by itself in browsers without script. */
  readonly updates?: "live" | "awaited" | "still";
};

const MENU: readonly (readonly [string, string])[] = [
  ["/", "Morning"],
  ["/batches", "Batches"],
  ["/start", "Start"],
  ["/inbox", "Inbox"],
  ["/index", "Index"],
  ["/schedules", "Schedules"],
  ["/health", "Health"],
  ["/sql", "SQL"],
];

export type Shell = {
  readonly session: Session | null;
  /** Part of the URL of assets, so that a browser loads those of a new version. */
  readonly assetVersion: string;
  readonly zone: string;
  readonly zoneOf: "desk" | "browser";
  readonly state: WorkState;
};

/** A whole page. */
export function htmlDocument(
  { title, menu, body, updates = "still" }: PageContent,
  shell: Shell,
): string {
  const { session, assetVersion, zone, zoneOf } = shell;
  const asset = (name: string): string => `/assets/${assetVersion}/${name}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Nightdesk</title>
<link rel="stylesheet" href="${asset("desk.css")}">
<link rel="icon" href="${asset("icon.svg")}" type="image/svg+xml">
<script src="${asset("desk.js")}" defer></script>${updates === "awaited" ? markup`<noscript><meta http-equiv="refresh" content="2"></noscript>` : ""}
</head>
<body data-updates="${updates}" data-live="${asset("live.js")}"${zoneOf === "browser" ? markup` data-zone="${zone}"` : ""}>
<a class="skip" href="#main">Skip to content</a>
<header>
<p class="brand"><a href="/">Nightdesk</a></p>
${session === null ? "" : markup`${menuHtml(menu, shell.state)}${askHtml(session)}`}
</header>
<main id="main" tabindex="-1">
${body}
</main>
<footer><span>${zone}</span> <span id="live-state" role="status"></span>
${session === null ? "" : footHtml(session)}</footer>
</body>
</html>
`.toString();
}

const menuHtml = (current: string, { waiting, is_working: isWorking }: WorkState): Html =>
  markup`<nav aria-label="Desk"><ul>${MENU.map(([href, name]) => {
    const badge =
      href === "/inbox" && waiting > 0 ? markup` <span class="badge">${waiting}</span>` : "";
    const here = href === current ? markup` aria-current="page"` : "";
    return markup`<li><a href="${href}"${here}>${href === "/" && isWorking ? "Tonight" : name}${badge}</a></li>`;
  })}</ul></nav>`;

const askHtml = (session: Session): Html =>
  markup`<form class="ask" method="post" action="/ask">${csrfField(session)}<input name="question" aria-label="Ask a question" placeholder="Ask your documents" autocomplete="off" required><button>Ask</button></form>`;

const footHtml = (session: Session): Html =>
  markup`<a href="/audit">Changes</a>
<form method="post" action="/leave">${csrfField(session)}${session.user} <button class="quiet">Leave</button></form>`;

/** Needed in each form that changes something. */
export const csrfField = ({ csrf }: Session): Html =>
  markup`<input type="hidden" name="csrf" value="${csrf}">`;

/** The top of a page: its title and a line about it. */
export const headHtml = (title: Fragment, lead?: Fragment): Html =>
  markup`<h1>${title}</h1>
${lead === undefined ? "" : markup`<p class="lead">${lead}</p>`}`;

export const failureContent = ({ status, code, message }: RequestFailure): PageContent => ({
  title: code,
  menu: "",
  body: markup`${headHtml(status === 404 ? "There is nothing here" : "That did not work")}
<p class="failure" role="alert"><strong>${code}</strong></p>
<pre>${message}</pre>
<p><a href="/">To the first page</a></p>`,
});

/** The page that asks for the token. */
export const loginContent = (isWrong: "wrong" | "first", back: string): PageContent => ({
  title: "Sign in",
  menu: "",
  body: markup`${headHtml("Sign in", "This desk asks for its token.")}
${isWrong === "wrong" ? markup`<p class="failure" role="alert">That is not the token.</p>` : ""}
<form method="post" action="/login" class="stack">
<input type="hidden" name="back" value="${back}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<p><button>Sign in</button></p>
</form>`,
});
