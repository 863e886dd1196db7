import { isHostOf } from "../shared/http/host-names.ts";
import type { Exposure } from "./exposure.ts";
import { Refused } from "./failures.ts";

/** What the guard looks at: header names in lower case. */
export type GuardedRequest = {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  /** Of the other end of the connection. */
  readonly address: string;
};

const SAFE = new Set(["GET", "HEAD"]);

export const isChange = ({ method }: GuardedRequest): boolean => !SAFE.has(method);

/**
 * Refuses a request for a name that is not ours, which a page elsewhere gets by a DNS name of its own that leads here.
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
 * Refuses a change that another site asks for, whatever its content type.
 * @throws Refused 403
 */
export function assertOrigin(asked: GuardedRequest, { tls }: Exposure): void {
  if (!isChange(asked)) return;
  const { header } = asked;
  const host = header("host") ?? "";
  // In front of plain HTTP may be a proxy with TLS.
  const schemes = tls === null ? ["http", "https"] : ["https"];
  const origin = header("origin");
  if (origin !== undefined && schemes.some((scheme) => origin === `${scheme}://${host}`)) return;
  throw new Refused({
    status: 403,
    code: "FORBIDDEN",
    message: "A change has to come from a page of this desk: its Origin is missing, or another.",
  });
}

/**
 * Who a trusted proxy says is asking.
 * @throws Refused 403 where somebody else asks, or nobody is named
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
