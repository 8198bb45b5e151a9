import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { manifest, root } from "./architecture/read-house.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-tools-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the line at the end of a test run says of a report, and the code it ends with. */
function tally(given: unknown, exitCode: number): { line: string; code: number | null } {
  const path = join(folder, "report.json");
  writeFileSync(path, typeof given === "string" ? given : JSON.stringify(given));
  const ended = spawnSync(process.execPath, ["tools/tally.mjs", path, String(exitCode)], { cwd: root, encoding: "utf8" });
  return { line: ended.stdout, code: ended.status };
}

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
  it("counts what passed", () => {
    expect(tally(report({ passed: 2 }, file("passed", "passed", "passed")), 0)).toEqual({ line: "2 passed, 0 failed\n", code: 0 });
  });

  it("counts what failed, and keeps the exit code", () => {
    expect(tally(report({ passed: 1, failed: 2 }, file("failed", "failed", "failed", "passed")), 7)).toEqual({
      line: "1 passed, 2 failed\n",
      code: 7,
    });
  });

  it("fails when tests failed and the exit code hides it", () => {
    expect(tally(report({ passed: 1, failed: 1 }, file("failed", "failed", "passed")), 0)).toEqual({
      line: "1 passed, 1 failed\n",
      code: 1,
    });
  });

  it("tells what was skipped", () => {
    expect(tally(report({ passed: 1, skipped: 2, todo: 1 }, file("passed", "passed")), 0)).toEqual({
      line: "1 passed, 0 failed, 3 skipped\n",
      code: 0,
    });
  });

  it("counts a file that does not load", () => {
    expect(tally(report({ passed: 1, success: false }, file("passed", "passed"), file("failed")), 1)).toEqual({
      line: "1 passed, 1 failed\n",
      code: 1,
    });
  });

  it("counts an error outside every test", () => {
    expect(tally(report({ passed: 1 }, file("passed", "passed")), 1)).toEqual({ line: "1 passed, 1 failed\n", code: 1 });
  });

  it.each(["", '{"numPassedTests": 3', "null-ish"])("fails without a whole report: %s", (text) => {
    expect(tally(text, 1)).toEqual({ line: "0 passed, 1 failed\n", code: 1 });
    expect(tally(text, 0)).toEqual({ line: "0 passed, 1 failed\n", code: 1 });
  });

  it("fails when nothing ran", () => {
    expect(tally(report({ passed: 0 }), 0)).toEqual({ line: "0 passed, 1 failed\n", code: 1 });
  });

  it("adds reports up, and fails when one of them does", () => {
    const [tested, soaked] = ["tested.json", "soaked.json"].map((name) => join(folder, name));
    writeFileSync(tested ?? "", JSON.stringify(report({ passed: 2, skipped: 1 }, file("passed", "passed"))));
    writeFileSync(soaked ?? "", JSON.stringify(report({ passed: 3, failed: 1 }, file("failed", "failed"))));
    const told = (...given: readonly (string | undefined)[]): unknown => {
      const ended = spawnSync(process.execPath, ["tools/tally.mjs", ...given.map(String)], { cwd: root, encoding: "utf8" });
      return [ended.stdout, ended.status];
    };
    expect(told(tested, "0", soaked, "1")).toEqual(["5 passed, 1 failed, 1 skipped\n", 1]);
    expect(told(soaked, "0", tested, "0")).toEqual(["5 passed, 1 failed, 1 skipped\n", 1]);
    expect(told(tested, "0", join(folder, "none.json"), "7")).toEqual(["2 passed, 1 failed, 1 skipped\n", 7]);
    expect(told(tested, "0", tested, "0")).toEqual(["4 passed, 0 failed, 2 skipped\n", 0]);
  });

  it("fails without a report or a code", () => {
    const ended = spawnSync(process.execPath, ["tools/tally.mjs"], { cwd: root, encoding: "utf8" });
    expect([ended.stdout, ended.status]).toEqual(["0 passed, 1 failed\n", 1]);
  });
});

describe("scripts", () => {
  it("start and test prepare first, by a script that is there", () => {
    expect([manifest.scripts["prestart"], manifest.scripts["pretest"]]).toEqual(["node tools/prepare.mjs", "node tools/prepare.mjs"]);
  });

  it("verify runs scripts that exist", () => {
    const [, list = "[]"] = /const STEPS = (\[[^\]]*\])/.exec(readFileSync(join(root, "tools/verify.mjs"), "utf8")) ?? [];
    const steps = JSON.parse(list) as string[];
    expect(steps).toContain("test");
    expect(steps.filter((step) => manifest.scripts[step] === undefined)).toEqual([]);
  });
});
