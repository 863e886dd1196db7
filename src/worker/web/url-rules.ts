import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { networkKindOf } from "../../shared/http/network-address.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";

/** Which pages may be fetched: the keys of `tools.web`. A host is a name, `*.name` for its subdomains, or `name:port`. */
export type UrlRules = {
  readonly ports: readonly number[];
  /** Null: all hosts that are not denied. */
  readonly onlyHosts: readonly string[] | null;
  readonly denyHosts: readonly string[];
  /** Hosts that may be in a private network or on this machine, and may have any port that their entry names. */
  readonly allowHosts: readonly string[];
};

export const MOST_URL_CHARS = 2_048;
/** By scheme: its default port. */
const SCHEMES: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Parses a URL and checks it against the rules. `addressRule` checks the address of its host when the connection is made.
 * Refusals: INVALID_ARGS (no URL of a page), WEB_DENIED.
 */
export function judgeUrl(
  text: string,
  rules: UrlRules,
): { readonly kind: "url"; readonly url: URL } | Refusal {
  if (text.length > MOST_URL_CHARS) {
    return refuse("INVALID_ARGS", `A URL may have ${MOST_URL_CHARS} characters.`);
  }
  const url = parseUrl(text);
  if (url === undefined || !(url.protocol in SCHEMES)) {
    return refuse("INVALID_ARGS", "Give a whole URL, http://… or https://….");
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("WEB_DENIED", "The URL holds a user or a password. Give it without.");
  }
  url.hash = "";
  const place = { host: hostOf(url), port: portOf(url) };
  const isNamed = isAllowed(place, rules);
  if (!isNamed && !rules.ports.includes(place.port)) {
    return refuse("WEB_DENIED", `Port ${place.port} is none of tools.web.ports.`);
  }
  if (rules.denyHosts.some((entry) => matches(entry, place))) {
    return refuse("WEB_DENIED", `${place.host} is one of tools.web.deny_hosts.`);
  }
  const { onlyHosts } = rules;
  if (onlyHosts !== null && !isNamed && !onlyHosts.some((entry) => matches(entry, place))) {
    return refuse("WEB_DENIED", `${place.host} is none of tools.web.only_hosts.`);
  }
  return { kind: "url", url };
}

/** Which addresses a page may be fetched from: public ones; any address if an entry of `allow_hosts` matches the URL. */
export function addressRule(url: URL, rules: UrlRules): (address: string) => boolean {
  const isNamed = isAllowed({ host: hostOf(url), port: portOf(url) }, rules);
  return (address) => isNamed || networkKindOf(address) === "public";
}

/** A dot at the end makes a name absolute; it is the same name without it. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (SCHEMES[protocol] ?? 0) : Number(port);

type Place = { readonly host: string; readonly port: number };

/** An entry without a port allows the ports of `ports`. */
const isAllowed = (place: Place, { allowHosts, ports }: UrlRules): boolean =>
  allowHosts.some(
    (entry) => matches(entry, place) && (/:\d+$/.test(entry) || ports.includes(place.port)),
  );

/** An entry without a port matches every port. */
function matches(entry: string, { host, port }: Place): boolean {
  const [, name = "", given] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
  if (given !== undefined && Number(given) !== port) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

const URL_IN_TEXT = /https?:\/\/[^\s<>"'`|\\^{}]{1,2048}/giu;
/** Punctuation that may follow a URL in a sentence. */
const TRAILING_MARKS = ".,;:!?)]»”’*_";
/** In one text. */
const MOST_URLS = 5_000;

/** The URLs in a text, each as `urlKey` spells it, with and without the punctuation behind it. */
export function urlsIn(text: string): ReadonlySet<string> {
  const keys = new Set<string>();
  let seen = 0;
  for (const [found] of text.matchAll(URL_IN_TEXT)) {
    seen += 1;
    if (seen > MOST_URLS) break;
    let end = found.length;
    while (TRAILING_MARKS.includes(found.charAt(end - 1))) end -= 1;
    for (const spelled of [found, found.slice(0, end)]) {
      const key = urlKey(spelled);
      if (key !== undefined) keys.add(key);
    }
  }
  return keys;
}

/** Spells a URL in one way, without its fragment, which is never sent. Undefined if the text is no URL. */
export function urlKey(text: string): string | undefined {
  const url = parseUrl(text);
  if (url === undefined) return undefined;
  url.hash = "";
  return url.href;
}
