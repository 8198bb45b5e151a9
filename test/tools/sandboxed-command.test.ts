import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import type { Sandbox } from "../../src/workspace/sandbox.ts";
import { type CommandReport, runSandboxed, type ShellState, START } from "../../src/tools/sandboxed-command.ts";
import { someOf } from "../long.ts";
import { errorOf, scratchFolder, sleepersWith, until } from "../workspace/scratch.ts";

const bubblewrap = await chooseSandbox("auto");
const isolates = bubblewrap.kind === "bubblewrap";
if (!isolates) process.stderr.write(`\nSandboxed commands are tested without isolation only: ${bubblewrap.describe}\n`);
const sandboxes: readonly [string, Sandbox][] = [
  ...(isolates ? [["bubblewrap", bubblewrap] as [string, Sandbox]] : []),
  ["no isolation", await chooseSandbox("none")],
];

interface Given {
  readonly program?: "sh" | "node" | "python";
  readonly state?: ShellState;
  readonly timeout?: number;
}

function run(sandbox: Sandbox, text: string, given: Given = {}, root = scratchFolder()): ReturnType<typeof runSandboxed> {
  return runSandboxed(sandbox, root, { program: "sh", text, state: START, timeout: 20_000, ...given }, AbortSignal.timeout(60_000));
}

async function reportOf(sandbox: Sandbox, text: string, command?: Given, root?: string): Promise<CommandReport> {
  const outcome = await run(sandbox, text, command, root);
  if (outcome.kind !== "ran") throw new Error(outcome.reason);
  return outcome.report;
}

describe.each(someOf(sandboxes, 1))("with %s", { tags: "company" }, (_name, sandbox) => {
  it(
    "ShellDriver.D1 kills what does not end, with all its group, and keeps what it wrote so far",
    { tags: ["company", "long"] },
    async () => {
      const report = await reportOf(sandbox, "trap '' TERM; echo kept > kept.txt; echo begun; sleep 1000 & sleep 1000", { timeout: 2_000 });
      expect(report).toMatchObject({ timedOut: true, signal: "SIGKILL", stdout: "begun\n", changes: { written: [{ path: "kept.txt" }] } });
      expect(await reportOf(sandbox, "true")).toMatchObject({ code: 0 });
    },
  );

  it("passes on no key of this process", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-canary-123456");
    const report = await reportOf(sandbox, "env; cat /proc/self/environ | tr '\\0' '\\n'");
    expect(report.stdout).toContain("PATH=");
    expect(report.stdout).not.toContain("canary");
  });

  it("dies with its caller's signal", async () => {
    const mark = `4713.${process.pid}${sandbox.kind.length}`;
    const stop = new AbortController();
    const root = scratchFolder();
    const running = runSandboxed(sandbox, root, { program: "sh", text: `sleep ${mark}`, state: START, timeout: 60_000 }, stop.signal);
    await until(() => sleepersWith(mark).length > 0);
    stop.abort();
    expect((await errorOf(() => running)).code).toBe("ABORTED");
    await untilGone(mark);
  });
});

