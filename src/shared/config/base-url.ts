import { Failure } from "../failure.ts";
import { quote } from "./problem.ts";
import type { Config } from "./schema.ts";
import { parseUrl } from "../http/parse-url.ts";

/** The normal form of a host's URL, or the reason why it is invalid, as a clause. */
type BaseUrl =
  | { readonly kind: "valid"; readonly url: string }
  | { readonly kind: "invalid"; readonly reason: string };

const FORM = /^https?:\/\/(?:\[[0-9a-f:.]+\]|[^[\]:/]+)(?::([0-9]+))?$/i;
/** The scheme and host, then the path. */
const PARTS = /^(https?:\/\/[^/]*)(\/.*)?$/is;
const PATH = /^(?:\/[a-z0-9._~-]+)+$/i;
const MAX_PATH = 200;
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/;

// The unspecified address, also mapped into IPv6 (::ffff:0.0.0.0), translated and behind NAT64. WHATWG parsing has turned every
// other spelling (0, 0x0, 000.0, full-width digits) into one of these.
const UNSPECIFIED = new Set(["0.0.0.0", "[::]", "[::ffff:0:0]", "[::ffff:0:0:0]", "[64:ff9b::]"]);

/** Whether a path may stand between the host and the `/v1` of its routes, as gateways have it. */
type PathRule = "no path" | "path";

/**
 * Accepts `scheme://host[:port]` with http or https, at most one `/` after it, and blanks around it. With the rule `path` it
 * also accepts the path in front of `/v1`: words with slashes between them. The normal form is in lower case, with IPv6 in
 * brackets, without the default port and without a final slash; a path keeps its case.
 */
export function parseBaseUrl(given: string, rule: PathRule = "no path"): BaseUrl {
  const whole = given.trim();
  const [, server = whole, rest = ""] = PARTS.exec(whole) ?? [];
  const path = rest.replace(/\/$/, "");
  const reason = findFault(whole, server) ?? findPathFault(path, rule) ?? findFormFault(server);
  if (reason !== null) return { kind: "invalid", reason };
  const port = FORM.exec(server)?.[1];
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) {
    return { kind: "invalid", reason: "its port is not in 1…65535" };
  }
  const url = parseUrl(server);
  if (url === undefined) return { kind: "invalid", reason: "its host is not valid" };
  const { hostname, origin } = url;
  if (UNSPECIFIED.has(hostname)) {
    return { kind: "invalid", reason: "the unspecified address is no host to connect to" };
  }
  const isAddress = hostname.startsWith("[");
  if (!isAddress && (hostname.length > 253 || !HOST_NAME.test(hostname))) {
    return { kind: "invalid", reason: "its host is not valid" };
  }
  return { kind: "valid", url: `${origin}${path}` };
}

/** The normal form of a checked URL; an invalid one is returned as written. */
export function normalBaseUrl(url: string): string {
  const parsed = parseBaseUrl(url, "path");
  return parsed.kind === "valid" ? parsed.url : url;
}

/** @param server the part of `whole` in front of its path */
function findFault(whole: string, server: string): string | null {
  if (/[\s\p{C}]/u.test(whole)) return "it holds a blank or a control character";
  if (!/^https?:\/\//i.test(whole)) return "it does not begin with http:// or https://";
  if (whole.includes("@")) return "it holds a user name or password";
  if (whole.includes("?")) return "it has a query";
  if (whole.includes("#")) return "it has a fragment";
  if (/[\\%]/.test(server)) return "its host is not valid";
  return null;
}

function findPathFault(path: string, rule: PathRule): string | null {
  if (path === "") return null;
  if (rule === "no path") return "it has a path";
  if (/(?:^|\/)v1$/i.test(path)) return "its path ends with /v1, which is added";
  const isPlain = PATH.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path);
  return isPlain && path.length <= MAX_PATH
    ? null
    : `its path is not made of letters, digits, ".", "_", "~" and "-" with single slashes between, ${MAX_PATH} of them at most`;
}

const findFormFault = (server: string): string | null =>
  FORM.test(server) ? null : "its host or port is not valid";

const DEFAULT_BASE_URL = "http://127.0.0.1:11434";

/** Providers that call a host. `hosts` and providers without a host never use these URLs. */
type ProviderName = Config["model"]["provider"] | Config["embed"]["provider"];

/** Whether hosts of a kind may have a path in front of their routes: OpenAI-compatible gateways may, Ollama may not. */
export const pathRuleOf = (asker: ProviderName): PathRule =>
  asker === "openai-compatible" ? "path" : "no path";

/**
 * The URL of the model host. It is checked when it is needed, and not earlier, because the extractive model and `doctor
 * --no-ollama` work with an invalid one. The first that is not blank wins: `--ollama-base-url`, NIGHTDESK_OLLAMA_BASE_URL,
 * OLLAMA_BASE_URL, model.base_url, http://127.0.0.1:11434.
 * @returns `scheme://host[:port]`, lower case, without a final slash; with the path of an OpenAI-compatible host
 * @throws Failure CONFIG_ERROR if it is invalid
 */
export const modelBaseUrl = (config: Pick<Config, "model" | "origins">): string =>
  modelUrlFor(config.model.provider, config);

/** The URL of the embedder's host: `--ollama-base-url`, then embed.base_url, then the model's. Throws like modelBaseUrl. */
export function embedBaseUrl(config: Pick<Config, "embed" | "model" | "origins">): string {
  const { base_url: url, provider } = config.embed;
  return readUrl("embed.base_url", url, { provider, ...config }) ?? modelUrlFor(provider, config);
}

const modelUrlFor = (provider: ProviderName, config: Pick<Config, "model" | "origins">): string =>
  readUrl("model.base_url", config.model.base_url, { provider, ...config }) ?? DEFAULT_BASE_URL;

type Source = { readonly provider: ProviderName; readonly origins: Config["origins"] };

function readUrl(key: string, value: string | null, { provider, origins }: Source): string | null {
  if (value === null || value.trim() === "") return null;
  const rule = pathRuleOf(provider);
  const parsed = parseBaseUrl(value, rule);
  if (parsed.kind === "valid") return parsed.url;
  // A user name without a password may be a token.
  const found = value.includes("@") ? "a text that is not shown" : quote(value);
  throw new Failure(
    "CONFIG_ERROR",
    `${origins.get(key) ?? "default"}: ${key} is ${found}, and ${parsed.reason}; expected http://host:port or ` +
      `https://host:port${rule === "path" ? ", with what stands before /v1" : ""}, like "${DEFAULT_BASE_URL}"`,
  );
}
