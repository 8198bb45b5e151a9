import { comparable, fitsGlob } from "./glob.ts";

export interface WebPattern {
  readonly scheme: string;
  /** In a rule that allows: a `*` after its last label belongs to the path. */
  readonly host: string;
  /** In a rule that asks or denies. */
  readonly anyHost: string;
  /** Undefined: the default port to allow, every port to ask or deny. */
  readonly port: string | undefined;
  /** Path, query and fragment. */
  readonly rest: string;
  readonly isAnyPath: boolean;
}

/** Scheme, host with its port, and the rest, each with a `*` or none. */
const ADDRESS = /^([a-z*][a-z0-9+.*-]*):\/\/([^/?#\\]*)([^]*)$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** An authority that all readers of addresses agree on: no user, no escape. */
const PLAIN_AUTHORITY = /^[\p{L}\p{N}.:[\]_-]*$/u;
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::(\d+|\*))?$/;
const PORTS: Readonly<Record<string, string>> = { http: "80", https: "443", ws: "80", wss: "443", ftp: "21" };
/** A number that readers of addresses take for IPv4, and an address of IPv6. */
const V4 = /^(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}\.?$/i;
const V6 = /^\[?[0-9a-f.]*:[0-9a-f.:]*\]?$/i;

/** Undefined for another pattern. */
export function webPattern(pattern: string): WebPattern | undefined {
  const [, scheme, authority = "", rest = ""] = ADDRESS.exec(pattern) ?? [];
  if (scheme === undefined) return undefined;
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const isAnyPath = rest === "" && place.endsWith("*");
  const [, host = place, port] = HOST_AND_PORT.exec(place) ?? [];
  const [, own = host, ownPort = port] = isAnyPath && /[^.:*]\*$/.test(place) ? (HOST_AND_PORT.exec(place.slice(0, -1)) ?? []) : [];
  return {
    scheme: scheme.toLowerCase(),
    host: canonicalHost(own),
    anyHost: canonicalHost(host),
    port: ownPort === PORTS[scheme.toLowerCase()] ? undefined : ownPort,
    rest,
    isAnyPath,
  };
}

/** For rules that allow: all its fields fit, and every reader reads the address in the same way. */
export function isWebAddressIn(text: string, pattern: WebPattern): boolean {
  const [, , authority, rest = ""] = ADDRESS.exec(text) ?? [];
  if (authority === undefined || !PLAIN_AUTHORITY.test(authority) || /[\\\s]/.test(rest)) return false;
  const url = urlIn(text);
  // After more than two slashes some readers look for a host, and some see none.
  if (url === undefined || (authority === "") !== (url.hostname === "")) return false;
  const isPort = pattern.port === undefined ? url.port === "" : pattern.port === "*" || pattern.port === portOf(url);
  if (!isPort || !fitsGlob(schemeOf(url), pattern.scheme) || !areLabelsCovered(url.hostname, pattern.host)) return false;
  const wanted = pattern.rest === "" ? "/" : pattern.rest;
  return pattern.isAnyPath || [rest, `${url.pathname}${url.search}${url.hash}`].some((one) => fitsGlob(one, wanted));
}

/** For rules that ask or deny: a text may mean an address of the pattern, in any spelling. */
export function isWebAddressMeant(text: string, pattern: WebPattern): boolean {
  return readings(text, pattern).some((url) => {
    const isHost = hostsOf(url.hostname).some((host) => hostsOf(pattern.anyHost).some((wanted) => fitsGlob(host, wanted)));
    const isPort = pattern.port === undefined || pattern.port === "*" || pattern.port === portOf(url);
    return isHost && isPort && fitsGlob(schemeOf(url), pattern.scheme) && isPathMeant(url, pattern.rest);
  });
}

/** A pattern without a query holds for every query, and no fragment evades it. */
function isPathMeant({ pathname, search, hash }: URL, wanted: string): boolean {
  if (wanted === "") return true;
  const rests = [`${pathname}${search}${hash}`, `${pathname}${search}`, pathname];
  return rests.some((rest) => fitsGlob(rest, wanted) || fitsGlob(comparable(rest), comparable(wanted)));
}

/** Some readers take a backslash for a slash, others for a part of a user's name; some add the scheme. */
function readings(text: string, { scheme, host }: WebPattern): readonly URL[] {
  const known = scheme.includes("*") ? "http" : scheme;
  const bare = host.includes("*") || host === "" ? [] : [`${known}://${text.trim()}`];
  return [text, text.replaceAll("\\", "%5C"), ...bare].flatMap((one) => urlIn(one) ?? []);
}

/** Every address in its usual spelling, every IP address with dots where it has such a form. */
export function canonicalText(text: string): string {
  return text
    .split(/([\s"'`<>,=()]+)/)
    .map((word) => {
      if (V4.test(word) || V6.test(word)) return hostsOf(canonicalHost(V4.test(word) ? word : `[${word.replace(/^\[|\]$/g, "")}]`)).at(-1);
      const url = SCHEME.test(word) ? urlIn(word) : undefined;
      if (url === undefined || url.hostname === "") return word;
      const port = url.port === "" ? "" : `:${url.port}`;
      return `${url.protocol}//${hostsOf(url.hostname).at(-1) ?? ""}${port}${url.pathname}${url.search}${url.hash}`;
    })
    .join("");
}

/** `*` as the first label stands for one or more labels, as another for one, and within a label for any characters. */
function areLabelsCovered(host: string, pattern: string): boolean {
  if (host === pattern || pattern === "*") return true;
  const [labels, wanted] = [host.split("."), pattern.split(".")];
  const more = labels.length - wanted.length;
  if (labels.includes("") || more < 0 || (more > 0 && wanted[0] !== "*")) return false;
  return wanted.every((label, at) => (at === 0 && label === "*") || fitsGlob(labels[at + more] ?? "", label));
}

/** In its usual spelling: in lower case, as ASCII, numbers with dots. */
function canonicalHost(host: string): string {
  const plain = host.toLowerCase();
  if (!plain.includes("*")) return plain === "" ? "" : (urlIn(`http://${plain}`)?.hostname ?? plain);
  if (!/[^\p{ASCII}]/u.test(plain)) return plain;
  return plain
    .split(".")
    .map((label) => (label.includes("*") ? label : canonicalHost(label)))
    .join(".");
}

/** The host, and the IPv4 address in it where it is one of IPv6 that leads there: mapped, translated, or a tunnel. */
export function hostsOf(given: string): readonly string[] {
  const host = canonicalHost(given).replace(/\.$/, "");
  const groups = host.startsWith("[") ? groupsOf(host.slice(1, -1)) : undefined;
  if (groups === undefined) return [host];
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  if (prefix.startsWith("2002:")) return [host, dotted(groups[1], groups[2])];
  return /^(?:64:ff9b:|0:0:0:0:(?:0|ffff):(?:0|ffff)$)/.test(prefix) ? [host, dotted(groups[6], groups[7])] : [host];
}

function dotted(high: number = 0, low: number = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function groupsOf(address: string): readonly number[] {
  const [left = [], right = []] = address.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const zeros = address.includes("::") ? Array.from({ length: 8 - left.length - right.length }, () => "0") : [];
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}

function schemeOf({ protocol }: URL): string {
  return protocol.slice(0, -1);
}

function portOf(url: URL): string {
  return url.port === "" ? (PORTS[schemeOf(url)] ?? "") : url.port;
}

/** In some versions of Node.js `URL.canParse` refuses letters of Latin 1 once it is compiled. */
function urlIn(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** `*@example.org` */
export interface MailPattern {
  readonly name: string;
  readonly domain: string;
}

const MAIL_PATTERN = /^([^\s@/:;,<>]*)@([^\s@/:;,<>]+)$/;
/** An address that all mail programs agree on. */
const PLAIN_MAIL = /^([\p{L}\p{N}._+'-]+)@([\p{L}\p{N}.-]+)$/u;

export function mailPattern(pattern: string): MailPattern | undefined {
  const [, name, domain] = MAIL_PATTERN.exec(pattern) ?? [];
  return name === undefined || domain === undefined ? undefined : { name, domain: canonicalHost(domain) };
}

/** For rules that allow: each address of a list is plain and fits. */
export function isMailIn(text: string, { name: wanted, domain: of }: MailPattern): boolean {
  return text.split(/[,;]/).every((one) => {
    const [, name, domain] = PLAIN_MAIL.exec(one.trim()) ?? [];
    return name !== undefined && domain !== undefined && fitsGlob(name, wanted) && areLabelsCovered(canonicalHost(domain), of);
  });
}

/** For rules that ask or deny. */
export function isMailMeant(text: string, { name: wanted, domain: of }: MailPattern): boolean {
  return text.split(/[\s,;:<>"'()[\]?&=/]+/).some((one) => {
    const at = one.lastIndexOf("@");
    return at !== -1 && fitsGlob(one.slice(0, at).toLowerCase(), wanted.toLowerCase()) && fitsGlob(hostsOf(one.slice(at + 1))[0] ?? "", of);
  });
}
