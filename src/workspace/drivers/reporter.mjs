/*
 * A reporter of Node's test runner, for Node.js 20.19 and later. It runs in the runner's process, which runs no test: a test that prints reports of
 * its own prints them as output. Each line is a JSON object; its reader is test-report.ts. The bounds keep all lines together below what a
 * sandbox keeps of a command's output: the last line must arrive.
 */
import { resolve } from "node:path";

const MAX_OUTPUT = 16_000;
const MAX_LINES = 4_000;
const MAX_FAILURES = 40;
const here = `${process.cwd()}/`;

/** @param {unknown} text @param {number} limit */
function show(text, limit) {
  const plain = String(text).replaceAll(`file://${here}`, "").replaceAll(here, "");
  return plain.length > limit ? `${plain.slice(0, limit)}...` : plain;
}

/** @param {object} value */
function line(value) {
  return `${JSON.stringify(value)}\n`;
}

/** @param {any} error @returns {string} */
function textOf(error) {
  const cause = error?.cause ?? error;
  if (typeof cause !== "object" || cause === null) return String(cause);
  const frames = typeof cause.stack === "string" ? cause.stack.split("\n") : [];
  const stack = frames.filter((/** @type {string} */ frame) => !/^\s+at (.*\()?node:/.test(frame)).join("\n");
  return stack.includes(String(cause.message)) ? stack : [cause.message, stack].filter(Boolean).join("\n");
}

/** The message of a file or a test. @param {any} data @param {boolean} isFile @param {string} said */
function messageOf(data, isFile, said) {
  const error = data.details?.error;
  if (!isFile || !(error?.exitCode || error?.signal)) return textOf(error);
  const status = error.exitCode ? `it ended with exit code ${error.exitCode}` : `it was ended by ${error.signal}`;
  return said === "" ? status : `${status}\n${said}`;
}

/** @param {AsyncIterable<{ type: string; data: any }>} source */
export default async function* report(source) {
  /** The last words of each file. @type {Map<string, string>} */
  const errors = new Map();
  const failedFiles = new Set();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let [room, lines] = [MAX_OUTPUT, MAX_LINES];
  for await (const { type, data } of source) {
    const key = resolve(data.file ?? "");
    const isFile = data.nesting === 0 && resolve(data.name ?? "") === key;
    if (type === "test:stderr") errors.set(key, ((errors.get(key) ?? "") + data.message).slice(-4_000));
    if ((type === "test:stdout" || type === "test:stderr") && room > 0) {
      const text = show(data.message, room);
      room -= text.length;
      yield line({ type: "output", text });
    }
    if (type === "test:complete" && isFile) yield line({ type: "ended", file: show(data.file, 400) });
    if (type !== "test:pass" && type !== "test:fail") continue;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const isEcho = data.details?.error?.failureType === "subtestsFailed";
    // A suite that is skipped hides its tests: no event shows them.
    if (isEcho || (data.details?.type === "suite" && type === "test:pass" && !isSkipped)) continue;
    const file = show(data.file ?? "", 400);
    const outcome = isSkipped ? "skipped" : type === "test:fail" ? "failed" : isFile ? "empty" : "passed";
    if (outcome === "empty") {
      yield line({ type: outcome, file });
      continue;
    }
    counts[outcome] += 1;
    if (outcome !== "failed") {
      lines -= 1;
      if (lines >= 0) yield line({ type: outcome });
      continue;
    }
    const message = show(messageOf(data, isFile, errors.get(key) ?? ""), 2_000);
    if (counts.failed <= MAX_FAILURES || !failedFiles.has(file))
      yield line({ type: outcome, name: isFile ? file : show(data.name, 300), file, message });
    failedFiles.add(file);
  }
  yield line({ type: "end", ...counts });
}
