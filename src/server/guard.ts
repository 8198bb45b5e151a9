import { createHash } from "node:crypto";
import { UsageError } from "../kernel/errors.ts";

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(hostname: string): boolean {
  return hostname === "::1" || LOOPBACK.includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

export interface GuardOptions {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

/**
 * Keeps pages of other sites from the server, under a name of this machine or with the credentials of a browser. It owns the server's names.
 *
 * Guard.G1 (`#hosts`) `check` lets a request pass only under a name of this machine, or one that was given or admitted, on any port.
 * Guard.G2 (`#origins`) `check` lets a request with an origin pass only when that is the server's own or one that was given.
 */
export class Guard {
  readonly #hosts: Set<string>;
  readonly #origins: ReadonlySet<string>;

  constructor({ hosts, origins }: GuardOptions) {
    this.#hosts = new Set([...LOOPBACK, ...hosts.map(hostOption)]);
    this.#origins = new Set(origins.map(originOption));
  }

  admit(host: string): void {
    this.#hosts.add(host.toLowerCase());
  }

  /** Returns the origin of a page elsewhere that may read the answer. @throws UsageError `HOST_REFUSED`, `ORIGIN_REFUSED` */
  check(request: Request): string | undefined {
    const { host: asked } = new URL(request.url);
    const host = request.headers.get("host") ?? asked;
    if (!this.#hosts.has(nameOf(host))) {
      throw new UsageError(
        "HOST_REFUSED",
        "Expected a request under a name of this server, got one under another. Add the name to its option hosts.",
      );
    }
    const origin = request.headers.get("origin");
    if (origin === null) return undefined;
    if (this.#origins.has(origin)) return origin;
    if (URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) return undefined;
    throw new UsageError(
      "ORIGIN_REFUSED",
      "Expected a request of this server's own page, got one of another site. Add its origin to the option origins.",
    );
  }
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d{1,5}$/, "");
}

function hostOption(given: string): string {
  if (typeof given === "string" && /^[\w.[\]:-]{1,253}$/.test(given)) return nameOf(given);
  throw new UsageError("OPTION_INVALID", `Expected hosts to be names such as api.example.com, got ${String(given)}.`);
}

function originOption(given: string): string {
  if (typeof given === "string" && URL.canParse(given) && new URL(given).origin === given) return given;
  throw new UsageError("OPTION_INVALID", `Expected origins such as https://app.example.com, got ${String(given)}.`);
}

const ALWAYS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export function secureHeaders(headers: Headers, origin: string | undefined): void {
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
  if (!headers.has("content-security-policy")) headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  headers.append("vary", "Origin");
  if (origin === undefined) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("cross-origin-resource-policy", "cross-origin");
  headers.set("access-control-expose-headers", "Retry-After");
}

export function preflight(origin: string): Response {
  const headers = {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": "authorization, content-type, idempotency-key, last-event-id",
    "access-control-max-age": "600",
  };
  return new Response(null, { status: 204, headers });
}

/** Returns the policy of a page: it has the scripts and styles that it was built with, and connects to this server alone. */
export function pagePolicy(html: string): string {
  const scripts = hashesOf(html, /<script\b[^>]*>([\s\S]*?)<\/script>/gi);
  const styles = hashesOf(html, /<style\b[^>]*>([\s\S]*?)<\/style>/gi);
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashesOf(html: string, pattern: RegExp): string {
  const hashes = [...html.matchAll(pattern)].map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  return hashes.length === 0 ? "'none'" : hashes.join(" ");
}
