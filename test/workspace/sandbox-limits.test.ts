import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type BubblewrapMeans, bubblewrapSandbox } from "../../src/workspace/bubblewrap.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { canMeasureTrees } from "../../src/workspace/limit-watch.ts";
import { findProgram } from "../../src/workspace/program-path.ts";
import { limitText, type Sandbox, type SandboxLimits, type SandboxResult } from "../../src/workspace/sandbox.ts";
import { someOf } from "../long.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

const MIB = 1024 ** 2;
const bubblewrap = await chooseSandbox("auto");
const isolates = bubblewrap.kind === "bubblewrap";
const hasPython = findProgram("python3") !== undefined;
const sandboxes: readonly [string, Sandbox][] = [
  ["no isolation", await chooseSandbox("none")],
  ...(isolates ? [["bubblewrap", bubblewrap] as [string, Sandbox]] : []),
];

function runScript(sandbox: Sandbox, script: string, limits: Partial<SandboxLimits>): Promise<SandboxResult> {
  const root = join(scratchFolder(), "project");
  mkdirSync(root);
  writeFileSync(join(root, "script.mjs"), script);
  return sandbox.run({ root, command: ["node", "script.mjs"], limits, timeout: 25_000 });
}

/** Starts programs, each of which holds so many bytes and then waits. */
function holders(count: number, bytes: number): string {
  const held = `const held = Buffer.alloc(${bytes}, 1); setInterval(() => held.fill(2), 1e3)`;
  return `
    import { spawn } from "node:child_process";
    for (let n = 0; n < ${count}; n++) spawn(process.execPath, ["-e", ${JSON.stringify(held)}], { stdio: "ignore" });
    setInterval(() => {}, 1e6);
  `;
}

describe.runIf(canMeasureTrees).each(sandboxes)("with %s", (_name, sandbox) => {
  it("Sandbox.S7 stops five processes each of which keeps to a bound that they pass together", { tags: ["company", "long"] }, async () => {
    const result = await runScript(sandbox, holders(5, 100 * MIB), { memory: 400 * MIB });
    expect(result).toMatchObject({ kind: "limit", bound: "memory" });
    if (result.kind !== "limit") return;
    expect(result.used).toBeGreaterThan(result.limit);
  });

  it("Sandbox.S7 lets them be where they keep to it together", async () => {
    const result = await runScript(sandbox, `${holders(2, 20 * MIB)}; setTimeout(() => process.exit(3), 300)`, { memory: 1_000 * MIB });
    expect(result).toMatchObject({ kind: "exited", code: 3 });
  });

  it("refuses a limit that is none", async () => {
    for (const limits of [{ memory: 0 }, { files: 1.5 }, { memori: 5 }, { bytes: "1" }] as Partial<SandboxLimits>[])
      expect(await errorOf(() => runScript(sandbox, "", limits))).toMatchObject({ name: "UsageError", code: "OPTION_INVALID" });
  });
});

describe.runIf(isolates)("with bubblewrap alone", () => {
  const many = (folders: readonly string[]): string => `
    import fs from "node:fs";
    let made = 0;
    try { for (; made < 30_000; made++) fs.writeFileSync(${JSON.stringify(folders)}[made % ${folders.length}] + "/" + made, ""); } catch {}
    console.log(made);
    setInterval(() => {}, 1e6);
  `;

  it.each(someOf([[["/project", "/tmp", "/dev/shm"]], [["/project"]], [["/tmp"]]], 1))(
    "Sandbox.S7 stops a command that makes very many files in %j",
    async (folders) => {
      const result = await runScript(bubblewrap, many(folders), { files: 2_000 });
      expect(result).toMatchObject({ kind: "limit", bound: "files", limit: 2_000 });
      // Not one more file is made if the kernel keeps the bound.
      const isKept = !bubblewrap.describe.includes("number of files");
      if (isKept && "stdout" in result) expect(Number(result.stdout)).toBeLessThanOrEqual(2_000);
    },
  );

  it("Sandbox.S7 refuses bytes beyond the bound, in all folders together", async () => {
    const script = `
      import fs from "node:fs";
      const chunk = Buffer.alloc(1_000_000);
      let n = 0;
      try { for (; n < 100; n++) fs.writeFileSync(["/project/", "/tmp/", "/dev/shm/"][n % 3] + n, chunk); } catch (error) { console.log(error.code, n); }
    `;
    const result = await runScript(bubblewrap, script, { bytes: 8 * MIB });
    expect(result).toMatchObject({ kind: "exited", code: 0, stdout: expect.stringMatching(/^ENOSPC [678]\n/) });
  });

  it("Sandbox.S7 leaves room for a project of many small files", async () => {
    const root = join(scratchFolder(), "project");
    mkdirSync(root);
    for (let n = 0; n < 500; n++) writeFileSync(join(root, `${n}.txt`), "1");
    const command = ["node", "-e", 'console.log(require("fs").readdirSync(".").length)'] as const;
    expect(await bubblewrap.run({ root, command, limits: { files: 5, bytes: 4096 } })).toMatchObject({ stdout: "500\n" });
  });
});

