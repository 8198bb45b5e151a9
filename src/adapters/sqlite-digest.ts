import { hash } from "node:crypto";

/** Hexadecimal digits kept of a sha256: 128 bits. */
const DIGEST_DIGITS = 32;

/** The first {@link DIGEST_DIGITS} of the sha256 of a text as UTF-8, in capitals, as SQLite's own `hex()` writes them. */
export function digestOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, DIGEST_DIGITS).toUpperCase();
}
