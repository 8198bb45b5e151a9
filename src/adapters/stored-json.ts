import { isSuspicious, plainFault } from "../runtime/record/parse-event.ts";
import { hash } from "node:crypto";
import { NotJsonError } from "../kernel/errors.ts";

/* JSON of a store. Keys that name a prototype are refused in both directions; only a string that may hold such a key is parsed for it. */

export function assertPlain(text: string, what: string): void {
  const fault = isSuspicious(text) ? plainFault(JSON.parse(text)) : undefined;
  if (fault !== undefined) throw new NotJsonError(what, fault);
}

/** Parses JSON of this package; undefined for any other string. */
export function parsePlain(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isSuspicious(text) && plainFault(value) !== undefined ? undefined : { value };
  } catch {
    return undefined;
  }
}

const DIGEST_DIGITS = 32;

/** The first {@link DIGEST_DIGITS} of the sha256 of bytes, or of a string as UTF-8, in capitals, as SQLite's own `hex()` writes them. */
export function digestOf(data: string | Uint8Array): string {
  return hash("sha256", data, "hex").slice(0, DIGEST_DIGITS).toUpperCase();
}
