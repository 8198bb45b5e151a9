import { hash, randomBytes } from "node:crypto";
import { aText, takes } from "./argument.ts";
import { UsageError } from "./errors.ts";
import { valueText } from "./value-text.ts";

export type Random = () => number;

/**
 * Returns a named stream of a seed: the same seed and path give the same numbers on every machine, and no stream affects another. The state
 * of sfc32 (Chris Doty-Humphrey, PractRand) is the sha256 of the path.
 */
export function randomStream(seed: string, ...path: readonly (string | number)[]): Random {
  // Allocating a buffer takes longer than the hash.
  const digest = hash("sha256", JSON.stringify([seed, ...path]), "binary");
  return drawing(new Sfc32([int32At(digest, 0), int32At(digest, 4), int32At(digest, 8), 1]));
}

function int32At(bytes: string, at: number): number {
  return bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24);
}

/**
 * A named stream of random numbers: a call returns the next one in [0, 1). The seed of the run, the owner of the stream and its name
 * determine the numbers; other draws and streams do not.
 */
export interface RandomStream {
  (): number;
  /** Returns a stream that depends on its name alone, not on what was drawn before. @throws UsageError `STREAM_TAKEN` for a name that was split off before */
  split(name: string): RandomStream;
}

/** @param owner its kind, its name, and what else identifies it */
export function namedStream(seed: string, ...owner: readonly (string | number)[]): RandomStream {
  const mixer = new Cyrb128();
  addPart(mixer, seed);
  for (const part of owner) addPart(mixer, part);
  return streamOf(mixer, owner);
}

function streamOf(mixer: Cyrb128, path: readonly (string | number)[]): RandomStream {
  let random: Random | undefined;
  let taken: Set<string> | undefined;
  const stream = (): number => (random ??= drawing(mixer.stream()))();
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

/** Its kind and its length distinguish each part. */
function addPart(mixer: Cyrb128, part: string | number): void {
  const text = String(part);
  mixer.add(`${typeof part === "number" ? "n" : "s"}${text.length} `);
  mixer.add(text);
}

function streamTaken(path: readonly (string | number)[], name: string): UsageError {
  return new UsageError(
    "STREAM_TAKEN",
    `Expected each name of a stream of ${path.join(" ")} once, got ${valueText(name)} again. It would give the same numbers: keep the first stream, or name this one otherwise.`,
  );
}

function drawing(stream: Sfc32): Random {
  return () => stream.next();
}

type State = readonly [number, number, number, number];

class Sfc32 {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor([a, b, c, counter]: State, discarded: number = 0) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#counter = counter;
    for (let n = 0; n < discarded; n += 1) this.next();
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

/** Discarded before the first number: states that differ in one bit give similar numbers until then. */
const STIRRED = 12;

/**
 * A faster {@link randomStream}, for a stream of each of very many activations: its state is hashed by cyrb128 (bryc, public domain), no
 * cryptographic hash, and stirred as its author recommends.
 *
 * LightStream.L1 (constructor) the seed, the name and the number alone determine the stream.
 */
export class LightStream extends Sfc32 {
  constructor(seed: string, name: string, n: number) {
    super(lightState(seed, name, n), STIRRED);
  }
}

/** The parts that the last light stream began with, and their hash: most streams of a round begin with the same. */
const first = { n: Number.NaN, length: 0 };

function lightState(seed: string, name: string, n: number): State {
  if (first.n !== n || first.length !== name.length) {
    first.n = n;
    first.length = name.length;
    firstHash.set(unmixed);
    // The length makes the string unique. Its parts are hashed one by one, because joining them takes as long as the hash.
    firstHash.add(`${n} ${name.length} `);
  }
  lightHash.set(firstHash);
  lightHash.add(name);
  lightHash.add(seed);
  return lightHash.state();
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
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
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
    copy.set(this);
    return copy;
  }

  set(other: Cyrb128): void {
    this.#a = other.#a;
    this.#b = other.#b;
    this.#c = other.#c;
    this.#d = other.#d;
  }

  state(): State {
    const a = Math.imul(this.#c ^ (this.#a >>> 18), 597_399_067);
    const b = Math.imul(this.#d ^ (this.#b >>> 22), 2_869_860_233);
    const c = Math.imul(a ^ (this.#c >>> 17), 951_274_213);
    const d = Math.imul(b ^ (this.#d >>> 19), 2_716_044_179);
    return [a ^ b ^ c ^ d, a ^ b, a ^ c, a ^ d];
  }

  stream(): Sfc32 {
    return new Sfc32(this.state(), STIRRED);
  }
}

const unmixed = new Cyrb128();
const firstHash = new Cyrb128();
const lightHash = new Cyrb128();

export function freshSeed(): string {
  return randomBytes(8).toString("hex");
}
