/* Runs Python tests by pytest, or where it is missing by unittest. */
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { order, pythonEnvironment, report, root, withoutRoot } from "./order.mjs";

/** @typedef {{ type: string; name: string; file: string; message: string }} Line */

const names = order.files.map((/** @type {string} */ file) => path.basename(file));
// Two test files of one name outside packages are one module to the usual way of importing.
const env = { ...pythonEnvironment({ isTest: true }), TROUPE_IMPORT: new Set(names).size < names.length ? "importlib" : "prepend" };

/** @returns {"pytest" | "unittest" | undefined} undefined without python3 */
function chooseRunner() {
  const found = spawnSync("python3", ["-c", "import pytest"], { env, stdio: "ignore", timeout: 20_000 });
  return found.error === undefined ? (found.status === 0 ? "pytest" : "unittest") : undefined;
}

/** @param {unknown} text */
function clean(text) {
  return withoutRoot(String(text)).replace(/\b0x[0-9a-f]{6,}\b/g, "0x...");
}

/** @param {"pytest" | "unittest"} runner */
async function runTests(runner) {
  const program = path.join(import.meta.dirname, `run_${runner}.py`);
  const options = { cwd: root, env, stdio: /** @type {any} */ (["ignore", "pipe", "pipe", "pipe"]), detached: true };
  const child = spawn("python3", [program, ...order.files], options);
  const said = { 1: "", 2: "" };
  let [timedOut, text, size] = [false, "", 0];
  const stop = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop();
  }, order.limit);
  for (const fd of /** @type {const} */ ([1, 2]))
    child.stdio[fd].on("data", (chunk) => {
      said[fd] = (said[fd] + chunk).slice(-order.shown);
    });
  child.stdio[3]?.on("data", (chunk) => {
    size += chunk.length;
    if (size > order.resultBytes) stop();
    else text += chunk;
  });
  const end = await new Promise((settle) => {
    child.on("error", ({ message }) => settle({ code: null, signal: message.slice(0, 20) }));
    child.on("exit", (code, signal) => {
      stop();
      // A process that left the group may keep the streams open.
      setTimeout(() => settle({ code, signal }), 300);
    });
    child.on("close", (code, signal) => settle({ code, signal }));
  });
  clearTimeout(timer);
  const lines = linesOf(text);
  if (lines.some(({ type }) => type === "lacks")) return { lacks: "pytest" };
  return { runner, ...end, timedOut, output: clean(said[1] + said[2]).slice(-order.shown), ...tally(lines) };
}

/** @param {string} text @returns {Line[]} */
function linesOf(text) {
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** One result for each test: its worst. @param {Line[]} lines */
function tally(lines) {
  const [results, collected, failed] = [new Map(), new Set(), new Set()];
  const failures = [];
  let running = null;
  for (const { type, name, file, message } of lines) {
    if (type === "collected" || type === "failed") collected.add(file);
    if (type === "began") running = { name, file };
    if (!["passed", "skipped", "failed"].includes(type)) continue;
    running = null;
    if (type === "failed" || !results.has(name)) results.set(name, type);
    if (type !== "failed") continue;
    if (failures.length < order.mostFailures || !failed.has(file))
      failures.push({ name: clean(name).slice(0, 300), file: String(file), message: clean(message).slice(0, 4000) });
    failed.add(file);
  }
  /** @param {string} type */
  const count = (type) => [...results.values()].filter((each) => each === type).length;
  const empty = order.files.filter((/** @type {string} */ file) => !collected.has(file));
  const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
  return { hasEnd: lines.some(({ type }) => type === "end"), running, ...counts, failures, empty };
}

const runner = chooseRunner();
const lacks = runner === undefined ? "python3" : runner === "unittest" && order.needsPytest ? "pytest" : undefined;
await report(runner === undefined || lacks !== undefined ? { lacks } : await runTests(runner));
process.exit(0);
