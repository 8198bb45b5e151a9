/*
 * Runs jobs inside a sandbox. A job has files and steps, and a step is a command with rules for its result. No shell reads a command.
 *
 * Every job begins with the project as it was: in bubblewrap from the source that is mounted read only, elsewhere from a copy. A process that
 * a step leaves behind is killed before its result is reported: in bubblewrap every process of the sandbox, elsewhere those of its group.
 */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { order, pythonEnvironment, report, root, textOf, writeGiven } from "./order.mjs";
import { isInside, programOf } from "./programs.mjs";
import { clean, cut, quoted, RuleError, wrongIn } from "./text-rules.mjs";

/** @import { JobStep, StepReport } from "../jobs.ts" */
/** @typedef {Omit<StepReport, "problems">} Result */

// Elsewhere "every process" would be every process of the user.
const isAlone = order.source !== null && os.hostname() === "sandbox" && textOf("/proc/1/comm") === "bwrap\n";
const own = isAlone ? "" : fs.mkdtempSync(path.join(os.tmpdir(), "checks-"));
const source = isAlone ? order.source : path.join(own, "source");
const home = isAlone ? os.tmpdir() : path.join(own, "home");
if (!isAlone) {
  fs.mkdirSync(source);
  copy(root, source);
  fs.mkdirSync(home);
}

/** The system's programs: those of Node.js take paths of a limited length only. @param {string} file @param {string[]} words */
function run(file, ...words) {
  execFileSync(file, words, { stdio: "ignore", timeout: order.cleanTime });
}

/** @param {string} from @param {string} to */
function copy(from, to) {
  run("cp", "-R", `${from}/.`, `${to}/`);
}

function restore() {
  for (const folder of isAlone ? [root, home, "/dev/shm"] : [root, home]) {
    const empty = () => run("find", folder, "-mindepth", "1", "-delete");
    try {
      empty();
    } catch {
      run("chmod", "-R", "u+rwx", folder);
      empty();
    }
  }
  copy(source, root);
}

