/**
 * The program that runs jobs inside a sandbox: the text of a script for `node -e`, for Node 20.19 and later. A job has files and steps, and a
 * step is a command with rules for its result.
 *
 * The order comes on standard input, so that no command can read it in a list of processes. Every job begins with the project as it was: in
 * bubblewrap from the source that is mounted read only, elsewhere from a copy. No shell reads a command. Each report is one line that begins
 * with the order's nonce; a line without it is no report. A process that a step leaves behind is killed before its result is told: in
 * bubblewrap every process of the sandbox, elsewhere those of its process group.
 */
export const COMMAND_DRIVER: string = String.raw`
const fs = require("node:fs"), os = require("node:os"), path = require("node:path"), vm = require("node:vm");
const { spawn, execFileSync } = require("node:child_process");
const order = JSON.parse(fs.readFileSync(0, "utf8"));
const root = process.cwd();
const tell = (value) => new Promise((done) => process.stdout.write("\n" + order.nonce + " " + JSON.stringify(value) + "\n", done));
const textOf = (file) => { try { return fs.readFileSync(file, "utf8"); } catch { return ""; } };

// Elsewhere "every process" would be every process of the user.
const isAlone = order.source !== null && os.hostname() === "sandbox" && textOf("/proc/1/comm") === "bwrap\n";
const own = isAlone ? undefined : fs.mkdtempSync(path.join(os.tmpdir(), "checks-"));
const source = isAlone ? order.source : path.join(own, "source");
const home = isAlone ? os.tmpdir() : path.join(own, "home");
// The system's programs: those of Node.js take paths of a limited length only, and a program can make longer ones.
const run = (...words) => execFileSync(words[0], words.slice(1), { stdio: "ignore", timeout: order.cleanTime });
const copy = (from, to) => run("cp", "-R", from + "/.", to + "/");
if (!isAlone) { fs.mkdirSync(source); copy(root, source); fs.mkdirSync(home); }

function empty(folder) {
  const remove = () => run("find", folder, "-mindepth", "1", "-delete");
  try { remove(); } catch { run("chmod", "-R", "u+rwx", folder); remove(); }
}
function restore() {
  for (const folder of isAlone ? [root, home, "/dev/shm"] : [root, home]) empty(folder);
  copy(source, root);
}

function killAll(child) {
  try { process.kill(-child.pid, "SIGKILL"); } catch {}
  if (isAlone) try { process.kill(-1, "SIGKILL"); } catch {}
}

function isInside(file) {
  try { const real = fs.realpathSync(file); return real === root || real.startsWith(root + path.sep); } catch { return false; }
}

function manifest() {
  try { const value = JSON.parse(textOf(path.join(root, "package.json"))); return typeof value === "object" && value !== null ? value : {}; } catch { return {}; }
}
function binOf(name) {
  const { bin, name: own } = manifest();
  const target = typeof bin === "string" ? (String(own ?? "").split("/").pop() === name ? bin : undefined) : Object.hasOwn(bin ?? {}, name) ? bin[name] : undefined;
  return typeof target === "string" ? target : undefined;
}
function entryPointOf(name) {
  const section = /^\[project\.scripts\]\s*$([^[]*)/m.exec(textOf(path.join(root, "pyproject.toml")))?.[1] ?? "";
  for (const line of section.split("\n")) {
    const found = /^\s*"?([\w.-]+)"?\s*=\s*["']([\w.]+):(\w+)["']/.exec(line);
    if (found !== null && found[1] === name) return found;
  }
  return undefined;
}
const CALL = "import sys; from importlib import import_module; name, module, function = sys.argv[1:4]; sys.argv[:4] = [name]; sys.exit(getattr(import_module(module), function)())";

function programOf([name, ...args], depth = 0) {
  if (name === "node") return [process.execPath, args];
  if (name === "python" || name === "python3") return ["python3", args];
  if (/^(npm|pnpm|yarn)$/.test(name) && depth < 3) {
    const words = args[0] === "run" || args[0] === "run-script" ? args.slice(1) : args;
    const script = manifest().scripts?.[words[0]];
    if (typeof script === "string" && /^[\w./:=@, -]+$/.test(script)) {
      const rest = words.slice(1);
      return programOf([...script.trim().split(/ +/), ...(rest[0] === "--" ? rest.slice(1) : rest)], depth + 1);
    }
    return [name, args];
  }
  if (name === "npx" && args.length > 0 && binOf(args[0]) !== undefined) return programOf(args, depth + 1);
  const file = binOf(name) ?? (fs.statSync(path.join(root, name), { throwIfNoEntry: false })?.isFile() === true ? name : undefined);
  if (file !== undefined && isInside(path.join(root, file))) {
    if (/\.[cm]?js$/.test(file) || /^#!.*\bnode\b/.test(textOf(path.join(root, file)).slice(0, 200))) return [process.execPath, [file, ...args]];
    if (/\.py$/.test(file) || /^#!.*\bpython/.test(textOf(path.join(root, file)).slice(0, 200))) return ["python3", [file, ...args]];
    return [path.join(root, file), args];
  }
  const entry = entryPointOf(name);
  return entry === undefined ? [name, args] : ["python3", ["-c", CALL, entry[1], entry[2], entry[3], ...args]];
}

class Kept {
  constructor() { this.chunks = []; this.size = 0; }
  add(chunk) { if (this.size <= order.outputBytes) this.chunks.push(chunk); this.size += chunk.length; return this.size <= order.outputBytes; }
  get text() { return Buffer.concat(this.chunks).subarray(0, order.outputBytes).toString(); }
}

function runStep(step, limit) {
  return new Promise((settle) => {
    const [file, args] = programOf(step.run);
    const libraries = [root, path.join(root, "src"), path.join(root, ".packages")].filter((folder) => fs.existsSync(folder)).join(path.delimiter);
    const env = { ...process.env, HOME: home, TMPDIR: home, PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1", NO_COLOR: "1" };
    const got = { code: null, signal: null, timedOut: false, flooded: false, missing: null };
    const stdout = new Kept(), stderr = new Kept();
    let child, hasEnded = false, isTold = false;
    const finish = () => {
      if (isTold) return;
      isTold = true;
      clearTimeout(timer);
      settle({ ...got, stdout: stdout.text, stderr: stderr.text });
    };
    const timer = setTimeout(() => { got.timedOut = true; killAll(child); }, limit);
    try { child = spawn(file, args, { cwd: root, env, stdio: ["pipe", "pipe", "pipe"], detached: true }); }
    catch (error) { got.missing = error.code ?? "unknown"; finish(); return; }
    const take = (kept) => (chunk) => { if (!kept.add(chunk) && !got.flooded) { got.flooded = true; killAll(child); } };
    child.stdout.on("data", take(stdout));
    child.stderr.on("data", take(stderr));
    child.stdin.on("error", () => {});
    child.stdin.end(step.stdin ?? "");
    child.on("error", (error) => { if (child.pid === undefined) { got.missing = error.code ?? "unknown"; finish(); } });
    child.on("exit", (code, signal) => {
      hasEnded = true;
      Object.assign(got, { code, signal });
      killAll(child);
      setTimeout(finish, 300);
    });
    child.on("close", () => { if (hasEnded) finish(); });
  });
}

const INTERNAL = /^ +at .*\bnode:.*\n?/gm;
const clean = (text) => text.replaceAll(root + "/", "").replaceAll(root, ".").replace(/\(node:\d+\)/g, "(node)").replace(INTERNAL, "");
const cut = (text, limit) => text.length <= limit ? text : text.slice(0, Math.ceil(limit * 0.7)) + " [...] " + text.slice(text.length - Math.floor(limit * 0.3));
// Different texts must not look alike on a screen: control characters, marks without width and unusual spaces are shown as codes.
const HIDDEN = /[\u007f-\u00a0\u00ad\u0300-\u036f\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g;
const escaped = (text, pattern) => text.replace(pattern, (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"));
const quoted = (text, limit = 300) => escaped(JSON.stringify(cut(clean(text), limit)), HIDDEN);
// The same letters in other code points: only their numbers tell the difference.
const spelled = (text) => escaped(JSON.stringify(cut(clean(text), 200)), /[^\x00-\x7f]/g);

function doesMatch(pattern, text) {
  return vm.runInNewContext('new RegExp(pattern, "m").test(text)', { pattern, text }, { timeout: order.matchTime });
}

const plainOf = (text) => text.replaceAll("\r\n", "\n");
const unended = (text) => text.endsWith("\n") ? text.slice(0, -1) : text;

// With a last line break where the other has one, because it does not count: nobody shall mend it.
const alike = (text, other) => text === "" ? "" : unended(text) + (other.endsWith("\n") ? "\n" : "");

// The first line that differs, where the texts are too long to be shown whole.
function difference(wanted, got) {
  if (wanted.length <= 300 && got.length <= 300) return "";
  const [all, lines] = [wanted.split("\n"), got.split("\n")];
  const at = all.findIndex((line, index) => line !== lines[index]);
  const place = at === -1 ? all.length : at;
  return "; line " + (place + 1) + " should be " + quoted(all[place] ?? "", 200) + " and is " + (lines[place] === undefined ? "missing" : quoted(lines[place], 200));
}

function isSpelledOtherwise(wanted, text) {
  return text.normalize("NFC").includes(wanted.normalize("NFC"));
}

// Returns what is wrong with a text, or throws for a rule that cannot be applied.
function wrongIn(what, text, rule) {
  const problems = [], plain = plainOf(text);
  // Told once: a text can break many rules.
  const is = (shown = plain) => problems.length === 0 ? " and is " + quoted(shown) : "";
  if (rule.equals !== undefined) {
    const wanted = plainOf(rule.equals);
    if (unended(plain) !== unended(wanted)) {
      const hint = unended(plain).normalize("NFC") === unended(wanted).normalize("NFC") ? "; the letters have other code points: " + spelled(wanted) + " and " + spelled(plain) : "";
      problems.push(what + " should be " + quoted(wanted) + is(alike(plain, wanted)) + difference(wanted, plain) + hint);
    }
  }
  for (const part of rule.contains ?? []) {
    const wanted = plainOf(part);
    if (plain.includes(wanted)) continue;
    const hint = isSpelledOtherwise(wanted, plain) ? "; the letters have other code points: " + spelled(wanted) : "";
    problems.push(what + " should contain " + quoted(part) + is() + hint);
  }
  for (const part of rule.lacks ?? []) if (plain.includes(plainOf(part))) problems.push(what + " should not contain " + quoted(part) + is());
  if (rule.matches !== undefined) {
    let isMatch;
    try { isMatch = doesMatch(rule.matches, plain); }
    catch (error) {
      const why = error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? "takes longer than " + order.matchTime + " ms" : "is invalid: " + error.message;
      throw Object.assign(new Error("The regular expression " + quoted(rule.matches, 100) + " " + why), { isRule: true });
    }
    if (!isMatch) problems.push(what + " should match /" + cut(rule.matches, 200) + "/m" + is());
  }
  return problems;
}

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
    } finally { fs.closeSync(fd); }
  } catch { return undefined; }
}

// A crash is no refusal, though it ends with a failure too. A script that the check itself brings may throw.
function isUncaught(run, { code, stderr }) {
  const isOwn = run.some((word, at) => at > 0 && at < 3 && /^(-e|-p|-c|--eval|--print)$/.test(word));
  return !isOwn && code !== 0 && (/^Node\.js v\d+\.\d+/m.test(stderr) || /^Traceback \(most recent call last\):$/m.test(stderr));
}

function problemsOf(step, got, limit) {
  if (got.missing !== null) return ["it could not be started: " + (got.missing === "ENOENT" ? "the program " + quoted(step.run[0], 100) + " is not there" : got.missing)];
  if (got.flooded) return ["it printed more than " + order.outputBytes + " bytes and was stopped"];
  if (got.timedOut) return ["it did not end within " + limit + " ms and was stopped"];
  const problems = [], wanted = step.exit ?? 0;
  if (wanted === "any") return problems;
  if (got.code === null) problems.push("it was ended by " + got.signal);
  else if (wanted === "failure" ? got.code === 0 : got.code !== wanted) problems.push("the exit code should be " + (wanted === "failure" ? "another than 0" : wanted) + " and is " + got.code);
  else if (wanted !== 0 && isUncaught(step.run, got)) problems.push("it should refuse with a message, and crashed: an error was not caught");
  if (step.stdout !== undefined) problems.push(...wrongIn("stdout", got.stdout, step.stdout));
  if (step.stderr !== undefined) problems.push(...wrongIn("stderr", got.stderr, step.stderr));
  for (const { path: name, absent, ...rule } of step.files ?? []) {
    if (absent === true) {
      if (fs.lstatSync(path.join(root, name), { throwIfNoEntry: false }) !== undefined) problems.push("the file " + quoted(name) + " should not be there and is");
      continue;
    }
    const text = readFile(name);
    if (text === undefined) problems.push("the file " + quoted(name) + " should be there and is not");
    else problems.push(...wrongIn("the file " + quoted(name), text, rule));
  }
  return problems;
}

async function runJob(job) {
  for (const { path: name, content, base64 } of job.given) {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, base64 === undefined ? content : Buffer.from(base64, "base64"));
  }
  const steps = [], end = Date.now() + job.timeout;
  for (const step of job.steps) {
    const got = await runStep(step, Math.max(1, end - Date.now()));
    const told = { ...got, stdout: cut(clean(got.stdout), order.shown), stderr: cut(clean(got.stderr), order.shown) };
    try { told.problems = problemsOf(step, got, job.timeout).map((problem) => cut(problem, 1000)).slice(0, 10); }
    catch (error) {
      if (!error.isRule) throw error;
      if (steps.some(({ problems }) => problems.length > 0)) break;
      return { steps: [...steps, { ...told, problems: [] }], unfit: error.message };
    }
    steps.push(told);
    // A process that it left running, or could not start, tells nothing about the steps after it.
    const isOver = got.timedOut || got.flooded || got.missing !== null;
    if (told.problems.length > 0 && (isOver || job.goesOn !== true)) break;
  }
  return { steps };
}

(async () => {
  for (const [at, job] of order.jobs.entries()) {
    // Not the fault of this job: the next sandbox begins with it.
    try { if (at > 0) restore(); } catch { break; }
    await tell({ began: job.id });
    let report;
    try { report = await runJob(job); }
    catch (error) { report = { steps: [], broken: cut(clean(String(error.message ?? error)), 300) }; }
    await tell({ id: job.id, ...report });
    if (report.broken !== undefined) break;
  }
  process.exit(0);
})();
`;
