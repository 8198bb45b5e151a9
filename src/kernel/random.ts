import { hash, randomBytes } from "node:crypto";
import { aText, takes } from "./argument.ts";
import { UsageError } from "./errors.ts";
import { valueText } from "./value-text.ts";

/** A stream of numbers in [0, 1), 32 bits each. */
export type Random = () => number;

/**
 * Returns a named stream of a seed: the same seed and path give the same numbers on every machine, and no stream affects another. The state
 * of sfc32 (Chris Doty-Humphrey, PractRand) is taken from the sha256 of the path.
 */
export function randomStream(seed: string, ...path: readonly (string | number)[]): Random {
  // A string of bytes, because allocating a buffer takes longer than the hash.
  const digest = hash("sha256", JSON.stringify([seed, ...path]), "binary");
  return sfc32(int32At(digest, 0), int32At(digest, 4), int32At(digest, 8), 1);
}

/** Returns four bytes as a number, least significant first. */
function int32At(bytes: string, at: number): number {
  return bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24);
}

/**
 * A named stream of random numbers: called, it returns its next number in [0, 1), of 32 bits. The seed of the run, the owner of the stream
 * and its name determine the numbers, so they depend neither on what else is drawn nor on which other streams there are.
 *
 * @example
 * import { defineRole } from "troupe";
 *
 * const walker = defineRole({
 *   name: "Walker",
 *   react(ctx) {
 *     const steps = ctx.stream("steps");
 *     const [x, y] = [steps.split("x"), steps.split("y")];
 *     return ctx.message(`${x()} ${y()}`);
 *   },
 * });
 */
export interface RandomStream {
  (): number;
  /**
   * Returns a stream of its own, which depends on this one's name alone and not on how many numbers were drawn from it.
   *
   * @throws UsageError `STREAM_TAKEN` when this stream was split under that name before: both would give the same numbers
   */
  split(name: string): RandomStream;
}

/** Returns the stream of an owner. @param owner its kind, its name, and what else tells it apart */
export function namedStream(seed: string, ...owner: readonly (string | number)[]): RandomStream {
  const mixer = new Cyrb128();
  addPart(mixer, seed);
  for (const part of owner) addPart(mixer, part);
  return streamOf(mixer, owner);
}

function streamOf(mixer: Cyrb128, path: readonly (string | number)[]): RandomStream {
  let random: Random | undefined;
  let taken: Set<string> | undefined;
  const stream = (): number => (random ??= numbersOf(mixer))();
  stream.split = (name: string): RandomStream => {
    takes("stream", "name", name, aText);
    if (taken?.has(name) === true) throw streamTaken(path, name);
    (taken ??= new Set()).add(name);
    const own = mixer.copy();
    addPart(own, name);
    return streamOf(own, [...path, name]);
  };
  return stream;
}

/** Its kind and its length tell each part from all others. */
function addPart(mixer: Cyrb128, part: string | number): void {
  const text = String(part);
  mixer.add(`${typeof part === "number" ? "n" : "s"}${text.length} `);
  mixer.add(text);
}

function numbersOf(mixer: Cyrb128): Random {
  const [one, two, three, four] = mixer.mixed();
  const random = sfc32(one ^ two ^ three ^ four, one ^ two, one ^ three, one ^ four);
  for (let discarded = 0; discarded < STIRRED; discarded += 1) random();
  return random;
}

function streamTaken(path: readonly (string | number)[], name: string): UsageError {
  return new UsageError(
    "STREAM_TAKEN",
    `Expected each name of a stream of ${path.join(" ")} once, got ${valueText(name)} again. It would give the same numbers: keep the first stream, or name this one otherwise.`,
  );
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

/** Numbers that are discarded before the first one: states that differ in one bit give similar numbers until then. */
const STIRRED = 12;

/**
 * A faster {@link randomStream}, for a stream of each of very many activations. It owns the state of sfc32, which is hashed by cyrb128
 * (bryc, public domain), no cryptographic hash, and stirred as its author recommends.
 *
 * LightStream.L1 (constructor) the seed, the name and the number alone determine the stream.
 */
export class LightStream {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: string, name: string, n: number) {
    const mixer = new Cyrb128();
    // The length makes the text unique. Its parts are hashed one by one, because joining them takes as long as the hash.
    mixer.add(`${n} ${name.length} `);
    mixer.add(name);
    mixer.add(seed);
    const [one, two, three, four] = mixer.mixed();
    let a = one ^ two ^ three ^ four;
    let b = one ^ two;
    let c = one ^ three;
    let counter = one ^ four;
    for (let stirred = 0; stirred < STIRRED; stirred += 1) {
      const t = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + t) | 0;
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#counter = counter;
  }

  next(): number {
    const b = this.#b;
    const c = this.#c;
    const t = (((this.#a + b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = b ^ (b >>> 9);
    this.#b = (c + (c << 3)) | 0;
    this.#c = (((c << 21) | (c >>> 11)) + t) | 0;
    return (t >>> 0) / 4294967296;
  }
}

class Cyrb128 {
  #a = 1_779_033_703;
  // A signed 32-bit number, like all that follow.
  #b = 3_144_134_277 | 0;
  #c = 1_013_904_242;
  #d = 2_773_480_762 | 0;

  add(text: string): void {
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d;
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place);
      a = b ^ Math.imul(a ^ code, 597_399_067);
      b = c ^ Math.imul(b ^ code, 2_869_860_233);
      c = d ^ Math.imul(c ^ code, 951_274_213);
      d = a ^ Math.imul(d ^ code, 2_716_044_179);
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }

  copy(): Cyrb128 {
    const copy = new Cyrb128();
    copy.#a = this.#a;
    copy.#b = this.#b;
    copy.#c = this.#c;
    copy.#d = this.#d;
    return copy;
  }

  mixed(): readonly [number, number, number, number] {
    const a = Math.imul(this.#c ^ (this.#a >>> 18), 597_399_067);
    const b = Math.imul(this.#d ^ (this.#b >>> 22), 2_869_860_233);
    const c = Math.imul(a ^ (this.#c >>> 17), 951_274_213);
    return [a, b, c, Math.imul(b ^ (this.#d >>> 19), 2_716_044_179)];
  }
}

/** Returns a fresh seed of 16 hexadecimal digits from the machine's randomness. */
export function freshSeed(): string {
  return randomBytes(8).toString("hex");
}
