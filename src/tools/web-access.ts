import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { hostsOf } from "../tool/address-pattern.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves the name of a host. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Rules for the hosts of requests. */
export interface WebAccess {
  /** `host:port` of hosts that are allowed although their addresses are not public, as "127.0.0.1:8080". Default none. */
  readonly allow?: readonly string[];
  /** Default: the system's. */
  readonly resolve?: ResolveHost;
}

export const webAccess: Known<WebAccess> = { allow: kinds.texts, resolve: kinds.function };

export type Admission =
  | { readonly kind: "admitted"; readonly url: URL; readonly addresses: readonly ResolvedAddress[] }
  | { readonly kind: "refused"; readonly reason: string };

const MAX_URL = 4096;
const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };
/** Ports of services that could take a request line for a command. */
const UNFIT_PORTS: ReadonlySet<string> = new Set(["22", "23", "25", "110", "119", "143", "465", "587", "993", "995", "6000", "6667"]);

/** Checks every address of the host of a URL: the caller connects to one of those. @param base for a relative URL */
export async function admit(text: string, access: WebAccess, base?: URL): Promise<Admission> {
  const url = readUrl(text, base);
  if (typeof url === "string") return { kind: "refused", reason: url };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = `${url.hostname}:${url.port === "" ? (PORTS[url.protocol] ?? "") : url.port}`;
  const addresses = isIP(host) === 0 ? await addressesOf(host, access.resolve ?? systemResolve) : [{ address: host, family: isIP(host) }];
  if (typeof addresses === "string") return { kind: "refused", reason: addresses };
  const isAllowed = access.allow?.some((allowed) => allowed.toLowerCase() === place) === true;
  const hidden = addresses.find(({ address }) => !isPublicAddress(address));
  if (hidden === undefined || isAllowed) return { kind: "admitted", url, addresses };
  return {
    kind: "refused",
    reason: `expected a host on the public internet, but ${url.hostname} is ${hidden.address}, which is a private or reserved address`,
  };
}

function readUrl(text: string, base: URL | undefined): URL | string {
  if (text.length > MAX_URL) return `expected an address of at most ${MAX_URL} characters, got ${text.length}`;
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return "expected an absolute address such as https://example.com/page";
  }
  if (PORTS[url.protocol] === undefined) return `expected http: or https:, got ${url.protocol}`;
  if (url.username !== "" || url.password !== "") return "expected an address without a user name and password in it";
  if (UNFIT_PORTS.has(url.port)) return `expected a port of a web server, got ${url.port}`;
  return url;
}

async function addressesOf(host: string, resolve: ResolveHost): Promise<readonly ResolvedAddress[] | string> {
  try {
    const addresses = await resolve(host);
    return addresses.length === 0 ? `the host ${host} has no address` : addresses;
  } catch {
    return `the host ${host} was not found`;
  }
}

const systemResolve: ResolveHost = (hostname) => lookup(hostname, { all: true });

const SPECIAL_V4 = blockList(
  "ipv4",
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
    "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32",
);
/** The only part of IPv6 that is routed in public, and its special networks: protocol assignments, documentation, tunnels. */
const PUBLIC_V6 = blockList("ipv6", "2000::/3");
const SPECIAL_V6 = blockList("ipv6", "2001::/23 2001:db8::/32 2002::/16 3fff::/20");

function blockList(family: "ipv4" | "ipv6", networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(" ")) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** True for an address of the public internet, also in an IPv6 form of an IPv4 one. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL_V4.check(address, "ipv4");
  if (isIP(address) !== 6 || address.includes("%") || SPECIAL_V6.check(address, "ipv6")) return false;
  const [, inner] = hostsOf(`[${address}]`);
  return inner === undefined ? PUBLIC_V6.check(address, "ipv6") : isPublicAddress(inner);
}
