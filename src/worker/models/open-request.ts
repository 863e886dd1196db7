import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Credentials } from "./host-access.ts";

type OpenedRequest = {
  readonly url: URL;
  /** With method, headers and signal of the request. */
  readonly options: RequestOptions;
  readonly credentials: Pick<Credentials, "ca" | "proxy">;
};

/**
 * Opens a request over a connection of its own, only through the proxy of the host's configuration: proxy variables in the
 * environment of the process are ignored.
 * @throws the system's error for a connection that fails; ProxyRefused
 */
export async function openRequest(
  { url, options, credentials: { ca, proxy } }: OpenedRequest,
  onResponse: (response: IncomingMessage) => void,
): Promise<ClientRequest> {
  // The host may just be closing a pooled connection, which would look like a host that is down.
  const trusting = { ...options, ...(ca.length === 0 ? {} : { ca: [...ca] }) };
  const alone = { ...trusting, agent: false };
  const open = url.protocol === "https:" ? httpsRequest : httpRequest;
  if (proxy === null) return open(url, alone, onResponse);
  if (url.protocol === "http:") {
    const { hostname, port } = addressOf(proxy);
    const headers = { ...(options.headers as Record<string, string>), host: url.host };
    return httpRequest({ ...alone, hostname, port, path: url.href, headers }, onResponse);
  }
  const tunnel = await openTunnel(url, proxy, options.signal);
  const host = withoutBrackets(url.hostname);
  // TLS must not send an IP address as a server name (RFC 6066); the certificate is checked for the address.
  const named = { host, ...(isIP(host) === 0 ? { servername: host } : {}) };
  return httpsRequest(
    url,
    {
      ...trusting,
      // Without an agent Node assumes port 80, and puts it into the Host header.
      defaultPort: 443,
      createConnection: () =>
        connectTls({ socket: tunnel, ...named, ...(ca.length === 0 ? {} : { ca: [...ca] }) }),
    },
    onResponse,
  );
}

/** The proxy can't be reached, or denies the connection to the host. */
export class ProxyRefused extends Error {
  override readonly name = "ProxyRefused";
  readonly code = "PROXY_REFUSED";
}

/** Attributes a failed connection to the proxy, if there is one. */
export function connectionError(error: NodeJS.ErrnoException, proxy: string | null): Error {
  const { code, syscall } = error;
  if (proxy === null || (syscall !== "connect" && syscall !== "getaddrinfo")) return error;
  return new ProxyRefused(`the proxy ${proxy} is not reached (${code ?? error.message})`, {
    cause: error,
  });
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

const addressOf = (proxy: string): { hostname: string; port: number } => {
  const { hostname, port } = new URL(proxy);
  return { hostname: withoutBrackets(hostname), port: port === "" ? 80 : Number(port) };
};

function openTunnel(url: URL, proxy: string, signal: AbortSignal | undefined): Promise<Socket> {
  const path = `${url.hostname}:${url.port === "" ? "443" : url.port}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      ...addressOf(proxy),
      ...(signal === undefined ? {} : { signal }),
      agent: false,
      method: "CONNECT",
      path,
      headers: { host: path },
    });
    request.on("error", (error) => {
      reject(connectionError(error, proxy));
    });
    request.on("connect", (response, socket) => {
      if (response.statusCode === 200) {
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(
        new ProxyRefused(`the proxy ${proxy} answers ${response.statusCode ?? 0} for ${path}`),
      );
    });
    request.end();
  });
}
