import { isIP } from "node:net";

/** Host names that a server accepts, in lower case and without a port. */
export const hostNamesOf = (host: string, allowed: readonly string[]): ReadonlySet<string> =>
  new Set(
    [host, "localhost", "127.0.0.1", "[::1]", ...allowed].map((name) =>
      bracketIpv6(name.toLowerCase()),
    ),
  );

const bracketIpv6 = (name: string): string => (isIP(name) === 6 ? `[${name}]` : name);

/** Whether a Host header names this server. Against DNS rebinding: another site can point its own name at this address. */
export function isHostOf(header: string, hostNames: ReadonlySet<string>): boolean {
  const name = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(header)?.[1]?.toLowerCase();
  return name !== undefined && hostNames.has(name);
}
