// @module-tag company
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseSandbox } from "../../src/workspace/index.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import { root } from "../architecture/read-house.ts";
import { isolates } from "../checks/project.ts";
import { program } from "./program.ts";

const ANSWERS = join(root, "evaluation/answers");

interface Kept {
  readonly product: string;
  readonly idea: string;
  readonly expected: {
    readonly exitCode: number;
    readonly status: string;
    readonly calls: number;
    readonly passed: number;
    readonly all: number;
  };
}

const kept: readonly Kept[] = readdirSync(ANSWERS).flatMap((product) =>
  readdirSync(join(ANSWERS, product)).map((idea) => ({
    product,
    idea,
    expected: JSON.parse(readFileSync(join(ANSWERS, product, idea, "expected.json"), "utf8")) as Kept["expected"],
  })),
);

const hasBrowser = missingPageMeans(await chooseSandbox("bubblewrap")) === undefined;
const isPage = ({ idea }: Kept): boolean =>
  readFileSync(join(root, "evaluation/ideas", idea, "checks.mjs"), "utf8").includes('stack: "page"');

const playable = kept.filter((one) => hasBrowser || !isPage(one));

describe.runIf(isolates)("answers that are kept, played again", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "troupe-answers-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(playable)("$product, $idea", async ({ product, idea, expected }) => {
    const { stdout, stderr } = await program("run", ["--product", product, "--idea", idea, "--play", "--out", folder]);
    expect(stderr).toBe("");
    const { exitCode, status, calls, passed, all, failed } = JSON.parse(stdout) as Kept["expected"] & { readonly failed: unknown };
    expect({ exitCode, status, calls, passed, all }, `failed: ${JSON.stringify(failed)}`).toEqual(expected);
  });
});
