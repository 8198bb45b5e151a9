import { isAscii } from "node:buffer";
import { NotJsonError } from "../kernel/errors.ts";
import { plainFault } from "../runtime/record/plain-json.ts";

/*
 * JSON text that goes into a file and comes out of it. Keys that reach for prototypes get neither in nor out; only a text that may hold
 * one is looked at closely, for this is done to every event.
 */

/** The names themselves, or a letter of them written as a number: what `JSON.stringify` writes has never one of those for a letter. */
const SUSPICIOUS = ["__proto__", '"constructor"', "\\u00"];

/** Whether a text may hold such a key. Plain searches: an expression would take as long as reading the JSON. */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.some((name) => text.includes(name));
}

/** @throws NotJsonError when it holds what must not be read again */
export function assertPlain(text: string, what: string): void {
  const fault = isSuspicious(text) ? plainFault(JSON.parse(text)) : undefined;
  if (fault !== undefined) throw new NotJsonError(what, fault);
}

/**
 * What was written, or undefined when nobody writes such a thing.
 *
 * @param isSurelyPlain it is part of a text that is not {@link isSuspicious}
 */
export function parsePlain(written: string | Uint8Array, isSurelyPlain = false): { readonly value: unknown } | undefined {
  const text = typeof written === "string" ? written : decoded(written);
  try {
    const value: unknown = JSON.parse(text);
    return !isSurelyPlain && isSuspicious(text) && plainFault(value) !== undefined ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** Bytes as the text they are; what is no UTF-8 becomes U+FFFD, which its checksum tells. Undefined for anything but bytes. */
export function textOf(bytes: unknown): string | undefined {
  return bytes instanceof Uint8Array ? decoded(bytes) : undefined;
}

function decoded(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The same characters, found several times as fast.
  return buffer.toString(isAscii(buffer) ? "latin1" : "utf8");
}
