import { BlockList, isIP } from "node:net";

/** Where an address lies. Everything but `public` is reached only by those who are in the same network. */
export type NetworkKind =
  "public" | "loopback" | "link-local" | "private" | "multicast" | "reserved";

/** A set of networks of both families. */
export type Networks = { has(address: string): boolean };

// The registries of special-purpose addresses (IANA), for IPv6 all beyond 2000::/3.
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
/** Made when the first address is looked up: most commands look up none. */
const registryOf = (): Registry =>
  (registry ??= {
    special: Object.entries(SPECIAL).map(([kind, networks]) => ({
      kind: kind as NetworkKind,
      networks: networksOf(networks),
    })),
    globalUnicast: networksOf(["2000::/3"]),
  });

/** The network of an address; an IPv4 address within an IPv6 one (mapped, translated, NAT64) decides for it. */
export function networkKindOf(address: string): NetworkKind {
  const plain = withinIpv6(address);
  const { special, globalUnicast } = registryOf();
  const found = special.find(({ networks }) => networks.has(plain));
  if (found !== undefined) return found.kind;
  return isIP(plain) === 4 || globalUnicast.has(plain) ? "public" : "reserved";
}

/** @param networks each an address, or a network like `10.0.0.0/8`; isNetwork says which are valid */
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

/** Which addresses may be connected to: public ones, and those of these networks. */
export const publicOr =
  (networks: Networks) =>
  (address: string): boolean =>
    networkKindOf(address) === "public" || networks.has(address);

/** Whether a text is an address, or one with the number of its leading bits. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
  );
}

/** The address that the host of a URL is as it stands; undefined for a name. `localhost` is one, by its RFC. */
export function addressOfHost(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0) return bare;
  return /(?:^|\.)localhost\.?$/i.test(bare) ? "127.0.0.1" : undefined;
}

/** Whether the host of a URL is this machine, as far as its text says. */
export function isLoopbackHost(hostname: string): boolean {
  const address = addressOfHost(hostname);
  return address !== undefined && networkKindOf(address) === "loopback";
}

/** How many groups of an IPv6 address stand before an IPv4 one, for each form that holds one. */
const EMBEDDING = [
  [0, 0, 0, 0, 0, 0xffff],
  [0, 0, 0, 0, 0xffff, 0],
  [0x64, 0xff9b, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0],
];

/** The IPv4 address that an IPv6 one stands for; else the address, without its zone. */
function withinIpv6(address: string): string {
  const [bare = ""] = address.split("%");
  if (isIP(bare) !== 6) return bare;
  const groups = groupsOf(bare);
  const [high = 0, low = 0] = groups.slice(6);
  const embeds = EMBEDDING.some((prefix) =>
    prefix.every((group, place) => groups[place] === group),
  );
  // `::` and `::1` are addresses of their own.
  if (!embeds || (high === 0 && low <= 1 && groups[5] === 0 && groups[0] === 0)) return bare;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** The eight groups, in the one spelling that the URL parser gives each address. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const parse = (text = "") =>
    text === "" ? [] : text.split(":").map((part) => parseInt(part, 16));
  const [before, after] = [parse(head), parse(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
