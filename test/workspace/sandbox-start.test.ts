import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { refusedSandbox, type Sandbox, type SandboxProcess, type SandboxStart } from "../../src/workspace/sandbox.ts";
import { errorOf, scratchFolder, sleepersWith, until } from "./scratch.ts";

const isolated = await chooseSandbox("auto");
const sandboxes: readonly [string, Sandbox][] = [
  ["no isolation", await chooseSandbox("none")],
  ...(isolated.kind === "bubblewrap" ? [["bubblewrap", isolated] as [string, Sandbox]] : []),
];

/** Starts a script, and collects its output. */
function started(sandbox: Sandbox, script: string, request: Partial<SandboxStart> = {}) {
  const root = scratchFolder();
  writeFileSync(join(root, "script.mjs"), script);
  const stop = new AbortController();
  const said = { text: "" };
  const program: SandboxProcess | undefined = sandbox.start?.({
    ...{ root, command: ["node", "script.mjs"], signal: stop.signal, onOutput: (chunk) => (said.text += Buffer.from(chunk).toString()) },
    ...request,
  });
  if (program === undefined) throw new Error("expected a sandbox that keeps a program");
  return { root, program, said, stop, heard: (text: string) => until(() => said.text.includes(text)) };
}

const ECHO = `process.stdin.on("data", (text) => process.stdout.write("heard " + text)); process.stderr.write("err"); `;

describe.each(sandboxes)("a program that stays, with %s", (_name, sandbox) => {
  it("reads and writes, in a copy of the project, until its signal ends it with all it started", async () => {
    const mark = `5001.${process.pid}${sandbox.kind.length}`;
    const script = `${ECHO} (await import("node:child_process")).spawn("sleep", ["${mark}"]); (await import("node:fs")).writeFileSync("new.txt", "");`;
    const { root, program, heard, stop } = started(sandbox, script);
    program.write("one\n");
    await heard("heard one\n");
    program.write("two\n");
    await heard("heard two\n");
    await until(() => sleepersWith(mark).length === 1);
    stop.abort();
    expect(await program.ended).toMatchObject({ kind: "aborted", stdout: "", stderr: "err" });
    await until(() => sleepersWith(mark).length === 0);
    expect(readdirSync(root)).toEqual(["script.mjs"]);
    expect(() => program.write("three\n")).not.toThrow();
  });

  it("reports its own end, and does not begin once its signal has aborted", async () => {
    expect(await started(sandbox, "process.exit(7)").program.ended).toMatchObject({ kind: "exited", code: 7 });
    expect(await started(sandbox, ECHO, { signal: AbortSignal.abort() }).program.ended).toMatchObject({ kind: "aborted" });
  });

  it("has the limits of a command: address space, mounts, network and keys", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-canary-1234");
    const outside = scratchFolder();
    writeFileSync(join(outside, "shown.txt"), "shown");
    const isOpen = sandbox.kind === "none";
    const shown = isOpen ? join(outside, "shown.txt") : "/mounted/shown.txt";
    const mounts = [{ from: outside, to: "/mounted" }];
    const script = `console.log((await import("node:fs")).readFileSync("${shown}", "utf8"), JSON.stringify(process.env).includes("canary"));
      try { new Uint8Array(3e9); console.log("room") } catch { console.log("no room") }`;
    const { program, said } = started(sandbox, script, { limits: { addressSpace: 3 * 1024 ** 3 }, ...(isOpen ? {} : { mounts }) });
    expect(await program.ended).toMatchObject({ kind: "exited", code: 0 });
    expect(said.text).toBe("shown false\nno room\n");
    if (isOpen) expect(await started(sandbox, ECHO, { mounts }).program.ended).toMatchObject({ kind: "refused" });
    const bad = started(sandbox, ECHO, { network: ["no port"] });
    expect((await errorOf(() => bad.program.ended)).code).toBe("OPTION_INVALID");
    vi.unstubAllEnvs();
  });

  it("leaves no copy behind, however it ends", async () => {
    const folder = scratchFolder();
    // A sandbox that drops root needs to pass this folder.
    chmodSync(folder, 0o711);
    vi.stubEnv("TMPDIR", folder);
    const one = started(sandbox, ECHO);
    one.program.write("one\n");
    await one.heard("one");
    one.stop.abort();
    await one.program.ended;
    await started(sandbox, "process.exit(1)").program.ended;
    vi.unstubAllEnvs();
    expect(readdirSync(folder).filter((name) => name.startsWith("troupe-sandbox-"))).toEqual([]);
  });
});

it("is refused where no sandbox works, with the reason", async () => {
  const refused = refusedSandbox("bubblewrap is not installed", "Install it.");
  expect(await started(refused, ECHO).program.ended).toEqual({
    kind: "refused",
    reason: "bubblewrap is not installed",
    hint: "Install it.",
  });
});
