// node tools/tally.mjs (<vitest's JSON report> <exit code of the command that wrote it>)...
// Prints one line for a machine: the sum of all reports. Ends with 0 only when each command ran some tests and nothing failed.
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
  const given = process.argv.slice(2);
  const sum = { passed: 0, failed: 0, skipped: 0 };
  let code = 0;
  for (let at = 0; at < Math.max(given.length, 1); at += 2) {
    const exitCode = Number(given[at + 1] ?? 1);
    const counts = tally(read(given[at]), exitCode);
    for (const key of Object.keys(sum)) sum[key] += counts[key];
    if (code === 0) code = exitCode !== 0 ? exitCode : counts.failed > 0 ? 1 : 0;
  }
  const { passed, failed, skipped } = sum;
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  process.exitCode = code;
}
