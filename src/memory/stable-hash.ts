/**
 * A hash of 32 bits that is the same in every process and on every machine: FNV-1a over UTF-16 code units, and the final mix of MurmurHash3,
 * because callers use the low bits. Not for secrets.
 */
export function stableHash(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