describe.each(someOf(sandboxes, 1))("a command in detail, with %s", { tags: "company" }, (_name, sandbox) => {
  it("gives the command to the shell as it is, whatever it holds", async () => {
    const text = `printf '%s|' "it's" '"$HOME"' '\`id\`' 'a
b' "\\$(x)" # and a comment`;
    expect(await reportOf(sandbox, text)).toMatchObject({ code: 0, stdout: 'it\'s|"$HOME"|`id`|a\nb|$(x)|' });
  });

  it("begins at the root of the project where the folder is gone, and says so", async () => {
    expect(await reportOf(sandbox, "true", { state: { cwd: "gone", env: {} } })).toMatchObject({
      code: 0,
      isThere: false,
      left: { cwd: "" },
    });
  });

  it("tells of some megabytes of changes whole, and of more that they are too much", { tags: ["company", "long"] }, async () => {
    const make = (count: number): string => `for n in $(seq ${count}); do head -c 900000 /dev/zero | tr '\\0' '\\001' > f$n; done`;
    const { changes } = await reportOf(sandbox, make(4));
    expect(changes.written.map((file) => "content" in file && [file.content.length, file.content[0]])).toEqual(
      Array.from({ length: 4 }, () => [900_000, "\u0001"]),
    );
    const more = (await reportOf(sandbox, make(6))).changes;
    expect([more.written.length, more.skipped]).toEqual([
      4,
      [5, 6].map((n) => ({ path: `f${n}`, reason: "the command changed too much" })),
    ]);
  });

  it("sees a change that keeps size and time", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "a"), "old");
    const { changes } = await reportOf(
      sandbox,
      "touch -r a /tmp/mark.$$; printf new > a; touch -r /tmp/mark.$$ a; rm /tmp/mark.$$",
      {},
      root,
    );
    expect(changes.written).toEqual([{ path: "a", content: "new" }]);
  });

  it("does not wait for what was left in the background, and ends it", async () => {
    const mark = `4711.${process.pid}${sandbox.kind.length}`;
    expect(await reportOf(sandbox, `sleep ${mark} & echo on`, { timeout: 15_000 })).toMatchObject({
      code: 0,
      stdout: "on\n",
      timedOut: false,
    });
    await untilGone(mark);
  });

  it("bounds what is printed while it comes: the beginning and the end stay", async () => {
    const report = await reportOf(sandbox, "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last");
    expect(report.stdout.length).toBeLessThan(110_000);
    expect(report.stdout).toMatch(/^first\nx+\n\[\d+ bytes left out\]\nx+\nlast\n$/);
  });

  it("keeps no environment that would not fit into the next command", async () => {
    const { left } = await reportOf(sandbox, `export BIG="$(head -c 50000 /dev/zero | sed 's/./é/g')"`, {
      state: { cwd: "", env: { OLD: "1" } },
    });
    expect(left).toEqual({ cwd: "", env: { OLD: "1" } });
  });

  it.each([
    "mkfifo env; ln -s /dev/zero cwd",
    "ln -s /dev/zero env; mkfifo cwd",
    "rm -r .",
    "mkdir env cwd",
    ": > env; : > cwd",
    "head -c 2000000 /dev/zero > env",
  ])("is not kept by what a command puts in the place of its notes: %s", { tags: ["company", "long"] }, async (text) => {
    const report = await reportOf(sandbox, `cd "\${TMPDIR:-/tmp}"/state-*; trap - EXIT; rm -f env cwd; ${text}; echo done`);
    expect(report).toMatchObject({ code: 0, stdout: "done\n", timedOut: false });
  });

  it("takes a forged report for what it is: text that is checked", async () => {
    const outcome = await run(sandbox, `echo '{"code":0}' > /proc/$PPID/fd/1; kill -9 $PPID`);
    expect(outcome).toMatchObject({ kind: "not run" });
  });
});

it.runIf(isolates)("leaves nothing of the machine to a hostile command", async () => {
  const root = scratchFolder();
  writeFileSync(join(root, "a.txt"), "a");
  symlinkSync("/etc/passwd", join(root, "link"));
  const mark = `4712.${process.pid}`;
  const report = await reportOf(
    bubblewrap,
    `rm -rf /; rm -rf --no-preserve-root /usr/bin /project/* 2>/dev/null; ls /root /home /work 2>&1; cat link; (setsid sleep ${mark} &) ; cat /etc/shadow`,
    {},
    root,
  );
  expect(report.stderr).toMatch(/shadow/);
  expect(report.code).not.toBe(0);
  expect(existsSync(join(root, "a.txt"))).toBe(true);
  expect(existsSync("/usr/bin/env")).toBe(true);
  await untilGone(mark);
});

it.runIf(isolates)("survives a fork bomb", { tags: ["company", "long"] }, async () => {
  const report = await reportOf(bubblewrap, "bomb() { bomb | bomb & }; bomb; sleep 3", { timeout: 2_000 });
  expect(report.stderr + String(report.code)).not.toBe("");
  expect(await reportOf(bubblewrap, "echo alive")).toMatchObject({ stdout: "alive\n" });
});

/** A killed process is seen for a moment more. Another lives for an hour, longer than any test. */
async function untilGone(mark: string): Promise<void> {
  await until(() => sleepersWith(mark).length === 0);
}
