import fc from "fast-check";
import { afterAll, beforeEach, vi } from "vitest";
import { endFile } from "./after-file.ts";
import { shrinkHeap } from "./heap-limit.ts";
import { replaceDefaultLogger } from "../src/kernel/default-logger.ts";
import { silentLogger } from "../src/kernel/emit.ts";

/**
 * Properties are tried with the same values in every run: whether a commit passes is no matter of luck. `TROUPE_SEED` names another seed, or
 * `any` for one that differs each time; what fails tells its own.
 */
const { TROUPE_SEED: asked = "1" } = process.env;

// Most tests cause warnings on purpose, and give no logger.
replaceDefaultLogger(silentLogger);

fc.configureGlobal({ seed: asked === "any" ? Date.now() % 2 ** 31 : Number(asked) });

/** Characters of a title: a line of a report. */
const LONGEST_TITLE = 120;

beforeEach(({ task: { name } }) => {
  if (name.length <= LONGEST_TITLE) return;
  throw new Error(
    `Expected a title of at most ${LONGEST_TITLE} characters, got ${name.length}. \`titled\` cuts the values of a case: ${name.slice(0, LONGEST_TITLE)}`,
  );
});

afterAll(endFile);
afterAll(shrinkHeap);
// Vitest undoes stubs before the next test: a file that shares the process reads its environment before its first one.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
