import { isHostOf } from "../shared/http/host-names.ts";
import type { Exposure } from "./exposure.ts";
import { Refused } from "./failures.ts";

/** The parts of a request that the guard checks. Header names are in lower case. */
export type GuardedRequest = {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  /** The client's address. */
  readonly address: string;
};

const SAFE = new Set(["GET", "HEAD"]);

export const isChange = ({ method }: GuardedRequest): boolean => !SAFE.has(method);

/**
 * Refuses a request for another host name. Protects from DNS rebinding: the page of another site can point its own DNS name here.
 * @throws Refused 421
 */
export function assertHost({ header }: GuardedRequest, { hostNames }: Exposure): void {
  if (isHostOf(header("host") ?? "", hostNames)) return;
  throw new Refused({
    status: 421,
    code: "MISDIRECTED",
    message:
      "This desk is not served under that name. Add it to dashboard.allowed_hosts, or use the address that nightdesk dashboard printed.",
  });
}

/**
 * Refuses a change from another site, whatever its content type.
 * @throws Refused 403
 */
export function assertOrigin(request: GuardedRequest, { tls }: Exposure): void {
  if (!isChange(request)) return;
  const { header } = request;
  const host = header("host") ?? "";
  // A proxy with TLS may be in front of plain HTTP.
  const schemes = tls === null ? ["http", "https"] : ["https"];
  const origin = header("origin");
  if (origin !== undefined && schemes.some((scheme) => origin === `${scheme}://${host}`)) return;
  throw new Refused({
    status: 403,
    code: "FORBIDDEN",
    message:
      "A change has to come from a page of this dashboard: its Origin is missing, or another.",
  });
}

/**
 * The user that a trusted proxy names.
 * @throws Refused 403 for any other client, or without a name
 */
export function proxiedUser(
  { header, address }: GuardedRequest,
  identity: Extract<Exposure["identity"], { kind: "proxy" }>,
): string {
  const user = header(identity.userHeader.toLowerCase())?.trim() ?? "";
  if (identity.addresses.has(address) && user !== "") return user.slice(0, 200);
  throw new Refused({
    status: 403,
    code: "FORBIDDEN",
    message:
      "This desk is reached through a proxy alone: dashboard.trusted_proxy names its addresses and the header in which it names the user.",
  });
}
