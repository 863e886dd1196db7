import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { readSearchKey } from "../../shared/config/search-key.ts";
import type { Config } from "../../shared/config/schema.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { endWebCall, takeWebCall } from "../../shared/store/hosts/web-calls.ts";
import type { WebCallEnd, WebPlace } from "../../shared/store/hosts/web-calls.ts";
import { whyToolDisabled, WEB_TOOLS, whyWebOff } from "../../shared/config/tool-presets.ts";
import { openOffload } from "../offload/offload.ts";
import type { OutboundRequest } from "../outbound-request.ts";
import { fetchBytes } from "./fetch-page.ts";
import { readPage } from "./page-reading.ts";
import type { FetchedPage } from "./page-reading.ts";
import { prepareSearch } from "./search-providers.ts";
import type { FoundPage } from "./search-providers.ts";
import { judgeUrl } from "./url-rules.ts";
import type { UrlRules } from "./url-rules.ts";

/** A worker's access to the web: under its own limits, and those that all workers share. */
export type WebDoor = {
  /** Best first. Refusals: WEB_DENIED (off), WEB_UNAVAILABLE (the provider is down or busy, or the wait is too long). */
  search(query: string, limit: number, signal: AbortSignal): Promise<SearchResults | Refusal>;
  /** Refusals: those of `fetchBytes` and `readPage`, WEB_DENIED (off). */
  fetchPage(url: string, signal: AbortSignal): Promise<FetchedPage | Refusal>;
  /** Whether a page may be fetched, judged by its URL alone. */
  judge(url: string): { readonly kind: "url"; readonly url: URL } | Refusal;
  readonly asks: "unknown" | "always";
  /** Why the configuration turns a web tool off; null if it is on. */
  whyOff(tool: string): string | null;
};

export type SearchResults = {
  readonly kind: "results";
  readonly provider: string;
  readonly pages: readonly FoundPage[];
};

/** Access to the web for one investigation. */
export type WebAccess = {
  search(query: string, limit: number): Promise<SearchResults | Refusal>;
  fetchPage(url: string): Promise<FetchedPage | Refusal>;
  /** Why a fetch needs approval: the URL is unknown, or every fetch needs it; null if none is needed. */
  approvalReason(url: string): WebDoor["asks"] | null;
  readonly whyOff: WebDoor["whyOff"];
};

type WebParts = {
  readonly config: Pick<Config, "tools" | "ask" | "roots">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: Queryable;
  /** Replaces the system's resolver. */
  readonly lookup?: OutboundRequest["lookup"];
};

/** The longest wait for a turn; beyond it the model is told to go on with something else. */
const LONGEST_WAIT_MS = 30_000;
/** The host name under which all page fetches share one rate limit. */
const PAGES = "web pages";
/** Only a hostile page takes more memory to read. */
const MOST_PAGE_MB = 256;

export function openWeb({ config, env, database, lookup }: WebParts): WebDoor {
  const { web } = config.tools;
  const rules: UrlRules = {
    ports: web.ports,
    onlyHosts: web.only_hosts,
    denyHosts: web.deny_hosts,
    allowHosts: web.allow_hosts,
  };
  const limits = {
    userAgent: web.user_agent,
    maxBytes: web.max_bytes,
    timeoutMs: web.timeout_s * 1_000,
    ...(lookup === undefined ? {} : { lookup }),
  };
  const offload = openOffload({
    execArgv: process.execArgv,
    resourceLimits: { maxOldGenerationSizeMb: MOST_PAGE_MB },
  });
  const turns = { database, mostFailures: web.search.breaker_failures };
  return {
    asks: web.ask,
    whyOff: (tool) => whyWebOff(tool, web) ?? null,
    judge: (url) => refuseIfOff("page", web) ?? judgeUrl(url, rules),
    async fetchPage(url, signal) {
      const judged = refuseIfOff("page", web) ?? judgeUrl(url, rules);
      if (judged.kind === "refused") return judged;
      const turn = await takeTurn(PAGES, web.fetches_per_minute, turns, signal);
      if (turn.kind === "refused") return turn;
      const fetched = await fetchBytes(url, rules, limits, signal);
      if (fetched.kind === "refused") return fetched;
      const maxChars = config.ask.max_chars_full_read;
      return readPage(fetched, new Date(), { offload, maxChars, signal });
    },
    async search(query, limit, signal) {
      const refused = refuseIfOff("search", web);
      const { provider } = web.search;
      if (refused !== null) return refused;
      if (provider === null) return refuse("WEB_DENIED", "tools.web.search.provider is not set.");
      const key = await readSearchKey(config, env);
      if (key.kind === "missing") return refuse("WEB_UNAVAILABLE", `On this worker ${key.why}`);
      const baseUrl = web.search.base_url;
      const call = { provider, baseUrl, key: key.key, query, limit };
      const prepared = prepareSearch(call, limits);
      const turn = await takeTurn(prepared.host, web.search.per_minute, turns, signal);
      if (turn.kind === "refused") return turn;
      const answer = await prepared.send(signal);
      await turn.end(answer);
      if (answer.kind !== "answered") return refuse("WEB_UNAVAILABLE", answer.message);
      return { kind: "results", provider, pages: answer.pages.slice(0, limit) };
    },
  };
}

function refuseIfOff(what: keyof typeof WEB_TOOLS, web: Config["tools"]["web"]): Refusal | null {
  const reason = whyToolDisabled(WEB_TOOLS[what], web);
  return reason === undefined ? null : refuse("WEB_DENIED", reason);
}

type Turn = { readonly kind: "turn"; end(end: WebCallEnd): Promise<void> };

/** Waits for a turn under the rate limit of a host, which all workers share. */
async function takeTurn(
  host: string,
  perMinute: number,
  { database, mostFailures }: { readonly database: Queryable; readonly mostFailures: number },
  signal: AbortSignal,
): Promise<Turn | Refusal> {
  const place: WebPlace = { ticket: randomUUID(), host };
  const pace = { perMinute, longestWaitMs: LONGEST_WAIT_MS };
  const { outcome, seconds, message } = await takeWebCall(database, place, pace);
  switch (outcome) {
    case "busy":
      return refuse(
        "WEB_UNAVAILABLE",
        `All workers together make ${perMinute} calls a minute, and the next turn is in ${Math.ceil(seconds)} s. Go on with what there is.`,
      );
    case "open":
      return refuse(
        "WEB_UNAVAILABLE",
        `The provider is paused for another ${Math.ceil(seconds)} s${message === null ? "" : `: ${message}`} Go on with what there is.`,
      );
    case "taken":
      await delay(seconds * 1_000, undefined, { signal }).catch(() => {
        signal.throwIfAborted();
      });
      return { kind: "turn", end: (end) => endWebCall(database, place, end, mostFailures) };
  }
}

const NOWHERE: Refusal = refuse("WEB_DENIED", "Nothing is reached here.");

/** For a replay, which connects to nothing. */
export const NO_WEB: WebDoor = {
  asks: "unknown",
  whyOff: () => null,
  judge: () => NOWHERE,
  search: async () => NOWHERE,
  fetchPage: async () => NOWHERE,
};
