import { lookup as systemLookup } from "node:dns";
import type { LookupAddress } from "node:dns";
import { lookup as lookupAll } from "node:dns/promises";
import { request as httpRequest } from "node:http";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { networkKindOf } from "../shared/http/network-address.ts";

export type OutboundRequest = {
  readonly url: URL;
  readonly headers?: OutgoingHttpHeaders;
  /** Default: GET, or POST with a body. */
  readonly method?: string;
  readonly body?: string;
  /** Certificates (PEM) that are trusted instead of the built-in ones. */
  readonly ca?: readonly string[];
  /** Whether a connection to an address is allowed. */
  readonly isAllowed: (address: string) => boolean;
  /** Replaces the system's resolver. */
  readonly lookup?: (
    hostname: string,
    options: { readonly all: true },
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
};

/** The host has an address that this request may not connect to. Nothing was sent. */
export class AddressDenied extends Error {
  override readonly name = "AddressDenied";

  constructor(host: string, address: string) {
    const kind = networkKindOf(address);
    const where =
      isIP(host) === 0 ? `leads to the ${kind} address ${address}` : `is a ${kind} address`;
    super(`${host} ${where}`);
  }
}

/**
 * Sends one request over a connection of its own, and resolves with the head of the response. The name is resolved once, and the
 * connection uses a checked address, so changing the address of the name meanwhile is useless. It follows no redirect, and uses
 * no proxy of the environment, because a proxy would resolve the name again without the check.
 * @throws AddressDenied; the system's error for a failed connection
 */
export async function sendRequest(
  { url, headers = {}, method, body, ca, isAllowed, lookup = systemLookup }: OutboundRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // `lookup` is not called for an IP address.
  if (isIP(host) !== 0 && !isAllowed(host)) throw new AddressDenied(host, host);
  const open = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = open(
      url,
      {
        // The shared agent may have a proxy.
        agent: false,
        method: method ?? (body === undefined ? "GET" : "POST"),
        ...(ca === undefined ? {} : { ca: [...ca] }),
        headers: {
          ...headers,
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
        },
        lookup: checkedLookup(isAllowed, lookup),
        signal,
      },
      resolve,
    ).on("error", reject);
    request.end(body);
  });
}

/** The allowed address of a name, for a connection that is opened elsewhere. @throws as sendRequest */
export async function resolveAllowed(
  host: string,
  isAllowed: OutboundRequest["isAllowed"],
): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const found = isIP(bare) === 0 ? await lookupAll(bare, { all: true }) : [{ address: bare }];
  const allowed = found.find(({ address }) => isAllowed(address));
  if (allowed === undefined) throw new AddressDenied(bare, found[0]?.address ?? "");
  return allowed.address;
}

/** Passes only allowed addresses to the connection. */
const checkedLookup =
  (
    isAllowed: OutboundRequest["isAllowed"],
    lookup: NonNullable<OutboundRequest["lookup"]>,
  ): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = error === null ? addresses.filter(({ address }) => isAllowed(address)) : [];
      const [first] = allowed;
      if (error !== null) callback(error, "", 0);
      else if (first === undefined)
        callback(new AddressDenied(hostname, addresses[0]?.address ?? ""), "", 0);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
