import { contentHash } from "../kernel/json.ts";

/** What is written under a key, and when: so that of two places that have it, the newer is known. */
export interface Stamped {
  /** Milliseconds since 1970, and never twice the same from one writer. */
  readonly stamp: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined: it was deleted. */
  readonly value: string | undefined;
}

/** What every stamped text begins with; the stamp follows, in 15 digits, so that their order as text is their order. */
export const STAMP_MARK = "troupe1 ";
/** Digits of a stamp. */
export const STAMP_DIGITS = 15;
/** No stamp is later, and none that is read is as late. */
export const LATEST_STAMP = 999_999_999_999_999;

const FORM = /^troupe1 (\d{15}) (\d{15}) ([0-9a-f]{64})\n(.*)$/s;

/** A stamp as its 15 digits. */
export function stampDigits(stamp: number): string {
  return String(stamp).padStart(STAMP_DIGITS, "0");
}

/** One text of all of it, with a checksum. The value goes as JSON: a text with half a character has no UTF-8. */
export function stampedText({ stamp, expires, value }: Stamped): string {
  const body = value === undefined ? "" : JSON.stringify(value);
  const until = Math.min(Math.ceil(expires), LATEST_STAMP);
  return `${STAMP_MARK}${stampDigits(stamp)} ${stampDigits(until)} ${sumOf(stamp, until, body)}\n${body}`;
}

/** Reads what {@link stampedText} wrote; undefined when it is anything else. */
export function readStamped(text: string): Stamped | undefined {
  const [, stampText, expiresText, sum, body = ""] = FORM.exec(text) ?? [];
  const [stamp, expires] = [Number(stampText), Number(expiresText)];
  if (sum === undefined || sum !== sumOf(stamp, expires, body) || stamp >= LATEST_STAMP) return undefined;
  return { stamp, expires, value: body === "" ? undefined : (JSON.parse(body) as string) };
}

function sumOf(stamp: number, expires: number, body: string): string {
  return contentHash([stamp, expires, body]);
}
