// node tools/tally.mjs <vitest's JSON report> <exit code of npm test>
// Prints the one line that a machine reads, and ends with a code that is 0 only when something ran and nothing failed.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * Counts a report. What failed outside any single test (a file that does not load, an unhandled error, a build that broke before the tests)
 * counts as failed too: a non-zero exit code is never told as `0 failed`.
 */
export function tally(report, exitCode) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const isBroken = (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed");
  const counted = report.numFailedTests + report.testResults.filter(isBroken).length;
  const isSilent = counted === 0 && (exitCode !== 0 || report.success !== true || report.numTotalTests === 0);
  return { passed: report.numPassedTests, failed: isSilent ? 1 : counted, skipped: report.numPendingTests + report.numTodoTests };
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // No report, or half of one: the tests never ran to their end. tally() counts that as one failure.
    return undefined;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const exitCode = Number(process.argv[3] ?? 1);
  const { passed, failed, skipped } = tally(read(process.argv[2]), exitCode);
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  process.exitCode = exitCode !== 0 ? exitCode : failed > 0 ? 1 : 0;
}
