import type { Config } from "../shared/config/schema.ts";
import { Failure } from "../shared/failure.ts";
import { hostNamesOf } from "../shared/http/host-names.ts";
import { readTls } from "../shared/http/read-tls.ts";
import type { Tls } from "../shared/http/read-tls.ts";
import { isLoopbackHost, networksOf } from "../shared/http/network-address.ts";
import type { Networks } from "../shared/http/network-address.ts";

/** The address of the pages, and how users are authenticated. */
export type Exposure = {
  readonly host: string;
  readonly port: number;
  readonly isLoopback: boolean;
  readonly tls: Tls | null;
  /** How a user is identified: by a trusted proxy, by a token, or as anyone who can connect to a loopback address. */
  readonly identity:
    | { readonly kind: "proxy"; readonly addresses: Networks; readonly userHeader: string }
    | { readonly kind: "token"; readonly token: string }
    | { readonly kind: "local" };
  /** Accepted host names, in lower case and without a port. */
  readonly hostNames: ReadonlySet<string>;
};

const LEAST_TOKEN = 16;

/**
 * Validates what the configuration exposes.
 * @throws Failure CONFIG_ERROR if anybody on a network could see the pages, or read the token
 */
export async function exposureOf(
  { dashboard, roots }: Config,
  address: { readonly host: string; readonly port: number },
): Promise<Exposure> {
  const { host, port } = address;
  const isLoopback = isLoopbackHost(host);
  const identity = identityOf(dashboard);
  const tls = await readTls(dashboard.tls, roots.configRoot, "dashboard.tls");
  if (!isLoopback && identity.kind === "local") {
    throw new Failure(
      "CONFIG_ERROR",
      `dashboard.host ${JSON.stringify(host)} can be reached from a network, and nothing says who may look. ` +
        "Set NIGHTDESK_DASHBOARD_TOKEN_FILE (or dashboard.trusted_proxy), or listen on 127.0.0.1.",
    );
  }
  if (!isLoopback && identity.kind === "token" && tls === null && !dashboard.published) {
    throw new Failure(
      "CONFIG_ERROR",
      `dashboard.host ${JSON.stringify(host)} can be reached from a network, and without TLS the token could be read there. ` +
        "Set dashboard.tls.cert_file and key_file, put a proxy with TLS in front of 127.0.0.1, or listen on 127.0.0.1.",
    );
  }
  const hostNames = hostNamesOf(host, dashboard.allowed_hosts);
  return { host, port, isLoopback, tls, identity, hostNames };
}

function identityOf({ token, trusted_proxy: proxy }: Config["dashboard"]): Exposure["identity"] {
  if (proxy.user_header !== null || proxy.addresses.length > 0) {
    if (proxy.user_header === null || proxy.addresses.length === 0) {
      throw new Failure(
        "CONFIG_ERROR",
        "dashboard.trusted_proxy needs both addresses, from which it asks, and user_header, in which it names the user.",
      );
    }
    return {
      kind: "proxy",
      addresses: networksOf(proxy.addresses),
      userHeader: proxy.user_header,
    };
  }
  const given = token?.trim() ?? "";
  if (given === "") return { kind: "local" };
  if (given.length < LEAST_TOKEN) {
    throw new Failure(
      "CONFIG_ERROR",
      `dashboard.token has ${given.length} characters; expected at least ${LEAST_TOKEN}, like those of: openssl rand -hex 24`,
    );
  }
  return { kind: "token", token: given };
}
