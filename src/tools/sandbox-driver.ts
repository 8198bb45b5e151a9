/** Stands in an environment for the project's folder, which is another for each command. No environment can have it by itself. */
export const PROJECT_MARK = "\0project\0";

/**
 * The program that runs a command inside a sandbox and reports its result: the text of a script for `node -e`, for Node 20.19 and later. It
 * gets two arguments: an order as JSON, and the command.
 *
 * The command is one argument of its interpreter; no shell string is made of it. Its output is bounded while it comes: the beginning and the
 * end are kept. At its time limit its whole process group is killed, and so are the processes it left in the background when it ends. The
 * driver prints one line of JSON. The command may forge that line, so its reader checks all of it.
 */
export const SANDBOX_DRIVER: string = String.raw`
const fs = require("node:fs"), os = require("node:os"), path = require("node:path");
const { spawn } = require("node:child_process");
const [orderText, command] = process.argv.slice(1);
const order = JSON.parse(orderText);
const root = process.cwd();
const state = fs.mkdtempSync(path.join(os.tmpdir(), "state-"));
// Nobody's work: what belongs to others, and caches that Python's programs leave wherever they run.
const UNSEEN = new Set([".git", ".troupe", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"]);
const HERE = order.projectMark;
const OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_"]);
const base = { ...process.env };

function snapshot() {
  const files = new Map(), open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    let entries = [];
    try { entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true }); } catch { continue; }
    for (const entry of entries) {
      const name = folder === "" ? entry.name : folder + "/" + entry.name;
      if (UNSEEN.has(entry.name.toLowerCase())) continue;
      if (entry.isDirectory()) open.push(name);
      else {
        const at = fs.lstatSync(path.join(root, name), { bigint: true, throwIfNoEntry: false });
        if (at !== undefined) files.set(name, { mark: [at.size, at.mtimeNs, at.ctimeNs, at.ino, at.mode].join(), size: Number(at.size), plain: at.isFile() });
      }
      if (files.size + open.length > order.mostFiles) return undefined;
    }
  }
  return files;
}

// Neither a pipe put in a file's place nor a file that grows while it is read keeps the driver.
function readUpTo(file, limit) {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  try {
    if (!fs.fstatSync(fd).isFile()) throw new Error("no file");
    const bytes = Buffer.alloc(limit + 1);
    let size = 0;
    for (let got = -1; got !== 0 && size <= limit; size += got) got = fs.readSync(fd, bytes, size, limit + 1 - size, null);
    return size > limit ? undefined : bytes.subarray(0, size);
  } finally {
    fs.closeSync(fd);
  }
}

function contentOf(name, size) {
  if (size > order.fileBytes) return { skipped: "it is larger than " + order.fileBytes + " bytes" };
  try {
    const bytes = readUpTo(path.join(root, name), size);
    if (bytes === undefined) return { skipped: "it changed while it was read" };
    const text = bytes.toString("utf8");
    return bytes.includes(0) || !Buffer.from(text).equals(bytes) ? { base64: bytes.toString("base64") } : { content: text };
  } catch {
    return { skipped: "it cannot be read" };
  }
}

function changesSince(before) {
  const after = snapshot();
  if (before === undefined || after === undefined) return { written: [], removed: [], skipped: [{ path: "", reason: "there are too many files" }], files: 0 };
  const written = [], skipped = [];
  let room = order.changedBytes;
  for (const [name, { mark, size, plain }] of [...after].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (before.get(name)?.mark === mark) continue;
    const found = !plain ? { skipped: "it is a link or no plain file" } : size > room ? { skipped: "the command changed too much" } : contentOf(name, size);
    if (found.skipped !== undefined) skipped.push({ path: name, reason: found.skipped });
    else { written.push({ path: name, ...found }); room -= size; }
  }
  const removed = [...before.keys()].filter((name) => !after.has(name)).sort();
  return { written: written.slice(0, order.changedFiles), removed: removed.slice(0, order.mostFiles), skipped: skipped.slice(0, order.mostSkipped), files: before.size };
}

class KeptOutput {
  constructor(limit) { this.head = Math.ceil(limit * 0.5); this.tail = limit - this.head; this.front = []; this.back = []; this.size = 0; this.held = 0; this.fronted = 0; }
  add(chunk) {
    this.size += chunk.length;
    const room = Math.min(chunk.length, this.head - this.fronted);
    if (room > 0) { this.front.push(chunk.subarray(0, room)); this.fronted += room; }
    if (room === chunk.length) return;
    const rest = chunk.subarray(room);
    this.back.push(rest); this.held += rest.length;
    while (this.back.length > 0 && this.held - this.back[0].length >= this.tail) this.held -= this.back.shift().length;
  }
  done() {
    const back = Buffer.concat(this.back), end = back.subarray(Math.max(0, back.length - this.tail));
    const missing = this.size - this.fronted - end.length;
    const front = Buffer.concat(this.front);
    return missing === 0 ? Buffer.concat([front, end]).toString() : front.toString() + "\n[" + missing + " bytes left out]\n" + end.toString();
  }
}

function environment() {
  const env = { ...base };
  for (const [name, value] of Object.entries(order.env)) {
    if (value === null) delete env[name];
    else env[name] = value.replaceAll(HERE, root);
  }
  return env;
}

function stateLeft() {
  try {
    const now = {};
    for (const pair of readUpTo(path.join(state, "env"), 1000000).toString().split("\0")) {
      const at = pair.indexOf("=");
      if (at > 0 && !OWN.has(pair.slice(0, at))) now[pair.slice(0, at)] = pair.slice(at + 1);
    }
    if (Object.keys(now).length === 0) return undefined;
    const env = {};
    for (const name of Object.keys(now)) if (now[name] !== base[name]) env[name] = now[name].replaceAll(root, HERE);
    for (const name of Object.keys(base)) if (!(name in now) && !OWN.has(name)) env[name] = null;
    const cwd = readUpTo(path.join(state, "cwd"), 4096).toString().replace(/\n$/, "");
    const way = path.relative(root, cwd);
    return { env, cwd: way === ".." || way.startsWith("../") || path.isAbsolute(way) ? cwd : way };
  } catch {
    return undefined;
  }
}

const ENTER = "trap \"code=\\$?; /usr/bin/env -0 > '$2/env'; pwd -P > '$2/cwd'; exit \\$code\" EXIT\ntroupe_command=$1\nset --\neval \"$troupe_command\"";
const programs = {
  sh: ["/bin/sh", ["-c", ENTER, "sh", command, state]],
  node: [process.execPath, ["-e", command]],
  python: ["python3", ["-c", command]],
};
const before = snapshot();
// Before there is anything to kill: a signal that came between the two would leave it behind.
let child;
function killAll() { try { process.kill(-child.pid, "SIGKILL"); } catch {} }
function leave() { killAll(); process.exit(1); }
process.on("SIGTERM", leave);
const [file, args] = programs[order.program];
const wanted = path.resolve(root, order.cwd);
const isThere = fs.statSync(wanted, { throwIfNoEntry: false })?.isDirectory() === true;
child = spawn(file, args, { cwd: isThere ? wanted : root, env: environment(), stdio: ["ignore", "pipe", "pipe"], detached: true });
const stdout = new KeptOutput(order.outputBytes), stderr = new KeptOutput(order.outputBytes);
let timedOut = false, ended = false;

const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) leave(); }, 500).unref();
const limit = setTimeout(() => { timedOut = true; killAll(); }, order.timeout);

function report(ending) {
  if (ended) return;
  ended = true;
  clearTimeout(limit);
  const left = order.program === "sh" ? stateLeft() : undefined;
  fs.rmSync(state, { recursive: true, force: true });
  const told = { ...ending, timedOut, isThere, stdout: stdout.done(), stderr: stderr.done(), left, changes: changesSince(before) };
  process.stdout.write(JSON.stringify(told) + "\n", () => process.exit(0));
}
let ending;
child.stdout.on("data", (chunk) => stdout.add(chunk));
child.stderr.on("data", (chunk) => stderr.add(chunk));
child.on("error", (error) => report({ missing: error.code ?? "unknown" }));
child.on("exit", (code, signal) => {
  ending = { code, signal };
  killAll();
  setTimeout(() => report(ending), 300);
});
child.on("close", () => { if (ending !== undefined) report(ending); });
`;
