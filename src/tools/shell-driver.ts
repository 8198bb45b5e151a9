import { DRIVER_BASE } from "./sandbox-driver.ts";

/**
 * The shell that stays. It reads an unguessable mark for each command from a stream of its own, takes the command from a file, and answers with
 * the mark and the exit code on another stream: what commands print goes elsewhere, so it cannot be taken for an end. `command` keeps an error of
 * the command, such as of syntax, from ending the shell. A process of its group waits for the end of the driver, whatever that is, and ends the
 * group. The text is fixed; no command is ever a part of it.
 */
const LOOP = `troupe_state=$1
set --
( (trap "" HUP INT TERM; read -r troupe_gone <&5; kill -KILL 0) </dev/null >/dev/null 2>&1 3<&- 4>&- & )
exec 5<&-
troupe_note() { /usr/bin/env -0 > "$troupe_state/env"; pwd -P > "$troupe_state/cwd"; }
trap 'troupe_code=$?; troupe_note 2>/dev/null; exit $troupe_code' EXIT
while IFS= command read -r troupe_mark <&3; do
  command eval "$(/bin/cat "$troupe_state/command")" 3<&- 4>&-
  { troupe_code=$?; troupe_note; command printf '%s %s\\n' "$troupe_mark" "$troupe_code" >&4; } 2>/dev/null
done`;

/**
 * The program that keeps a shell inside a sandbox: the text of a script for `node -e`. It gets its bounds as an argument, then one order a line
 * of its standard input: a command, and the files of the project that changed outside. It answers each with one line: the mark of the order and
 * a report.
 *
 * `ShellDriver.D1` it ends when its input ends, and the group of the shell ends with it. `ShellDriver.D2` at the time limit of a command the group
 * is killed; the next command begins another shell in the same copy of the project. `ShellDriver.D3` a change of the project that was not
 * reported with a command, of a process in the background, is reported with the next.
 */
export const SHELL_DRIVER: string =
  DRIVER_BASE +
  String.raw`
const LOOP = ${JSON.stringify(LOOP)};
let shell, answered, isThere = true, heard = 0, last = snapshot();
let stdout = new KeptOutput(order.outputBytes), stderr = new KeptOutput(order.outputBytes);
const bounds = order;
function killAll() { try { process.kill(-shell.pid, "SIGKILL"); } catch {} }
function leave() { killAll(); process.exit(1); }
process.on("SIGTERM", leave);
process.stdout.on("error", leave);
process.stdin.on("end", leave);

function begin() {
  const wanted = path.resolve(root, order.cwd);
  isThere = fs.statSync(wanted, { throwIfNoEntry: false })?.isDirectory() === true;
  const begun = spawn("/bin/sh", ["-c", LOOP, "sh", state], {
    cwd: isThere ? wanted : root, env: environment(), stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"], detached: true,
  });
  shell = begun;
  begun.stdout.on("data", (chunk) => { heard++; stdout.add(chunk); });
  begun.stderr.on("data", (chunk) => { heard++; stderr.add(chunk); });
  for (const stream of begun.stdio) stream?.on("error", () => {});
  let line = "";
  begun.stdio[4].on("data", (chunk) => {
    line = (line + chunk).slice(-200);
    const code = line.split("\n").find((one) => one.startsWith(order.mark + " "))?.slice(order.mark.length + 1);
    if (shell === begun && code !== undefined && line.endsWith("\n")) answered?.({ code: Number(code) });
  });
  const ended = (ending) => {
    if (shell !== begun) return;
    killAll();
    shell = undefined;
    answered?.(ending);
  };
  begun.on("error", (error) => ended({ missing: error.code ?? "unknown" }));
  begun.on("exit", (code, signal) => ended({ code, signal }));
}

// What was written before the answer lies in the streams by now.
async function drained() {
  for (let quiet = 0, turns = 0; quiet < 3 && turns < 300; turns++) {
    const before = heard;
    await new Promise(setImmediate);
    quiet = before === heard ? quiet + 1 : 0;
  }
}

// The first of a file's folders that is none, but a link or a file that a command put there.
function blockOf(name) {
  let at = root;
  for (const part of name.split("/").slice(0, -1)) {
    at = path.join(at, part);
    const seen = fs.lstatSync(at, { throwIfNoEntry: false });
    if (seen !== undefined && !seen.isDirectory()) return at;
  }
}

function isSame(at, bytes) {
  try { return readUpTo(at, bytes.length)?.equals(bytes) === true; } catch { return false; }
}

// Removes a file, or for another one in its place a folder too, and knows nothing of it any more.
function drop(name, options) {
  try { fs.rmSync(path.join(root, name), { force: true, ...options }); } catch (error) { if (error.code !== "ERR_FS_EISDIR") throw error; }
  last?.delete(name);
  if (options?.recursive) for (const key of last?.keys() ?? []) if (key.startsWith(name + "/")) last.delete(key);
}

function takeIn({ written, removed }) {
  for (const name of removed) if (blockOf(name) === undefined) drop(name);
  for (const { path: name, base64, mode } of written) {
    const at = path.join(root, name), block = blockOf(name), bytes = Buffer.from(base64, "base64");
    if (block !== undefined) drop(path.relative(root, block));
    if (!isSame(at, bytes)) {
      drop(name, fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory() ? { recursive: true } : {});
      fs.mkdirSync(path.dirname(at), { recursive: true });
      fs.writeFileSync(at, bytes, { flag: "wx", mode });
    }
    last?.set(name, seenAt(name));
  }
}

async function perform(line) {
  order = { ...bounds, ...JSON.parse(line) };
  takeIn(order.files);
  for (const name of ["command", "env", "cwd"]) fs.rmSync(path.join(state, name), { recursive: true, force: true });
  fs.mkdirSync(state, { recursive: true });
  fs.writeFileSync(path.join(state, "command"), order.command, { flag: "wx" });
  const isNew = shell === undefined;
  if (isNew) begin();
  const ending = new Promise((resolve) => { answered = resolve; });
  let timedOut = false;
  const limit = setTimeout(() => { timedOut = true; killAll(); }, order.timeout);
  shell.stdio[3].write(order.mark + "\n");
  const { code, signal, missing } = await ending;
  answered = undefined;
  clearTimeout(limit);
  await drained();
  const after = snapshot();
  const report = {
    code, signal, missing, timedOut, isThere: !isNew || isThere, isNew, hasEnded: shell === undefined,
    stdout: stdout.done(), stderr: stderr.done(), left: timedOut ? undefined : stateLeft(), changes: changesBetween(last, after),
  };
  last = after;
  stdout = new KeptOutput(order.outputBytes);
  stderr = new KeptOutput(order.outputBytes);
  process.stdout.write(order.mark + " " + JSON.stringify(report) + "\n");
}

(async () => {
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) await perform(line);
})().catch((error) => {
  process.stderr.write(error.message);
  leave();
});
`;
