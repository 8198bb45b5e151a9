import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProgram } from "../src/workspace/program-path.ts";
import { STEPS, tally, verify } from "../tools/verify.mjs";
import { manifest, root } from "./architecture/read-house.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-tools-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(status: string, ...tests: readonly string[]): unknown {
  return { status, assertionResults: tests.map((one) => ({ status: one })) };
}

function report(
  counts: { passed: number; failed?: number; skipped?: number; todo?: number; success?: boolean },
  ...files: readonly unknown[]
): unknown {
  const { passed, failed = 0, skipped = 0, todo = 0, success = failed === 0 } = counts;
  const numbers = { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, numTodoTests: todo };
  return { ...numbers, numTotalTests: passed + failed + skipped + todo, success, testResults: files };
}

describe("tally", () => {
  const good = { passed: 2, failed: 0, skipped: 0 };

  it.each([
    ["what passed", report({ passed: 2 }, file("passed", "passed", "passed")), 0, good],
    ["what failed", report({ passed: 1, failed: 2 }, file("failed", "failed", "failed", "passed")), 1, { ...good, passed: 1, failed: 2 }],
    ["what was skipped", report({ passed: 2, skipped: 2, todo: 1 }, file("passed", "passed")), 0, { ...good, skipped: 3 }],
    [
      "a file that does not load",
      report({ passed: 2, success: false }, file("passed", "passed"), file("failed")),
      1,
      { ...good, failed: 1 },
    ],
    ["an error outside every test", report({ passed: 2 }, file("passed", "passed")), 1, { ...good, failed: 1 }],
    ["a report that is missing", undefined, 0, { ...good, passed: 0, failed: 1 }],
    ["no test", report({ passed: 0 }), 0, { ...good, passed: 0, failed: 1 }],
  ])("counts %s", (_what, given, exitCode, counts) => {
    expect(tally(given as never, exitCode)).toEqual(counts);
  });
});

describe("verify", () => {
  const counts = JSON.stringify(report({ passed: 3 }, file("passed", "passed")));

  /** Returns the counts and the output of a verification in which a step fails. */
  function verified(failing: string | undefined): { readonly counts: unknown; readonly ran: readonly string[]; readonly words: string } {
    const [ran, words]: [string[], string[]] = [[], []];
    const sum = verify(
      (step, path) => {
        ran.push(step);
        if (step === "test" && step !== failing) writeFileSync(path, counts);
        return { status: step === failing ? 1 : 0, stdout: `output of ${step}` };
      },
      (more) => void words.push(more),
    );
    return { counts: sum, ran, words: words.join("") };
  }

  it("counts the tests", () => {
    expect(verified(undefined)).toMatchObject({ counts: { passed: 3, failed: 0 }, ran: STEPS });
  });

  it.each(STEPS)("counts a failure of %s, shows its output and runs the other steps", (step) => {
    const { counts: found, ran, words } = verified(step);
    expect(found).toMatchObject({ passed: step === "test" ? 0 : 3, failed: 1 });
    expect([ran, words.match(/output of \S+/g)]).toEqual([STEPS, [`output of ${step}`]]);
  });
});

describe(".ci/run", () => {
  /** Runs the gate where nothing but these programs is found, so that nothing is installed. @param npm the program `npm` */
  function gate(npm: string | undefined): readonly [last: string | undefined, code: number | null] {
    const programs = mkdtempSync(join(folder, "programs-"));
    for (const name of ["bash", "dirname", "mktemp", "tee", "tail", "grep", "rm"])
      symlinkSync(findProgram(name) ?? "", join(programs, name));
    if (npm !== undefined) writeFileSync(join(programs, "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const { stdout, status } = spawnSync(join(programs, "bash"), [join(root, ".ci/run")], { encoding: "utf8", env: { PATH: programs } });
    return [stdout.trimEnd().split("\n").at(-1), status];
  }

  it.each([
    ["the counts of the verification", "echo 3 passed, 0 failed", "3 passed, 0 failed", 0],
    ["its failure", "echo 3 passed, 2 failed, 1 skipped; exit 1", "3 passed, 2 failed, 1 skipped", 1],
    ["a failure where it ends early", "echo installing; exit 7", "0 passed, 1 failed", 7],
    ["a failure where it is killed", "kill -9 $$", "0 passed, 1 failed", 137],
    ["a failure where there is no npm", undefined, "0 passed, 1 failed", 127],
  ])("ends with %s", (_what, npm, last, code) => {
    expect(gate(npm)).toEqual([last, code]);
  });
});

describe("scripts", () => {
  it("start and test prepare first, by a script that is there", () => {
    expect([manifest.scripts["prestart"], manifest.scripts["pretest"]]).toEqual(["node tools/prepare.mjs", "node tools/prepare.mjs"]);
  });

  it("verify runs scripts that exist", () => {
    expect(STEPS).toContain("test");
    expect(STEPS.filter((step) => manifest.scripts[step] === undefined)).toEqual([]);
  });
});
