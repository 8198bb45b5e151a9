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
  return sfc32(digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), 1);
}

function sfc32(one: number, two: number, three: number, from: number): Random {
  let a = one;
  let b = two;
  let c = three;
  let counter = from;
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

/** Numbers that are thrown away before the first one: those of states that differ in a bit are alike until then. */
const STIRRED = 12;

/**
 * As {@link randomStream}, for where each of very many activations has a stream of its own: it is made in a fraction of the time. The state of
 * sfc32 is hashed by cyrb128 (bryc, public domain), which is no cryptography, and stirred as its author says.
 */
export function lightStream(seed: string, name: string, n: number): Random {
  // No two of them give one text.
  const text = `${n} ${name.length} ${name}${seed}`;
  let a = 1_779_033_703;
  let b = 3_144_134_277;
  let c = 1_013_904_242;
  let d = 2_773_480_762;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    a = b ^ Math.imul(a ^ code, 597_399_067);
    b = c ^ Math.imul(b ^ code, 2_869_860_233);
    c = d ^ Math.imul(c ^ code, 951_274_213);
    d = a ^ Math.imul(d ^ code, 2_716_044_179);
  }
  a = Math.imul(c ^ (a >>> 18), 597_399_067);
  b = Math.imul(d ^ (b >>> 22), 2_869_860_233);
  c = Math.imul(a ^ (c >>> 17), 951_274_213);
  d = Math.imul(b ^ (d >>> 19), 2_716_044_179);
  const random = sfc32(a ^ b ^ c ^ d, a ^ b, a ^ c, a ^ d);
  for (let stirred = 0; stirred < STIRRED; stirred += 1) random();
  return random;
}

/** A fresh seed of 16 hexadecimal digits from the machine's randomness. */
export function freshSeed(): string {
  return randomBytes(8).toString("hex");
}
