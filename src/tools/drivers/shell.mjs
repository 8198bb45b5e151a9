/*
 * Keeps a shell inside a sandbox. Each order is one line of standard input: a command, and the files of the project that changed outside. Each
 * report is one line that begins with the mark of its order; a command may still forge one, so its reader checks all of it.
 *
 * `ShellDriver.D1` at the time limit the process group of the shell is killed, and what the command printed and changed until then is reported.
 * `ShellDriver.D2` when this program ends, whatever ends it, the group of the shell ends with it. It ends with its shell, and after the last order.
 * `ShellDriver.D3` a change by a process in the background after its command has ended is reported with the next.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { changesBetween, readUpTo, snapshot, takeIn } from "./project-files.mjs";

/** Variables that a shell sets itself. */
const OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
/**
 * Reads a word for each command from descriptor 3, takes the command from a file, and answers with the word and the exit code on descriptor 4.
 * `command` keeps an error of the command, such as of syntax, from ending the shell. A process of its group waits on descriptor 5 for the
 * end of this program, and ends the group.
 */
const LOOP = `troupe_state=$1
set --
( (trap "" HUP INT TERM; read -r troupe_gone <&5; kill -KILL 0) </dev/null >/dev/null 2>&1 3<&- 4>&- & )
exec 5<&-
troupe_note() { /bin/rm -rf "$troupe_state/env" "$troupe_state/cwd"; /usr/bin/env -0 > "$troupe_state/env"; pwd -P > "$troupe_state/cwd"; }
trap 'troupe_code=$?; troupe_note 2>/dev/null; exit $troupe_code' EXIT
while IFS= command read -r troupe_word <&3; do
  command eval "$(/bin/cat "$troupe_state/command")" 3<&- 4>&-
  { troupe_code=$?; troupe_note; command printf '%s %s\\n' "$troupe_word" "$troupe_code" >&4; } 2>/dev/null
done`;
/** The programs that the shell runs for orders. No text of a command is ever a part of it. */
const PROGRAMS = {
  node: 'exec node -e "$(/bin/cat "$troupe_state/text")"',
  python: 'exec python3 -c "$(/bin/cat "$troupe_state/text")"',
  cells: `exec python3 '${path.join(import.meta.dirname, "cells.py").replaceAll("'", `'\\''`)}' "$troupe_state/text"`,
};

async function* readOrders() {
  let lines = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    lines += chunk;
    if (!chunk.endsWith("\n")) continue;
    yield JSON.parse(lines);
    lines = "";
  }
}

const root = process.cwd();
const orders = readOrders();
let order = (await orders.next()).value;
const { bounds, stays } = order;
const state = fs.mkdtempSync(path.join(os.tmpdir(), "state-"));
let last = snapshot(bounds);

/** Output with a bound while it comes: the beginning and the end are kept. */
class KeptOutput {
  half = Math.ceil(bounds.outputBytes / 2);
  front = Buffer.alloc(0);
  back = Buffer.alloc(0);
  size = 0;

  /** @param {Buffer} chunk */
  add(chunk) {
    const room = this.half - this.front.length;
    this.size += chunk.length;
    this.front = Buffer.concat([this.front, chunk.subarray(0, room)]);
    this.back = Buffer.concat([this.back, chunk.subarray(room)]).subarray(-this.half);
  }

  get text() {
    const missing = this.size - this.front.length - this.back.length;
    if (missing === 0) return Buffer.concat([this.front, this.back]).toString();
    return `${this.front.toString()}\n[${missing} bytes left out]\n${this.back.toString()}`;
  }
}

function environment() {
  const entries = Object.entries({ ...process.env, ...order.env }).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replaceAll(bounds.projectMark, root)]));
}

/** The folder and the environment that the shell noted; undefined where a command took that away. */
function stateLeft() {
  try {
    const pairs = String(readUpTo(path.join(state, "env"), 1_000_000)).split("\0");
    const named = pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
    const now = Object.fromEntries(named.filter(([name = ""]) => name !== "" && !OWN.has(name)));
    if (Object.keys(now).length === 0) return undefined;
    /** @type {Record<string, string | null>} */
    const env = {};
    for (const [name, value] of Object.entries(now))
      if (process.env[name] !== value) env[name] = value.replaceAll(root, bounds.projectMark);
    for (const name of Object.keys(process.env)) if (!(name in now) && !OWN.has(name)) env[name] = null;
    const cwd = String(readUpTo(path.join(state, "cwd"), 4096)).replace(/\n$/, "");
    const inside = path.relative(root, cwd);
    return { env, cwd: inside === ".." || inside.startsWith("../") || path.isAbsolute(inside) ? cwd : inside };
  } catch {
    return undefined;
  }
}

const wanted = path.resolve(root, order.cwd);
let isThere = fs.statSync(wanted, { throwIfNoEntry: false })?.isDirectory() === true;
let [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
const shell = spawn("/bin/sh", ["-c", LOOP, "sh", state], {
  cwd: isThere ? wanted : root,
  env: environment(),
  stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"],
  detached: true,
});
const [, , , words, answers] = /** @type {any[]} */ (shell.stdio);
/** @type {((ending: { code: number | null; signal: string | null }) => void) | undefined} undefined between two orders */
let answer;
let [word, said, hasEnded, chunks] = ["", "", false, 0];
shell.stdout?.on("data", (chunk) => stdout.add(chunk));
shell.stderr?.on("data", (chunk) => stderr.add(chunk));
for (const stream of shell.stdio) stream?.on("error", () => {}).on("data", () => (chunks += 1));
answers.on("data", (/** @type {Buffer} */ chunk) => {
  said = (said + chunk).slice(-200);
  const code = new RegExp(`^${word} (\\d+)\n`, "m").exec(said)?.[1];
  if (code !== undefined) answer?.({ code: Number(code), signal: null });
});
shell.on("error", ({ message }) => end(null, message.slice(0, 20)));
shell.on("exit", end);

/** @param {number | null} code @param {string | null} signal */
function end(code, signal) {
  hasEnded = true;
  killGroup();
  if (answer === undefined) process.exit(0);
  answer({ code, signal });
}

function killGroup() {
  try {
    if (shell.pid !== undefined) process.kill(-shell.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** All output written before the answer can be read without waiting. */
async function drain() {
  for (let quiet = 0, turns = 0; quiet < 3 && turns < 300; turns++) {
    const before = chunks;
    await new Promise(setImmediate);
    quiet = before === chunks ? quiet + 1 : 0;
  }
}

async function perform() {
  const { program, text, timeout, mark, files } = order;
  fs.rmSync(state, { recursive: true, force: true });
  fs.mkdirSync(state, { recursive: true });
  fs.writeFileSync(path.join(state, "text"), text);
  fs.writeFileSync(path.join(state, "command"), Reflect.get(PROGRAMS, program) ?? text);
  if (files !== undefined) takeIn(files, last);
  const ended = new Promise((resolve) => {
    answer = resolve;
  });
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    killGroup();
  }, timeout);
  word = randomUUID();
  words.write(`${word}\n`);
  const ending = await ended;
  clearTimeout(limit);
  if (!stays) killGroup();
  await drain();
  const after = snapshot(bounds);
  const left = timedOut || program !== "sh" ? undefined : stateLeft();
  const ends = { ...ending, timedOut, isThere, hasEnded: stays && hasEnded };
  const report = { ...ends, stdout: stdout.text, stderr: stderr.text, left, changes: changesBetween(last, after, bounds) };
  [last, isThere, stdout, stderr] = [after, true, new KeptOutput(), new KeptOutput()];
  await new Promise((done) => process.stdout.write(`${mark} ${JSON.stringify(report)}\n`, done));
  if (hasEnded || !stays) process.exit(0);
  answer = undefined;
}

process.on("exit", () => fs.rmSync(state, { recursive: true, force: true }));
// Its parent is the sandbox; where there is none, nothing else ends this program.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
for (; order !== undefined; order = (await orders.next()).value) await perform();
process.exit(0);
