import fc from "fast-check";
import { afterAll, vi } from "vitest";
import { endFile } from "./after-file.ts";
import { shrinkHeap } from "./heap-limit.ts";

/**
 * Properties are tried with the same values in every run: whether a commit passes is no matter of luck. `TROUPE_SEED` names another seed, or
 * `any` for one that differs each time; what fails tells its own.
 */
const { TROUPE_SEED: asked = "1" } = process.env;

fc.configureGlobal({ seed: asked === "any" ? Date.now() % 2 ** 31 : Number(asked) });

afterAll(endFile);
afterAll(shrinkHeap);
// Vitest undoes stubs before the next test: a file that shares the process reads its environment before its first one.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
