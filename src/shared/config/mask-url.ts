import { parseUrl } from "../http/parse-url.ts";

const SECRET_NAME = /pass|pwd|secret|token|key/i;
const MASK = "***";

/**
 * A connection URL without its password, for logs and messages: `redis://:***@host`, `…?password=***`. Whatever
 * could be part of a password is masked, also where it holds `/`, `?`, `#` or `@` that should have been encoded, and
 * where the URL lacks its slashes: `postgres:***@host`. Other text comes back as it is, but for values of `password=`
 * and the like.
 */
export function maskUrl(url: string): string {
  const [address, ...rest] = maskUserinfo(url).split("?");
  if (rest.length === 0) return maskParameters(address ?? "", " ");
  return `${address ?? ""}?${maskParameters(rest.join("?"), "&")}`;
}

function maskUserinfo(url: string): string {
  const scheme = url.indexOf("://");
  const at = url.lastIndexOf("@");
  // Without the slashes nobody knows where a scheme ends and a user begins.
  const colon = url.indexOf(":", scheme === -1 ? 0 : scheme + 3);
  if (colon === -1 || colon > at) return url;
  return `${url.slice(0, colon)}:${MASK}${url.slice(at)}`;
}

const maskParameters = (text: string, separator: string): string =>
  text
    .split(separator)
    .map((parameter) => {
      const equals = parameter.indexOf("=");
      if (equals === -1 || !SECRET_NAME.test(decode(parameter.slice(0, equals)))) return parameter;
      return `${parameter.slice(0, equals)}=${MASK}`;
    })
    .join(separator);

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Half an escape is no escape: the name is what is written.
    return name;
  }
}

/** The URL of a webhook as far as it is no secret: its path is often the only key that it has. */
export function maskWebhook(webhook: string): string {
  const url = parseUrl(webhook);
  if (url === undefined) return "***";
  const { protocol, host, pathname, search } = url;
  return `${protocol}//${host}${pathname === "/" && search === "" ? "/" : "/***"}`;
}
