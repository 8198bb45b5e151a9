import { createHash } from "node:crypto";
import { contentHash } from "../kernel/json.ts";

/** A value as it is stored under a key, with the time of its write: the newer of two copies can be told. */
export interface Stamped {
  /** Milliseconds since 1970; one writer never uses a stamp twice. */
  readonly stamp: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Undefined for a deletion. */
  readonly value: string | undefined;
  /** The {@link bodySum} of the value it replaced, until the shared place has confirmed that it had that value. */
  readonly base?: string | undefined;
}

/** The {@link bodySum} of nothing. */
export const NO_BODY = "-";

/** The beginning of every stamped text. The stamp follows in 15 digits, so that texts sort like stamps. */
export const STAMP_MARK = "troupe1 ";
/** Digits of a stamp. */
export const STAMP_DIGITS = 15;
/** The limit of stamps. A text with this stamp is read as damaged. */
export const LATEST_STAMP = 999_999_999_999_999;

/** Version 2 has a base. Only a local place has such texts. */
const FORM = /^troupe([12]) (\d{15}) (\d{15}) (?:(-|[0-9a-f]{40}) )?([0-9a-f]{64})\n(.*)$/s;

/** Returns the 15 digits of a stamp. */
export function stampDigits(stamp: number): string {
  return String(stamp).padStart(STAMP_DIGITS, "0");
}

/** Writes a value as one text with a checksum. The value is written as JSON, because a lone surrogate has no UTF-8. */
export function stampedText({ stamp, expires, value, base }: Stamped): string {
  const body = bodyOf(value);
  const until = Math.min(Math.ceil(expires), LATEST_STAMP);
  const times = `${stampDigits(stamp)} ${stampDigits(until)}`;
  if (base !== undefined) return `troupe2 ${times} ${base} ${contentHash([stamp, until, base, body])}\n${body}`;
  return `${STAMP_MARK}${times} ${contentHash([stamp, until, body])}\n${body}`;
}

/** Returns the SHA-1 of the text after the first line, by which a server compares values. */
export function bodySum(value: string | undefined): string {
  return value === undefined ? NO_BODY : createHash("sha1").update(bodyOf(value)).digest("hex");
}

/** Reads a text of {@link stampedText}; undefined for any other text. */
export function readStamped(text: string): Stamped | undefined {
  const [, version, stampText, expiresText, base, sum, body = ""] = FORM.exec(text) ?? [];
  const [stamp, expires] = [Number(stampText), Number(expiresText)];
  const summed = version === "2" ? [stamp, expires, base, body] : [stamp, expires, body];
  const isWhole = sum !== undefined && (version === "2") === (base !== undefined) && sum === contentHash(summed);
  if (!isWhole || stamp >= LATEST_STAMP) return undefined;
  return { stamp, expires, value: valueOf(body), base };
}

function bodyOf(value: string | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

function valueOf(body: string): string | undefined {
  return body === "" ? undefined : (JSON.parse(body) as string);
}
