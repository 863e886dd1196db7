import { Failure } from "../failure.ts";
import { quote } from "./problem.ts";
import type { Config } from "./schema.ts";
import { parseUrl } from "../parse-url.ts";

/** The normal form of a host's URL, or what is wrong with it as a clause. */
type BaseUrl =
  | { readonly kind: "valid"; readonly url: string }
  | { readonly kind: "invalid"; readonly reason: string };

const FORM = /^https?:\/\/(?:\[[0-9a-f:.]+\]|[^[\]:/]+)(?::([0-9]+))?\/?$/i;
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/;

// The unspecified address, also mapped into IPv6 (::ffff:0.0.0.0), translated and behind NAT64; WHATWG
// parsing has turned every other spelling (0, 0x0, 000.0, full-width digits) into one of these.
const UNSPECIFIED = new Set(["0.0.0.0", "[::]", "[::ffff:0:0]", "[::ffff:0:0:0]", "[64:ff9b::]"]);

/**
 * Accepts `scheme://host[:port]` with http or https and at most a single `/` after it, and blanks around it. Normal
 * form: lower case, IPv6 in brackets, no default port, no final slash.
 */
export function parseBaseUrl(given: string): BaseUrl {
  const text = given.trim();
  const reason = findFault(text);
  if (reason !== null) return { kind: "invalid", reason };
  const port = FORM.exec(text)?.[1];
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) {
    return { kind: "invalid", reason: "its port is not in 1…65535" };
  }
  const url = parseUrl(text);
  if (url === undefined) return { kind: "invalid", reason: "its host is not valid" };
  const { hostname, origin } = url;
  if (UNSPECIFIED.has(hostname)) {
    return { kind: "invalid", reason: "the unspecified address is no host to connect to" };
  }
  const isAddress = hostname.startsWith("[");
  if (!isAddress && (hostname.length > 253 || !HOST_NAME.test(hostname))) {
    return { kind: "invalid", reason: "its host is not valid" };
  }
  return { kind: "valid", url: origin };
}

/** The normal form of a URL that has been checked; one that is not valid as it was written. */
export function normalBaseUrl(url: string): string {
  const parsed = parseBaseUrl(url);
  return parsed.kind === "valid" ? parsed.url : url;
}

function findFault(text: string): string | null {
  if (/[\s\p{C}]/u.test(text)) return "it holds a blank or a control character";
  if (!/^https?:\/\//i.test(text)) return "it does not begin with http:// or https://";
  if (text.includes("@")) return "it holds a user name or password";
  if (text.includes("?")) return "it has a query";
  if (text.includes("#")) return "it has a fragment";
  if (/[\\%]/.test(text)) return "its host is not valid";
  if (/^https?:\/\/[^/]*\/./i.test(text)) return "it has a path";
  return FORM.test(text) ? null : "its host or port is not valid";
}

const DEFAULT_BASE_URL = "http://127.0.0.1:11434";

/**
 * The model host, checked when it is needed and not before: the extractive model and `doctor --no-ollama` work
 * with a host that is not valid. The first that is not blank decides: `--ollama-base-url`,
 * NIGHTDESK_OLLAMA_BASE_URL, OLLAMA_BASE_URL, model.base_url, http://127.0.0.1:11434.
 *
 * @returns `scheme://host[:port]`, lower case, without a final slash
 * @throws Failure CONFIG_ERROR where it is anything but that
 */
export const modelBaseUrl = (config: Pick<Config, "model" | "origins">): string =>
  check("model.base_url", config.model.base_url, config.origins) ?? DEFAULT_BASE_URL;

/** The embedder's host: `--ollama-base-url`, then embed.base_url, then the model's. Throws like modelBaseUrl. */
export const embedBaseUrl = (config: Pick<Config, "embed" | "model" | "origins">): string =>
  check("embed.base_url", config.embed.base_url, config.origins) ?? modelBaseUrl(config);

function check(key: string, value: string | null, origins: Config["origins"]): string | null {
  if (value === null || value.trim() === "") return null;
  const parsed = parseBaseUrl(value);
  if (parsed.kind === "valid") return parsed.url;
  // A lone user name may be a token.
  const found = value.includes("@") ? "a text that is not shown" : quote(value);
  throw new Failure(
    "CONFIG_ERROR",
    `${origins.get(key) ?? "default"}: ${key} is ${found}, and ${parsed.reason}; expected http://host:port or ` +
      `https://host:port, like "${DEFAULT_BASE_URL}"`,
  );
}
