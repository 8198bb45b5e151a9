import { freshSeed, type Random, randomStream } from "../kernel/random.ts";

/** Randomness for the waits between tries. It decides no answer, and every brain has its own, so that many which failed together do not come back together. */
export function jitter(): Random {
  let stream: Random | undefined;
  return () => {
    stream ??= randomStream(freshSeed());
    return stream();
  };
}
