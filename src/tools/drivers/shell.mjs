/*
 * Keeps a shell inside a sandbox. It gets its bounds as an argument, then one order a line of its standard input: a command, and the files of the
 * project that changed outside. It answers each with one line: the mark of the order and a report. The command may forge a report, so its reader
 * checks all of it.
 *
 * `ShellDriver.D1` it ends when its input ends, or with `once` after the first order, and the group of the shell ends with it. `ShellDriver.D2` at
 * the time limit of a command the group is killed; the next command begins another shell in the same copy of the project. `ShellDriver.D3` a
 * change of the project that was not reported with a command, of a process in the background, is reported with the next.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { changesBetween, readUpTo, seenAt, snapshot } from "./project-files.mjs";

/** @typedef {{ code?: number | null; signal?: string | null }} Ending */

const LOOP = fs.readFileSync(path.join(import.meta.dirname, "shell-loop.sh"), "utf8");
/** Variables that a shell sets itself. */
const OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
/** What the shell runs for an order. No text of a command is ever a part of it. */
const PROGRAMS = {
  node: 'exec node -e "$(/bin/cat "$troupe_state/text")"',
  python: 'exec python3 -c "$(/bin/cat "$troupe_state/text")"',
  cells: 'exec python3 "$troupe_drivers/cells.py" "$troupe_state/text"',
};

const root = process.cwd();
const state = fs.mkdtempSync(path.join(os.tmpdir(), "state-"));
const base = { ...process.env };
const bounds = JSON.parse(process.argv[2] ?? "");
let last = snapshot(bounds);
/** @type {import("node:child_process").ChildProcess | undefined} */
let shell;
/** @type {(ending: Ending) => void} */
let answer = () => {};
/** The mark of the order that runs. */
let mark = "";
let heard = 0;

/** Output with a bound while it comes: the beginning and the end are kept. */
class KeptOutput {
  head = Math.ceil(bounds.outputBytes * 0.5);
  tail = bounds.outputBytes - this.head;
  /** @type {Buffer[]} */
  front = [];
  /** @type {Buffer[]} */
  back = [];
  size = 0;
  held = 0;
  fronted = 0;

  /** @param {Buffer} chunk */
  add(chunk) {
    heard += 1;
    this.size += chunk.length;
    const room = Math.min(chunk.length, this.head - this.fronted);
    this.front.push(chunk.subarray(0, room));
    this.fronted += room;
    this.back.push(chunk.subarray(room));
    this.held += chunk.length - room;
    for (let first = this.back[0]; first !== undefined && this.held - first.length >= this.tail; first = this.back[0]) {
      this.held -= first.length;
      this.back.shift();
    }
  }

  get text() {
    const [front, back] = [Buffer.concat(this.front), Buffer.concat(this.back)];
    const end = back.subarray(Math.max(0, back.length - this.tail));
    const missing = this.size - front.length - end.length;
    return missing === 0 ? Buffer.concat([front, end]).toString() : `${front.toString()}\n[${missing} bytes left out]\n${end.toString()}`;
  }
}

let [stdout, stderr] = [new KeptOutput(), new KeptOutput()];

function killAll() {
  try {
    if (shell?.pid !== undefined) process.kill(-shell.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** @param {number} code */
function leave(code) {
  killAll();
  fs.rmSync(state, { recursive: true, force: true });
  process.exit(code);
}

/** @param {Record<string, string | null>} differences */
function environment(differences) {
  const entries = Object.entries({ ...base, ...differences });
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value.replaceAll(bounds.projectMark, root)]])),
  );
}

/** The folder and the environment that the shell noted; undefined where a command took that away. */
function stateLeft() {
  try {
    const pairs = String(readUpTo(path.join(state, "env"), 1_000_000)).split("\0");
    const named = pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
    const now = Object.fromEntries(named.filter(([name = ""]) => name !== "" && !OWN.has(name)));
    if (Object.keys(now).length === 0) return undefined;
    const changed = Object.entries(now).filter(([name, value]) => base[name] !== value);
    const removed = Object.keys(base).filter((name) => !(name in now) && !OWN.has(name));
    const env = { ...Object.fromEntries(changed), ...Object.fromEntries(removed.map((name) => [name, null])) };
    for (const [name, value] of changed) env[name] = value.replaceAll(root, bounds.projectMark);
    const cwd = String(readUpTo(path.join(state, "cwd"), 4096)).replace(/\n$/, "");
    const inside = path.relative(root, cwd);
    return { env, cwd: inside === ".." || inside.startsWith("../") || path.isAbsolute(inside) ? cwd : inside };
  } catch {
    return undefined;
  }
}

