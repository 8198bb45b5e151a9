import { createHash, randomBytes } from "node:crypto";

/** A stream of numbers in [0, 1), 32 bits each. */
export type Random = () => number;

/**
 * A named stream of a seed: the same seed and path give the same numbers on every machine, and no stream moves another.
 * The state of sfc32 (Chris Doty-Humphrey, PractRand) is taken from the sha256 of the path.
 */
export function randomStream(seed: string, ...path: readonly (string | number)[]): Random {
  const digest = createHash("sha256")
    .update(JSON.stringify([seed, ...path]))
    .digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = 1;
  return () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
}

/** A fresh seed of 16 hexadecimal digits from the machine's randomness. */
export function freshSeed(): string {
  return randomBytes(8).toString("hex");
}
