import { createHash } from "node:crypto";
import { contentHash } from "../kernel/json.ts";

/** What is written under a key, and when: so that of two places that have it, the newer is known. */
export interface Stamped {
  /** Milliseconds since 1970, and never twice the same from one writer. */
  readonly stamp: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined: it was deleted. */
  readonly value: string | undefined;
  /** The {@link bodySum} of what it replaces, as long as nobody has confirmed that this is what the shared place has. */
  readonly base?: string | undefined;
}

/** The {@link bodySum} of nothing. */
export const NO_BODY = "-";

/** What every stamped text begins with; the stamp follows, in 15 digits, so that their order as text is their order. */
export const STAMP_MARK = "troupe1 ";
/** Digits of a stamp. */
export const STAMP_DIGITS = 15;
/** No stamp is later, and none that is read is as late. */
export const LATEST_STAMP = 999_999_999_999_999;

const FORM = /^troupe1 (\d{15}) (\d{15}) ([0-9a-f]{64})\n(.*)$/s;
/** With a base. Only a local place has such texts. */
const BASED_FORM = /^troupe2 (\d{15}) (\d{15}) (-|[0-9a-f]{40}) ([0-9a-f]{64})\n(.*)$/s;

/** A stamp as its 15 digits. */
export function stampDigits(stamp: number): string {
  return String(stamp).padStart(STAMP_DIGITS, "0");
}

/** One text of all of it, with a checksum. The value goes as JSON: a text with half a character has no UTF-8. */
export function stampedText({ stamp, expires, value, base }: Stamped): string {
  const body = bodyOf(value);
  const until = Math.min(Math.ceil(expires), LATEST_STAMP);
  const times = `${stampDigits(stamp)} ${stampDigits(until)}`;
  if (base !== undefined) return `troupe2 ${times} ${base} ${contentHash([stamp, until, base, body])}\n${body}`;
  return `${STAMP_MARK}${times} ${contentHash([stamp, until, body])}\n${body}`;
}

/** By what a server can tell whether it has this value: the SHA-1 of what follows the first line of its text. */
export function bodySum(value: string | undefined): string {
  return value === undefined ? NO_BODY : createHash("sha1").update(bodyOf(value)).digest("hex");
}

/** Reads what {@link stampedText} wrote; undefined when it is anything else. */
export function readStamped(text: string): Stamped | undefined {
  const based = BASED_FORM.exec(text);
  if (based !== null) {
    const [, stampText, expiresText, base = NO_BODY, sum, body = ""] = based;
    const [stamp, expires] = [Number(stampText), Number(expiresText)];
    if (sum !== contentHash([stamp, expires, base, body])) return undefined;
    return checked({ stamp, expires, value: valueOf(body), base });
  }
  const [, stampText, expiresText, sum, body = ""] = FORM.exec(text) ?? [];
  const [stamp, expires] = [Number(stampText), Number(expiresText)];
  if (sum === undefined || sum !== contentHash([stamp, expires, body])) return undefined;
  return checked({ stamp, expires, value: valueOf(body) });
}

function checked(stamped: Stamped): Stamped | undefined {
  return stamped.stamp >= LATEST_STAMP ? undefined : stamped;
}

function bodyOf(value: string | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

function valueOf(body: string): string | undefined {
  return body === "" ? undefined : (JSON.parse(body) as string);
}