/** Starts a shell, and returns whether its folder is there. @param {{ cwd: string; env: Record<string, string | null> }} order */
function begin({ cwd, env }) {
  const wanted = path.resolve(root, cwd);
  const isThere = fs.statSync(wanted, { throwIfNoEntry: false })?.isDirectory() === true;
  const begun = spawn("/bin/sh", ["-c", LOOP, "sh", state, import.meta.dirname], {
    cwd: isThere ? wanted : root,
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  shell = begun;
  begun.stdout?.on("data", (chunk) => stdout.add(chunk));
  begun.stderr?.on("data", (chunk) => stderr.add(chunk));
  for (const stream of begun.stdio) stream?.on("error", () => {});
  let line = "";
  begun.stdio[4]?.on("data", (chunk) => {
    line = (line + chunk).slice(-200);
    const code = line
      .split("\n")
      .find((one) => one.startsWith(`${mark} `))
      ?.slice(mark.length + 1);
    if (shell === begun && code !== undefined && line.endsWith("\n")) answer({ code: Number(code) });
  });
  begun.on("error", () => leave(1));
  begun.on("exit", (code, signal) => {
    if (shell !== begun) return;
    killAll();
    shell = undefined;
    answer({ code, signal });
  });
  return isThere;
}

/** What was written before the answer lies in the streams by now. */
async function drain() {
  for (let quiet = 0, turns = 0; quiet < 3 && turns < 300; turns++) {
    const before = heard;
    await new Promise(setImmediate);
    quiet = before === heard ? quiet + 1 : 0;
  }
}

/** The first of a file's folders that is none, but a link or a file that a command put there. @param {string} name */
function blockOf(name) {
  const parts = name.split("/").slice(0, -1);
  const folders = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  return folders.find((folder) => fs.lstatSync(path.join(root, folder), { throwIfNoEntry: false })?.isDirectory() === false);
}

/** @param {string} file @param {Buffer} bytes */
function isSame(file, bytes) {
  try {
    return readUpTo(file, bytes.length)?.equals(bytes) === true;
  } catch {
    return false;
  }
}

/** Removes a file, or for another one in its place a folder too, and forgets it. @param {string} name @param {boolean} recursive */
function drop(name, recursive = false) {
  try {
    fs.rmSync(path.join(root, name), { force: true, recursive });
  } catch (error) {
    if (Reflect.get(Object(error), "code") !== "ERR_FS_EISDIR") throw error;
  }
  for (const key of last?.keys() ?? []) if (key === name || (recursive && key.startsWith(`${name}/`))) last?.delete(key);
}

/** @param {import("../known-files.ts").OutsideChanges} changes */
function takeIn({ written, removed }) {
  for (const name of removed) if (blockOf(name) === undefined) drop(name);
  for (const { path: name, base64, mode } of written) {
    const [file, block, bytes] = [path.join(root, name), blockOf(name), Buffer.from(base64, "base64")];
    if (block !== undefined) drop(block);
    if (!isSame(file, bytes)) {
      drop(name, fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, bytes, { flag: "wx", mode });
    }
    const seen = seenAt(name);
    if (seen !== undefined) last?.set(name, seen);
  }
}

/** @param {any} order */
async function perform({ program, text, timeout, files, ...order }) {
  mark = order.mark;
  takeIn(files);
  fs.rmSync(state, { recursive: true, force: true });
  fs.mkdirSync(state, { recursive: true });
  fs.writeFileSync(path.join(state, "text"), text);
  fs.writeFileSync(path.join(state, "command"), Reflect.get(PROGRAMS, program) ?? text);
  const isNew = shell === undefined;
  const isThere = !isNew || begin(order);
  const ended = new Promise((resolve) => {
    answer = resolve;
  });
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    killAll();
  }, timeout);
  Reflect.get(Object(shell), "stdio")[3].write(`${mark}\n`);
  const ending = await ended;
  clearTimeout(limit);
  await drain();
  const after = snapshot(bounds);
  const left = timedOut || program !== "sh" ? undefined : stateLeft();
  const ends = { ...ending, timedOut, isThere, isNew, hasEnded: shell === undefined };
  const report = { ...ends, stdout: stdout.text, stderr: stderr.text, left, changes: changesBetween(last, after, bounds) };
  last = after;
  [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
  await new Promise((done) => process.stdout.write(`${mark} ${JSON.stringify(report)}\n`, done));
}

process.on("SIGTERM", () => leave(1));
process.stdout.on("error", () => leave(1));
if (bounds.once !== true) process.stdin.on("end", () => leave(1));
// Its parent is the sandbox; where there is none, nothing else ends this program.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && leave(1), 500).unref();
try {
  for await (const line of createInterface({ input: process.stdin })) await perform(JSON.parse(line));
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  leave(1);
}
leave(0);
