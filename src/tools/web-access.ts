import type { Known } from "../kernel/known-options.ts";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** An address a name stands for. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** How a host's name becomes addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Where requests may go. */
export interface WebAccess {
  /** `host:port` of places that may be asked although their addresses are not public, as "127.0.0.1:8080". Default none. */
  readonly allow?: readonly string[];
  /** Default: the system's. */
  readonly resolve?: ResolveHost;
}

/** Their names. @internal */
export const webAccess: Known<WebAccess> = { allow: true, resolve: true };

/** A place that may be asked, at the addresses that were looked at and no other; or why it may not. */
export type Admission =
  | { readonly kind: "admitted"; readonly url: URL; readonly addresses: readonly ResolvedAddress[] }
  | { readonly kind: "refused"; readonly reason: string };

const LONGEST_URL = 4096;
const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };
/** Ports of services that would take a request line for a command of theirs. */
const UNFIT_PORTS: ReadonlySet<string> = new Set(["22", "23", "25", "110", "119", "143", "465", "587", "993", "995", "6000", "6667"]);

/**
 * Decides whether a place may be asked. Every address its name stands for is looked at; the caller connects to one of those, so a name
 * that means something else a moment later leads nowhere.
 *
 * @param text an absolute URL, or one relative to `base`
 */
export async function admit(text: string, access: WebAccess, base?: URL): Promise<Admission> {
  const url = readUrl(text, base);
  if (typeof url === "string") return { kind: "refused", reason: url };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = `${url.hostname}:${url.port === "" ? (PORTS[url.protocol] ?? "") : url.port}`;
  const addresses = isIP(host) === 0 ? await resolved(host, access.resolve ?? systemResolve) : [{ address: host, family: isIP(host) }];
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
  if (text.length > LONGEST_URL) return `expected an address of at most ${LONGEST_URL} characters, got ${text.length}`;
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

async function resolved(host: string, resolve: ResolveHost): Promise<readonly ResolvedAddress[] | string> {
  try {
    const addresses = await resolve(host);
    return addresses.length === 0 ? `the host ${host} has no address` : addresses;
  } catch {
    return `the host ${host} was not found`;
  }
}

const systemResolve: ResolveHost = (hostname) => lookup(hostname, { all: true });
