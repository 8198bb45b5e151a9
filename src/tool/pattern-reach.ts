import { fitsGlob } from "./glob.ts";

/** What leads elsewhere in a path, ends a line, or begins another command in a shell. */
const ELSEWHERE = /(?:^|[/\\])(?:\.|%2e){2}(?:$|[/\\])|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/i;
const SHELL = /[;&|`<>]|\$\(/;
/** Scheme, host with its port, and what follows. A pattern may have a `*` in each. */
const ADDRESS = /^([a-z*][a-z0-9+.*-]*):\/\/([^/?#\\]*)([^]*)$/i;
const PLAIN_HOST = /^[\p{L}\p{N}.:[\]_-]*$/u;
/** What readers of addresses and of screens pass over. */
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;

/**
 * Whether a text is plainly covered by a pattern, for what shall be allowed. A `*` does not stand for what could lead somewhere else: `..` in
 * a path, a new line, another host in an address, or, except in an address, another command of a shell.
 */
export function isPlainlyCovered(text: string, pattern: string): boolean {
  if (!pattern.includes("*")) return text === pattern;
  if (ELSEWHERE.test(text)) return false;
  const [, scheme, host = "", rest = ""] = ADDRESS.exec(pattern) ?? [];
  return scheme === undefined ? !SHELL.test(text) && fitsGlob(text, pattern) : isAddressIn(text, { scheme, host, rest });
}

interface Address {
  readonly scheme: string;
  readonly host: string;
  /** Path, query and fragment. */
  readonly rest: string;
}

function isAddressIn(text: string, pattern: Address): boolean {
  const [, scheme = "", host = "", rest = ""] = ADDRESS.exec(text) ?? [];
  const isHost = host === pattern.host || (PLAIN_HOST.test(host) && fitsGlob(host, pattern.host));
  const isAnyPlace = pattern.rest === "" && pattern.host.endsWith("*");
  return isHost && fitsGlob(scheme, pattern.scheme) && (isAnyPlace || fitsGlob(rest, pattern.rest));
}

/**
 * Whether a text may be meant by a pattern, for what shall be asked for or denied. White space, upper and lower case, percent signs, letters that
 * only look different, and detours in a path are no way around it.
 */
export function mayBeMeant(text: string, pattern: string): boolean {
  if (fitsGlob(text, pattern)) return true;
  const meant = plainForm(pattern);
  return [text, text.trim().replace(/\s+/g, " "), text.replace(HIDDEN, "")].some((form) => fitsGlob(plainForm(form), meant));
}

function plainForm(text: string): string {
  return withoutDetours(decoded(text).normalize("NFKC").toLowerCase());
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

/** Without `.`, `..` and empty parts, as systems read paths. */
function withoutDetours(text: string): string {
  const kept: string[] = [];
  for (const [place, part] of text.split(/[/\\]/).entries()) {
    const last = kept.at(-1);
    if (part === ".." && last !== undefined && last !== "..") {
      if (last !== "") kept.pop();
    } else if (part !== "." && (part !== "" || place === 0)) kept.push(part);
  }
  return kept.join("/");
}
