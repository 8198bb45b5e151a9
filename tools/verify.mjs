// npm run verify
// Runs all that gates a change, cheapest first, also after a failure, and ends with one line: `N passed, N failed`, with the tests' counts and one
// failure more for each other step that failed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { npm } from "./npm.mjs";
import { root } from "./root.mjs";

export const STEPS = ["format", "lint", "types", "unused", "pack:check", "entries", "test"];

/**
 * Counts vitest's JSON report. A file that does not load, an error outside every test and a report that is missing count as failed.
 *
 * @param exitCode of the command that wrote the report
 */
export function tally(report, exitCode) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const isBroken = (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed");
  const counted = report.numFailedTests + report.testResults.filter(isBroken).length;
  const isSilent = counted === 0 && (exitCode !== 0 || report.success !== true || report.numPassedTests === 0);
  return { passed: report.numPassedTests, failed: isSilent ? 1 : counted, skipped: report.numPendingTests + report.numTodoTests };
}

/** @returns undefined where no whole report is there: the tests did not run to their end */
function reportAt(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function runScript(step, report) {
  const options = step === "test" ? ["--", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`] : [];
  return npm(["run", "--silent", step, ...options], { stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Runs the steps, also after a failure.
 *
 * @param run runs a step; the step `test` writes vitest's JSON report to a path
 * @returns the counts of the tests, with one failure more for each other step that failed
 */
export function verify(run = runScript, write = (words) => void process.stdout.write(words)) {
  const folder = mkdtempSync(join(tmpdir(), "troupe-verify-"));
  const report = join(folder, "report.json");
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const step of STEPS) {
    const began = performance.now();
    const result = run(step, report);
    const counts =
      step === "test" ? tally(reportAt(report), result.status) : { passed: 0, failed: result.status === 0 ? 0 : 1, skipped: 0 };
    for (const key of Object.keys(sum)) sum[key] += counts[key];
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    write(`${step.padEnd(12)}${seconds.padStart(8)} s  ${counts.failed === 0 ? "ok" : "FAILED"}\n`);
    if (counts.failed > 0) write(`\n${result.stdout ?? ""}${result.stderr ?? ""}${result.error?.message ?? ""}\n`);
  }
  rmSync(folder, { recursive: true });
  return sum;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const prepared = spawnSync(process.execPath, ["tools/prepare.mjs"], { cwd: root, stdio: "inherit" });
  const { passed, failed, skipped } = prepared.status === 0 ? verify() : { passed: 0, failed: 1, skipped: 0 };
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
