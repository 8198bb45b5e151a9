import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { type ProcessRequest, type ProcessResult, runProcess } from "../../src/workspace/process.ts";
import { findProgram, plainEnvironment } from "../../src/workspace/program-path.ts";
import { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { scratchFolder, until } from "./scratch.ts";

const cwd = scratchFolder();

function runNode(script: string, request: Partial<ProcessRequest> = {}): Promise<ProcessResult> {
  return runProcess({ file: process.execPath, args: ["-e", script], cwd, ...request });
}

/** Starts a script and gives what it printed first, while it goes on. */
async function startNode(script: string, request: Partial<ProcessRequest> = {}): Promise<{ said: string; ended: Promise<ProcessResult> }> {
  const mark = join(scratchFolder(), "said");
  const tell = `
    const log = console.log;
    console.log = (text) => {
      log(text);
      require("fs").writeFileSync(${JSON.stringify(`${mark}.new`)}, text + "\\n");
      require("fs").renameSync(${JSON.stringify(`${mark}.new`)}, ${JSON.stringify(mark)});
    };
  `;
  const ended = runNode(tell + script, request);
  await until(() => existsSync(mark));
  return { said: readFileSync(mark, "utf8"), ended };
}

/** A process that is gone, or only waits for its parent to notice. */
function isDead(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return true;
  try {
    return / [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    return true;
  }
}

async function untilDead(...pids: readonly number[]): Promise<void> {
  await until(() => pids.every(isDead));
}

/** Prints the pids of two children of its group, which would live for minutes, and its own. */
const family = `
  const { spawn } = require("node:child_process");
  const pids = [0, 1].map(() => spawn("sleep", ["300"], { stdio: "ignore" }).pid);
  console.log(JSON.stringify([process.pid, ...pids]));
`;

describe("runProcess", () => {
  it("gives code, output and errors of a program", async () => {
    const result = await runNode(`process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3`);
    expect(result).toEqual({ kind: "exited", code: 3, stdout: "out", stderr: "err", isCut: false });
  });

  it("hands the program its input, and copes with one that does not read it", async () => {
    expect(await runNode(`process.stdin.pipe(process.stdout)`, { stdin: "äöü" })).toMatchObject({ code: 0, stdout: "äöü" });
    expect(await runNode(`process.exit(0)`, { stdin: "x".repeat(4_000_000) })).toMatchObject({ kind: "exited", code: 0 });
    expect(await runNode(`process.stdin.on("data", () => {}).on("end", () => console.log("end"))`)).toMatchObject({ stdout: "end\n" });
  });

  it("knows no shell: arguments arrive as they are", async () => {
    const args = ["$HOME", "`id`", "; touch here", "a b", "*", "\n", "'", '"', "&& false"];
    const result = await runNode(`console.log(JSON.stringify(process.argv.slice(1)))`, {
      args: ["-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...args],
    });
    expect(result).toMatchObject({ code: 0, stdout: `${JSON.stringify(args)}\n` });
    expect(existsSync(join(cwd, "here"))).toBe(false);
  });

  it("gives the program no variable that was not meant for it", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-canary");
    const show = `console.log(JSON.stringify(Object.keys(process.env).sort()))`;
    expect(await runNode(show, { env: { A: "1" } })).toMatchObject({ stdout: '["A"]\n' });
    expect(await runNode(show)).toMatchObject({ stdout: '["LC_ALL","PATH"]\n' });
  });

  it("tells a missing program from a missing folder and from one that may not run", async () => {
    expect(await runProcess({ file: "no-such-program", cwd })).toEqual({ kind: "missing", file: "no-such-program" });
    expect(await runNode("", { cwd: join(cwd, "missing") })).toEqual({ kind: "unstarted", reason: "its working folder does not exist" });
    const file = join(cwd, "plain.txt");
    writeFileSync(file, "no program");
    expect(await runProcess({ file, cwd })).toEqual({ kind: "unstarted", reason: "EACCES" });
    expect(await runProcess({ file: "true", cwd, args: ["x".repeat(10_000_000)] })).toEqual({ kind: "unstarted", reason: "E2BIG" });
  });

  it("keeps the beginning of endless output, marks the cut and still ends", async () => {
    const script = `for (let i = 0; i < 3000; i++) require("fs").writeSync(1, "x".repeat(1000)); require("fs").writeSync(2, "short")`;
    const result = await runNode(script, { outputLimit: 1500 });
    const stdout = `${"x".repeat(1500)}\n[output cut after 1500 bytes]\n`;
    expect(result).toEqual({ kind: "exited", code: 0, stdout, stderr: "short", isCut: true });
  });

  it("starts nothing when the signal has aborted already", async () => {
    const result = await runNode(`require("fs").writeFileSync("started", "")`, { signal: AbortSignal.abort() });
    expect(result).toEqual({ kind: "aborted", stdout: "", stderr: "", isCut: false });
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });
});

describe("the end of a process group", () => {
  it("comes at the time limit, to every process of the group", async () => {
    const clock = new SimulatedClock();
    const { said, ended } = await startNode(`${family} setInterval(() => {}, 1000)`, { clock, timeout: 60_000 });
    await clock.advance(59_999);
    const pids = JSON.parse(said) as number[];
    expect(pids.map(isDead)).toEqual([false, false, false]);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout", ms: 60_000, stdout: said });
    await untilDead(...pids);
    expect(clock.pending).toBe(0);
  });

  it("comes when the signal aborts", async () => {
    const controller = new AbortController();
    const { said, ended } = await startNode(`${family} setInterval(() => {}, 1000)`, { signal: controller.signal });
    controller.abort();
    expect(await ended).toMatchObject({ kind: "aborted" });
    await untilDead(...(JSON.parse(said) as number[]));
  });

  it("comes by force, after the grace period, to who does not listen", async () => {
    const clock = new SimulatedClock();
    const stubborn = `process.on("SIGTERM", () => console.log("no")); console.log(process.pid); setInterval(() => {}, 1000)`;
    const { said, ended } = await startNode(stubborn, { clock, timeout: 1000, grace: 500 });
    await clock.advance(1499);
    expect(isDead(Number(said))).toBe(false);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout" });
    await untilDead(Number(said));
  });

  it("comes to children that outlive a program which ended by itself", async () => {
    const result = await runNode(`${family} process.exit(0)`);
    expect(result).toMatchObject({ kind: "exited", code: 0 });
    await untilDead(...(JSON.parse("stdout" in result ? result.stdout : "[]") as number[]));
  });

  it("is not held up by one that left the group and keeps the output open", async () => {
    const clock = new SimulatedClock();
    const escape = `
      const { spawn } = require("node:child_process");
      const child = spawn("sleep", ["300"], { detached: true, stdio: ["ignore", "inherit", "inherit"] });
      console.log(child.pid);
      child.unref();
    `;
    const { said, ended } = await startNode(escape, { clock });
    while (clock.pending < 2) await nextMacrotask();
    await clock.advance(1000);
    expect(await ended).toMatchObject({ kind: "exited", code: 0, stdout: said });
    process.kill(Number(said), "SIGKILL");
  });
});

describe("programs on the PATH", () => {
  it("are found in absolute folders only", () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "tool"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(folder, "data"), "x", { mode: 0o644 });
    vi.stubEnv("PATH", `.::relative:${folder}:`);
    expect(findProgram("tool")).toBe(join(folder, "tool"));
    expect(findProgram("data")).toBeUndefined();
    expect(plainEnvironment()["PATH"]).toBe(folder);
    vi.stubEnv("PATH", "");
    expect(findProgram("tool")).toBeUndefined();
  });
});
