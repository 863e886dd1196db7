import { parseUrl } from "../http/parse-url.ts";

const SECRET_NAME = /pass|pwd|secret|token|key/i;
const MASK = "***";

/**
 * A connection URL without its password, for logs and messages: `redis://:***@host`, `…?password=***`. Everything that may be
 * part of a password is masked, also if the password has an unencoded `/`, `?`, `#` or `@`, and if the URL lacks its slashes:
 * `postgres:***@host`. Any other text is unchanged, except values of `password=` and similar.
 */
export function maskUrl(url: string): string {
  const [address, ...rest] = maskUserinfo(url).split("?");
  if (rest.length === 0) return maskParameters(address ?? "", " ");
  return `${address ?? ""}?${maskParameters(rest.join("?"), "&")}`;
}

function maskUserinfo(url: string): string {
  const scheme = url.indexOf("://");
  const at = url.lastIndexOf("@");
  // Without slashes the end of the scheme is unknown, so the first colon counts.
  const colon = url.indexOf(":", scheme === -1 ? 0 : scheme + 3);
  if (colon === -1 || colon > at) return url;
  return `${url.slice(0, colon)}:${MASK}${url.slice(at)}`;
}

const maskParameters = (text: string, separator: string): string =>
  text
    .split(separator)
    .map((parameter) => {
      const equals = parameter.indexOf("=");
      if (equals === -1 || !SECRET_NAME.test(decodeEscapes(parameter.slice(0, equals))))
        return parameter;
      return `${parameter.slice(0, equals)}=${MASK}`;
    })
    .join(separator);

/** Decodes a part of a URL; one with an incomplete escape stays as written. */
export function decodeEscapes(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The URL of a webhook without its path, which is often its only secret. */
export function maskWebhook(webhook: string): string {
  const url = parseUrl(webhook);
  if (url === undefined) return "***";
  const { protocol, host, pathname, search } = url;
  return `${protocol}//${host}${pathname === "/" && search === "" ? "/" : "/***"}`;
}
