import { BlockList, isIP } from "node:net";

/** Networks of IPv4 that are not the public internet, by IANA's registry of special addresses, and one cloud's wire server. */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["168.63.129.16", 32],
];

/** What is special inside 2000::/3, the only part of IPv6 that is routed in public: protocol assignments, documentation, tunnels. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const special = new BlockList();
for (const [network, bits] of SPECIAL_V4) special.addSubnet(network, bits, "ipv4");
const specialV6 = new BlockList();
for (const [network, bits] of SPECIAL_V6) specialV6.addSubnet(network, bits, "ipv6");
const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");

/**
 * Whether an address belongs to the public internet: no loopback, private, link-local, metadata, multicast or documentation address, nor
 * an IPv6 form of one (mapped, or translated by NAT64).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, "ipv4");
  if (isIP(address) !== 6) return false;
  const inner = innerV4(address);
  if (inner !== undefined) return isPublicAddress(inner);
  return !address.includes("%") && global.check(address, "ipv6") && !specialV6.check(address, "ipv6");
}

/** The IPv4 address inside `::ffff:0:0/96` or `64:ff9b::/96`. */
function innerV4(address: string): string | undefined {
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  const prefix = groups.slice(0, 6).join(":");
  if (prefix !== "0:0:0:0:0:65535" && prefix !== `${0x64}:${0xff9b}:0:0:0:0`) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const bare = address.split("%")[0] ?? "";
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(bare);
  const hexadecimal = dotted === null ? bare : bare.slice(0, dotted.index) + hexOf(dotted.slice(1).map(Number));
  const [head = "", tail] = hexadecimal.split("::");
  const front = numbersIn(head);
  const back = numbersIn(tail ?? "");
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array.from({ length: gap }, () => 0), ...back];
}

function hexOf([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string {
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function numbersIn(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}