describe.runIf(isolates && hasPython)("memory that no process has mapped", () => {
  it("Sandbox.S7 counts: files without a name", async () => {
    const script = `
      import { spawnSync } from "node:child_process";
      const hold = "import os, time\\nfor n in range(5):\\n  fd = os.memfd_create(str(n))\\n  for m in range(10): os.write(fd, b'x' * 5000000)\\ntime.sleep(1000)";
      spawnSync("python3", ["-c", hold]);
    `;
    expect(await runScript(bubblewrap, script, { memory: 150 * MIB })).toMatchObject({ kind: "limit", bound: "memory" });
  });
});

describe.runIf(isolates)("a machine that offers less", () => {
  const root = process.getuid?.() === 0;
  const means: BubblewrapMeans = {
    bwrap: findProgram("bwrap") ?? "bwrap",
    setpriv: root ? findProgram("setpriv") : undefined,
    prlimit: undefined,
    limitsProcesses: false,
    forbidsNamespaces: false,
    room: undefined,
    cgroups: { reason: "there is no cgroup v2" },
  };

  it("watches the number of files where it cannot be bounded, and says so", async () => {
    const sandbox = bubblewrapSandbox(means);
    expect(sandbox.describe.split("; ").slice(1)).toEqual([
      "memory of all processes together: watched every 250 ms, there is no cgroup v2",
      "memory and file size of each process: no limit (prlimit is missing)",
      "number of processes: watched every 250 ms (it cannot be set on this machine)",
      "number of files: watched every 250 ms, bytes of each folder instead of all (unshare does not work here)",
    ]);
    const script = `
      import fs from "node:fs";
      for (let n = 0; n < 3_000; n++) fs.writeFileSync("/tmp/" + n, "");
      setInterval(() => {}, 1e6);
    `;
    expect(await runScript(sandbox, script, { files: 1_000 })).toMatchObject({ kind: "limit", bound: "files", limit: 1_000 });
  });

  it("LimitWatch.W1 watches the number of processes where it cannot be bounded", async () => {
    const script = `
      import { spawn } from "node:child_process";
      for (let n = 0; n < 40; n++) spawn("sleep", ["1000"], { stdio: "ignore" });
      setInterval(() => {}, 1e6);
    `;
    expect(await runScript(bubblewrapSandbox(means), script, { processes: 30 })).toMatchObject({
      kind: "limit",
      bound: "processes",
      limit: 30,
    });
  });

  it("puts the command into a group where one can be made, and has nothing to say then", async () => {
    const [unshare, mount, prlimit] = [findProgram("unshare"), findProgram("mount"), findProgram("prlimit")];
    const parent = scratchFolder();
    const room = unshare === undefined || mount === undefined ? undefined : { unshare, mount };
    const sandbox = bubblewrapSandbox({ ...means, prlimit, room, cgroups: { parent } });
    expect(sandbox.describe).not.toMatch(/memory of all|processes:/);
    expect(await runScript(sandbox, "console.log(1)", { memory: 300 * MIB, bytes: MIB })).toMatchObject({ kind: "exited", stdout: "1\n" });
    const [group = ""] = readdirSync(parent);
    expect(readFileSync(join(parent, group, "memory.max"), "utf8")).toBe(String(301 * MIB));
    expect(readFileSync(join(parent, group, "cgroup.procs"), "utf8")).toBe("0\n");
  });
});

describe("limits of a sandbox", () => {
  it("are told in words with their unit", () => {
    expect(limitText({ bound: "memory", limit: 2 * 1024 * MIB, used: 3_590_000_000 })).toBe(
      "3424 MiB of memory in all its processes together, where 2048 MiB are allowed",
    );
    expect(limitText({ bound: "files", limit: 50_000, used: 50_001 })).toBe("50001 new files and folders, where 50000 are allowed");
  });
});