/** @param {number | undefined} group */
function killAll(group) {
  for (const target of isAlone ? [group, 1] : [group]) {
    try {
      if (target !== undefined) process.kill(-target, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

class Kept {
  /** @type {Buffer[]} */
  chunks = [];
  size = 0;

  /** False where there is too much. @param {Buffer} chunk */
  add(chunk) {
    if (this.size <= order.outputBytes) this.chunks.push(chunk);
    this.size += chunk.length;
    return this.size <= order.outputBytes;
  }

  get text() {
    return Buffer.concat(this.chunks).subarray(0, order.outputBytes).toString();
  }
}

/** @param {JobStep} step */
function start(step) {
  const [file, args] = programOf([...step.run]);
  const env = { ...pythonEnvironment(), HOME: home, TMPDIR: home };
  try {
    return spawn(file, args, { cwd: root, env, stdio: "pipe", detached: true });
  } catch (thrown) {
    return codeOf(thrown);
  }
}

/** @param {JobStep} step @param {number} limit milliseconds @returns {Promise<Result>} */
async function runStep(step, limit) {
  const got = { code: null, signal: null, timedOut: false, flooded: false, missing: null };
  const [stdout, stderr] = [new Kept(), new Kept()];
  const child = start(step);
  if (typeof child === "string") return { ...got, missing: child, stdout: "", stderr: "" };
  const { pid } = child;
  const timer = setTimeout(() => {
    got.timedOut = true;
    killAll(pid);
  }, limit);
  /** @param {Kept} kept @returns {(chunk: Buffer) => void} */
  const keep = (kept) => (chunk) => {
    if (kept.add(chunk)) return;
    got.flooded = true;
    killAll(pid);
  };
  child.stdout.on("data", keep(stdout));
  child.stderr.on("data", keep(stderr));
  child.stdin.on("error", () => {});
  child.stdin.end(step.stdin ?? "");
  /** @type {object} */
  const ending = await new Promise((settle) => {
    child.on("error", (thrown) => pid === undefined && settle({ missing: codeOf(thrown) }));
    child.on("exit", (code, signal) => {
      killAll(pid);
      // A process that left the group may keep the streams open.
      setTimeout(() => settle({ code, signal }), 300);
    });
    child.on("close", (code, signal) => pid !== undefined && settle({ code, signal }));
  });
  clearTimeout(timer);
  return { ...got, ...ending, stdout: stdout.text, stderr: stderr.text };
}

/** @param {unknown} thrown @returns {string} */
function codeOf(thrown) {
  return /** @type {NodeJS.ErrnoException} */ (thrown).code ?? "unknown";
}

/** The text of a file of the project; undefined where there is none. @param {string} name */
function readFile(name) {
  const file = path.join(root, name);
  if (!isInside(file)) return undefined;
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      if (!fs.fstatSync(fd).isFile()) return undefined;
      const bytes = Buffer.alloc(order.fileBytes);
      let size = 0;
      for (let got = -1; got !== 0 && size < bytes.length; size += got) got = fs.readSync(fd, bytes, size, bytes.length - size, null);
      return bytes.subarray(0, size).toString();
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** A crash is no refusal, though it ends with a failure too. A script that the check itself brings may throw. @param {readonly string[]} words @param {Result} result */
function isUncaught(words, { stderr }) {
  const isOwn = words.some((word, index) => index > 0 && index < 3 && /^(-e|-p|-c|--eval|--print)$/.test(word));
  return !isOwn && (/^Node\.js v\d+\.\d+/m.test(stderr) || /^Traceback \(most recent call last\):$/m.test(stderr));
}

/** @param {JobStep} step @param {Result} got @param {number} limit @returns {string[]} */
function problemsOf(step, got, limit) {
  if (got.missing === "ENOENT") return [`it could not be started: the program ${quoted(programOf([...step.run])[0], 100)} is not there`];
  if (got.missing !== null) return [`it could not be started: ${got.missing}`];
  if (got.flooded) return [`it printed more than ${order.outputBytes} bytes and was stopped`];
  if (got.timedOut) return [`it did not end within ${limit} ms and was stopped`];
  const { exit = 0, stdout = {}, stderr = {}, files = [] } = step;
  if (exit === "any") return [];
  return [
    ...exitProblems(step.run, exit, got),
    ...wrongIn("stdout", got.stdout, stdout, order.matchTime),
    ...wrongIn("stderr", got.stderr, stderr, order.matchTime),
    ...files.flatMap(fileProblems),
  ];
}

const ABSENT = /^\S*python[\d.]*: (?:can't open file |No module named )/m;

/** @param {readonly string[]} words @param {number | "failure"} exit @param {Result} got @returns {string[]} */
function exitProblems(words, exit, got) {
  if (got.code === null) return [`it was ended by ${got.signal}`];
  if (exit === "failure" ? got.code === 0 : got.code !== exit)
    return [`the exit code should be ${exit === "failure" ? "another than 0" : exit} and is ${got.code}`];
  if (exit !== 0 && ABSENT.test(got.stderr)) return ["it should refuse with a message, and Python found no program"];
  if (exit !== 0 && isUncaught(words, got)) return ["it should refuse with a message, and crashed: an error was not caught"];
  return [];
}

/** @param {import("../acceptance.ts").FileRule} rule */
function fileProblems({ path: name, absent, ...rule }) {
  const what = `the file ${quoted(name)}`;
  if (absent === true) {
    const found = fs.lstatSync(path.join(root, name), { throwIfNoEntry: false });
    return found === undefined ? [] : [`${what} should not be there and is`];
  }
  const text = readFile(name);
  return text === undefined ? [`${what} should be there and is not`] : wrongIn(what, text, rule, order.matchTime);
}

/** @param {any} job */
async function runJob(job) {
  for (const file of job.given) writeGiven(file);
  /** @type {StepReport[]} */
  const steps = [];
  const end = Date.now() + job.timeout;
  for (const step of job.steps) {
    const got = await runStep(step, Math.max(1, end - Date.now()));
    const shown = { ...got, stdout: cut(clean(got.stdout), order.shown), stderr: cut(clean(got.stderr), order.shown) };
    let problems;
    try {
      problems = problemsOf(step, got, job.timeout).map((problem) => cut(problem, 1000));
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      if (steps.some((one) => one.problems.length > 0)) break;
      return { steps: [...steps, { ...shown, problems: [] }], unfit: error.message };
    }
    steps.push({ ...shown, problems: problems.slice(0, 10) });
    // A process that it left running, or could not start, says nothing about the steps after it.
    const isOver = got.timedOut || got.flooded || got.missing !== null;
    if (problems.length > 0 && (isOver || job.continues !== true)) break;
  }
  return { steps };
}

for (const [index, job] of order.jobs.entries()) {
  try {
    if (index > 0) restore();
  } catch {
    // Not the fault of this job: the next sandbox begins with it.
    break;
  }
  await report({ began: job.id });
  const result = await runJob(job).catch((error) => ({ steps: [], broken: cut(clean(String(error.message ?? error)), 300) }));
  await report({ id: job.id, ...result });
  if ("broken" in result) break;
}
process.exit(0);
