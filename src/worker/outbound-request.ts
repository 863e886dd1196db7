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
  /** GET without it, and POST where there is a body. */
  readonly method?: string;
  readonly body?: string;
  /** Certificates (PEM) that are trusted in place of the built-in ones. */
  readonly ca?: readonly string[];
  /** Which addresses may be connected to. */
  readonly isAllowed: (address: string) => boolean;
  /** In place of the system's resolver. */
  readonly lookup?: (
    hostname: string,
    options: { readonly all: true },
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
};

/** A host that leads where this request may not go. Nothing was sent. */
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
 * Sends one request over a connection of its own, and resolves with the head of the answer. The name is resolved once, and
 * the connection goes to an address that was checked: a name that changes its address meanwhile gains nothing. No redirect
 * is followed, and no proxy of the environment is used, which would resolve the name again, out of our sight.
 * @throws AddressDenied; the system's error for a connection that fails
 */
export async function sendRequest(
  { url, headers = {}, method, body, ca, isAllowed, lookup = systemLookup }: OutboundRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // Nobody looks up an address.
  if (isIP(host) !== 0 && !isAllowed(host)) throw new AddressDenied(host, host);
  const open = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = open(
      url,
      {
        // The shared agent may have been told of a proxy.
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

/** The address that a name leads to, for a connection that is opened elsewhere. @throws as sendRequest */
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

/** Gives the connection those addresses alone that it may go to. */
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
