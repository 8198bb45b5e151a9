import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cgroup, type CgroupPlace, findCgroups } from "../../src/workspace/cgroup.ts";
import { defaultSandboxLimits } from "../../src/workspace/sandbox.ts";
import { ownProcess } from "../../src/adapters/process-identity.ts";
import { ownerOfFolder } from "../../src/workspace/temporary-owner.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { scratchFolder } from "./scratch.ts";

/** A tree as the kernel would show it: `own` is the group of this process. */
function tree(own: string, files: readonly string[] = ["memory.max", "pids.max", "cgroup.procs"]): Required<CgroupPlace> {
  const root = scratchFolder();
  writeFileSync(join(root, "cgroup.controllers"), "memory pids");
  mkdirSync(join(root, own), { recursive: true });
  const self = join(scratchFolder(), "cgroup");
  writeFileSync(self, `12:pids:/x\n0::${own}\n`);
  const make = (folder: string): void => {
    mkdirSync(folder);
    for (const file of files) writeFileSync(join(folder, file), "");
  };
  return { root, self, make };
}

describe("findCgroups", () => {
  it("finds the folder beside the group of this process", () => {
    const place = tree("/user.slice/app.slice/shell.scope");
    expect(findCgroups(place)).toEqual({ parent: join(place.root, "user.slice/app.slice") });
  });

  it("tries this machine without leaving a group behind", () => {
    const found = findCgroups();
    if ("reason" in found) expect(found.reason).not.toBe("");
    else expect(readdirSync(found.parent).filter((name) => ownerOfFolder(name)?.pid === process.pid)).toEqual([]);
  });
});

describe("a group of processes", () => {
  const limits = { ...defaultSandboxLimits, memory: 1_000, bytes: 500, processes: 7 };

  function made(files?: readonly string[]): { group: Cgroup; folder: string } {
    const place = tree("/a/b", files);
    const parent = join(place.root, "a");
    const group = Cgroup.make(parent, limits, place);
    const [name] = readdirSync(parent).filter((each) => each.startsWith("troupe-"));
    if (group === undefined || name === undefined) throw new Error("expected a group");
    return { group, folder: join(parent, name) };
  }

  it("is told its bounds before anything runs in it, and its name tells whose it is", () => {
    const { folder } = made(["memory.max", "pids.max", "cgroup.procs", "memory.swap.max", "memory.oom.group"]);
    const bounds = ["memory.max", "pids.max", "memory.swap.max", "memory.oom.group"].map((file) =>
      readFileSync(join(folder, file), "utf8"),
    );
    expect(bounds).toEqual(["1500", "7", "0", "1"]);
    expect(ownerOfFolder(basename(folder))).toEqual(ownProcess());
  });

  it("Cgroup.C1 is entered by the command itself, which then is what was asked for", async () => {
    const { group, folder } = made();
    const [file, ...args] = [...group.enterWords, "/bin/sh", "-c", 'echo "$1 $2"', "x", "a b", "$HOME"];
    expect(await runProcess({ file, args, cwd: "/" })).toMatchObject({ kind: "exited", code: 0, stdout: "a b $HOME\n" });
    expect(readFileSync(join(folder, "cgroup.procs"), "utf8")).toBe("0\n");
  });

  it("does not run a command that it cannot hold", async () => {
    const { group, folder } = made(["memory.max", "pids.max"]);
    mkdirSync(join(folder, "cgroup.procs"));
    const [file, ...args] = [...group.enterWords, "/bin/echo", "ran"];
    const result = await runProcess({ file, args, cwd: "/" });
    expect(result).toMatchObject({ kind: "exited", stdout: "" });
    expect(result).not.toMatchObject({ code: 0 });
  });

  it("tells that the kernel ended the command at its bound, and how much it had used", () => {
    const { group, folder } = made();
    expect(group.breach).toBeUndefined();
    writeFileSync(join(folder, "memory.events"), "low 0\nmax 12\noom 1\noom_kill 0\n");
    expect(group.breach).toBeUndefined();
    writeFileSync(join(folder, "memory.events"), "low 0\nmax 12\noom 1\noom_kill 3\n");
    expect(group.breach).toEqual({ bound: "memory", limit: 1_500, used: 1_500 });
    writeFileSync(join(folder, "memory.peak"), "1600\n");
    expect(group.breach).toEqual({ bound: "memory", limit: 1_500, used: 1_600 });
  });

  it("Cgroup.C2 is ended by the switch of the kernel, which reaches every process in it", () => {
    const { group, folder } = made();
    group.end();
    expect(readFileSync(join(folder, "cgroup.kill"), "utf8")).toBe("1");
  });
});
