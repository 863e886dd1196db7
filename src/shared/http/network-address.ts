import { BlockList, isIP } from "node:net";

/** The kind of network of an address. All kinds but `public` can be reached only from within the same network. */
export type NetworkKind =
  "public" | "loopback" | "link-local" | "private" | "multicast" | "reserved";

/** A set of networks of both families. */
export type Networks = { has(address: string): boolean };

// IANA's registries of special-purpose addresses. Any other IPv6 address outside 2000::/3 counts as reserved.
const SPECIAL: Readonly<Record<Exclude<NetworkKind, "public">, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  private: [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
    "fec0::/10",
  ],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  reserved: [
    "0.0.0.0/8",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
  ],
};
type Registry = {
  readonly special: readonly { readonly kind: NetworkKind; readonly networks: Networks }[];
  readonly globalUnicast: Networks;
};
let registry: Registry | undefined;
/** Created on the first lookup: most commands need none. */
const registryOf = (): Registry =>
  (registry ??= {
    special: Object.entries(SPECIAL).map(([kind, networks]) => ({
      kind: kind as NetworkKind,
      networks: networksOf(networks),
    })),
    globalUnicast: networksOf(["2000::/3"]),
  });

/** The kind of network of an address. An IPv4 address inside an IPv6 one (mapped, translated, NAT64) decides. */
export function networkKindOf(address: string): NetworkKind {
  const plain = withinIpv6(address);
  const { special, globalUnicast } = registryOf();
  const found = special.find(({ networks }) => networks.has(plain));
  if (found !== undefined) return found.kind;
  return isIP(plain) === 4 || globalUnicast.has(plain) ? "public" : "reserved";
}

/** @param networks addresses or networks like `10.0.0.0/8`, as isNetwork validates them */
export function networksOf(networks: readonly string[]): Networks {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return {
    has(address) {
      const plain = withinIpv6(address);
      return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
    },
  };
}

/** Whether an address may be accessed: public ones, and those of these networks. */
export const allowedAddresses =
  (networks: Networks) =>
  (address: string): boolean =>
    networkKindOf(address) === "public" || networks.has(address);

/** Whether a text is an address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
  );
}

/** The literal address in the host of a URL; undefined for a name. `localhost` counts as an address, by RFC 6761. */
export function addressOfHost(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0) return bare;
  return /(?:^|\.)localhost\.?$/i.test(bare) ? "127.0.0.1" : undefined;
}

/** Whether the host of a URL is this machine, by its text alone. */
export function isLoopbackHost(hostname: string): boolean {
  const address = addressOfHost(hostname);
  return address !== undefined && networkKindOf(address) === "loopback";
}

/** The groups in front of an embedded IPv4 address, for each form of IPv6 address with one. */
const EMBEDDING = [
  [0, 0, 0, 0, 0, 0xffff],
  [0, 0, 0, 0, 0xffff, 0],
  [0x64, 0xff9b, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0],
];

/** The IPv4 address inside an IPv6 one; else the address itself, without its zone. */
function withinIpv6(address: string): string {
  const [bare = ""] = address.split("%");
  if (isIP(bare) !== 6) return bare;
  const groups = groupsOf(bare);
  const [high = 0, low = 0] = groups.slice(6);
  const embeds = EMBEDDING.some((prefix) =>
    prefix.every((group, place) => groups[place] === group),
  );
  // `::` and `::1` embed no IPv4 address.
  if (!embeds || (high === 0 && low <= 1 && groups[5] === 0 && groups[0] === 0)) return bare;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** The eight groups, after the URL parser has normalised the spelling. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const parse = (text = "") =>
    text === "" ? [] : text.split(":").map((part) => parseInt(part, 16));
  const [before, after] = [parse(head), parse(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
