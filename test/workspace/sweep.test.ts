import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { openWorkspace } from "../../src/workspace/open-workspace.ts";
import { sweepFolders, sweepProject } from "../../src/workspace/sweep.ts";
import { hasDied, ownProcess, processOf, stateOfProcess } from "../../src/adapters/process-identity.ts";
import { ownerOfFile, ownerOfFolder, temporaryName, temporaryPrefix } from "../../src/workspace/temporary-owner.ts";
import { root as checkout } from "../architecture/read-house.ts";
import { scratchFolder } from "./scratch.ts";

const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** A process that only runs. */
async function started(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ["-e", "console.log('ready'); setInterval(() => {}, 1e6)"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  await once(child.stdout, "data");
  return child as ChildProcess & { readonly pid: number };
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

describe("a name of something temporary", () => {
  it("TemporaryOwner.O2 tells its process, for any name of a file, and no other name does", () => {
    for (const name of ["a.js", ".env", "x".repeat(200), "ü".repeat(100), "a-b.c-d.troupe", "\u{1f600}".repeat(50)]) {
      const made = temporaryName(name);
      expect(ownerOfFile(made)).toEqual(ownProcess());
      expect(Buffer.byteLength(made)).toBeLessThan(255);
    }
    expect(ownerOfFolder(`${temporaryPrefix("troupe-sandbox-")}aB3xyZ`)).toEqual(ownProcess());
    expect(ownerOfFolder(`${temporaryPrefix(".troupe-doctor-")}aB3xyZ`)).toEqual(ownProcess());
    for (const name of [
      ".app.js.0123456789ab.troupe-tmp",
      "notes.troupe-tmp",
      ".troupe-tmp",
      `${temporaryName("a")}.bak`,
      `x${temporaryName("a")}`,
    ])
      expect(ownerOfFile(name)).toBeUndefined();
    for (const name of ["troupe-sandbox-abc", "troupe-test-aaaaaa", `my-${temporaryPrefix("troupe-git-")}aB3xyZ`])
      expect(ownerOfFolder(name)).toBeUndefined();
  });

  it("ProcessIdentity.O1 counts as a killed process's only where this machine can know it", async () => {
    const child = await started();
    const owner = processOf(child.pid);
    expect(stateOfProcess(owner)).toBe("running");
    expect(stateOfProcess(ownProcess())).toBe("running");
    await killed(child);
    expect(stateOfProcess(owner)).toBe("gone");
    expect(stateOfProcess({ ...owner, machine: "00000000" })).toBe("unknown");
    expect(stateOfProcess({ ...ownProcess(), boot: "00000000" })).toBe("gone");
    expect([hasDied(owner), hasDied(ownProcess()), hasDied({ ...owner, boot: "00000000" })]).toEqual([existsSync("/proc"), false, false]);
  });
});

describe("a sweep of a project", () => {
  it("removes what a killed process left half written, once it is killed, and no file of the user", async () => {
    const root = scratchFolder();
    const child = await started();
    mkdirSync(join(root, "src"));
    const left = join(root, "src", temporaryName("app.js", processOf(child.pid)));
    const kept = ["notes.troupe-tmp", ".app.js.0123456789ab.troupe-tmp", temporaryName("mine.js")];
    for (const path of [left, ...kept.map((name) => join(root, name))]) writeFileSync(path, "half");
    expect(await sweepProject(root)).toEqual({ removed: 0, left: 0 });
    await killed(child);
    expect(await sweepProject(root)).toEqual({ removed: 1, left: 0 });
    expect(readdirSync(join(root, "src"))).toEqual([]);
    expect(readdirSync(root).sort()).toEqual([...kept, "src"].sort());
  });

  it("follows no link, and leaves folders and what is hidden alone", async () => {
    const [root, outside] = [scratchFolder(), scratchFolder()];
    const child = await started();
    const owner = processOf(child.pid);
    await killed(child);
    const elsewhere = join(outside, temporaryName("a", owner));
    writeFileSync(elsewhere, "half");
    symlinkSync(outside, join(root, "link"));
    symlinkSync(elsewhere, join(root, temporaryName("b", owner)));
    mkdirSync(join(root, temporaryName("c", owner)));
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git", temporaryName("d", owner)), "");
    expect(await sweepProject(root)).toEqual({ removed: 0, left: 0 });
    expect(existsSync(elsewhere)).toBe(true);
  });

  it("comes with the first write, and before an output folder is looked at", async () => {
    const child = await started();
    const owner = processOf(child.pid);
    await killed(child);
    const [one, two] = [scratchFolder(), scratchFolder()];
    for (const root of [one, two]) writeFileSync(join(root, temporaryName("probe", owner)), "half");
    await fileWorkspace({ root: one, git: false }).write("a.txt", "1");
    expect(readdirSync(one)).toEqual(["a.txt"]);
    await openWorkspace({ root: two, git: false });
    expect(readdirSync(two)).toEqual([]);
  });
});

describe("a sweep of temporary folders", () => {
  it("removes the copy of a project whose process was killed while its command ran", async () => {
    const temporary = scratchFolder();
    const project = scratchFolder();
    mkdirSync(join(project, "locked"));
    writeFileSync(join(project, "locked", "a.txt"), "1");
    const door = pathToFileURL(join(checkout, "dist/src/workspace/index.js")).href;
    const command = 'require("fs").chmodSync("locked", 0); setTimeout(() => {}, 3_000)';
    const script = `
      import { watch } from "node:fs";
      import { chooseSandbox } from ${JSON.stringify(door)};
      const sandbox = await chooseSandbox("none");
      watch(${JSON.stringify(temporary)}, () => console.log("made"));
      await sandbox.run({ root: ${JSON.stringify(project)}, command: ["node", "-e", ${JSON.stringify(command)}] });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: temporary },
    });
    running.push(child);
    await once(child.stdout, "data");
    expect(await sweepFolders(temporary)).toEqual({ removed: 0, left: 0 });
    await killed(child);
    expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^troupe-sandbox-/)]);
    expect(await sweepFolders(temporary)).toEqual({ removed: 1, left: 0 });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("leaves folders of running processes and of users", async () => {
    const temporary = scratchFolder();
    const names = [`${temporaryPrefix("troupe-git-")}aB3xyZ`, "troupe-sandbox-abc", "work"];
    for (const name of names) mkdirSync(join(temporary, name));
    expect(await sweepFolders(temporary)).toEqual({ removed: 0, left: 0 });
    expect(readdirSync(temporary).sort()).toEqual([...names].sort());
  });
});
