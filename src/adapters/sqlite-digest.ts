import { createHash } from "node:crypto";

/** Bytes kept of a sha256: 128 bits. */
export const DIGEST_BYTES = 16;

/** The first {@link DIGEST_BYTES} of the sha256 over all parts, text as UTF-8. Only the last part may be of any length. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, DIGEST_BYTES);
}
