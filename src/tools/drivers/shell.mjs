/*
 * Runs one command inside a sandbox. The order comes on standard input. The report is one line that begins with the mark of the order; a
 * command may still forge one, so its reader checks all of it.
 *
 * `ShellDriver.D1` at the time limit the process group of the command is killed, and what it printed and changed until then is reported.
 * `ShellDriver.D2` when this program ends, whatever ends it, the group of the command ends with it.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { changesBetween, readUpTo, snapshot } from "./project-files.mjs";

/** Variables that a shell sets itself. */
const OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
/** Milliseconds to read the output after the command has ended: a process that left its group may keep the streams open. */
const DRAIN = 300;
/**
 * Notes the environment and the folder when the command ends. A process of its group waits on descriptor 3 for the end of this program,
 * and ends the group.
 */
const ENTER = `troupe_state=$1
set --
( (trap "" HUP INT TERM; read -r troupe_gone <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & )
exec 3<&-
trap 'troupe_code=$?; /usr/bin/env -0 > "$troupe_state/env" 2>/dev/null; pwd -P > "$troupe_state/cwd" 2>/dev/null; exit $troupe_code' EXIT
eval "$(/bin/cat "$troupe_state/command")"`;
/** What the shell runs for an order. No text of a command is ever a part of it. */
const PROGRAMS = {
  node: 'exec node -e "$(/bin/cat "$troupe_state/text")"',
  python: 'exec python3 -c "$(/bin/cat "$troupe_state/text")"',
  cells: `exec python3 '${path.join(import.meta.dirname, "cells.py").replaceAll("'", `'\\''`)}' "$troupe_state/text"`,
};

const root = process.cwd();
const order = JSON.parse(fs.readFileSync(0, "utf8"));
const { program, text, timeout, mark, bounds } = order;
const state = fs.mkdtempSync(path.join(os.tmpdir(), "state-"));
const before = snapshot(bounds);

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

/** The environment of the command: that of the sandbox with the differences that earlier commands left. */
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

fs.writeFileSync(path.join(state, "text"), text);
fs.writeFileSync(path.join(state, "command"), Reflect.get(PROGRAMS, program) ?? text);
const wanted = path.resolve(root, order.cwd);
const isThere = fs.statSync(wanted, { throwIfNoEntry: false })?.isDirectory() === true;
const [stdout, stderr] = [new KeptOutput(), new KeptOutput()];
const shell = spawn("/bin/sh", ["-c", ENTER, "sh", state], {
  cwd: isThere ? wanted : root,
  env: environment(),
  stdio: ["ignore", "pipe", "pipe", "pipe"],
  detached: true,
});
shell.stdout?.on("data", (chunk) => stdout.add(chunk));
shell.stderr?.on("data", (chunk) => stderr.add(chunk));
shell.stdio[3]?.on("error", () => {});

function killGroup() {
  try {
    process.kill(-(shell.pid ?? 0), "SIGKILL");
  } catch {
    // It has ended.
  }
}

let timedOut = false;
const limit = setTimeout(() => {
  timedOut = true;
  killGroup();
}, timeout);
// Its parent is the sandbox; where there is none, nothing else ends this program.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
const ending = await new Promise((resolve) => {
  shell.on("error", ({ message }) => resolve({ code: null, signal: message.slice(0, 20) }));
  shell.on("exit", (code, signal) => {
    clearTimeout(limit);
    killGroup();
    setTimeout(() => resolve({ code, signal }), DRAIN);
  });
  shell.on("close", (code, signal) => resolve({ code, signal }));
});
const changes = changesBetween(before, snapshot(bounds), bounds);
const left = timedOut || program !== "sh" ? undefined : stateLeft();
const report = { ...ending, timedOut, isThere, stdout: stdout.text, stderr: stderr.text, left, changes };
fs.rmSync(state, { recursive: true, force: true });
process.stdout.write(`${mark} ${JSON.stringify(report)}\n`, () => process.exit(0));
