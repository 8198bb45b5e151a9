import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { fileObjects } from "../../src/adapters/objects.ts";
import { type RunDriver, runWorkspaces, type RunWorkspaces, startWorker } from "../../src/fleet/index.ts";
import { type Action, defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { type ObjectStore, ObjectStoreError } from "../../src/kernel/object-store.ts";
import { sleep, systemClock } from "../../src/kernel/clock.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { fileWorkspace, WRITE_STEP } from "../../src/workspace/index.ts";
import { runProcess } from "../../src/workspace/process.ts";

import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { scratchFolder } from "../workspace/scratch.ts";

/** A project's folder as text: its files, its history and what is not committed. */
async function projectAt(root: string): Promise<unknown> {
  const files = await fileWorkspace({ root, git: false }).list();
  const texts = await Promise.all(files.map(async (path) => [path, await readFile(join(root, path), "utf8")]));
  return {
    files: texts,
    log: await git(root, "log", "--format=%H %s"),
    status: await git(root, "status", "--short", "--untracked-files=all"),
  };
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const result = await runProcess({ file: "git", args, cwd });
  return result.kind === "exited" && result.code === 0 ? result.stdout : result.kind;
}

/** A run that writes a file by a step, commits it, and lets a command make another. */
function potters(journal: Journal, workspaces: RunWorkspaces, end: (signal: AbortSignal) => Promise<void> = async () => {}): Team {
  const at = (runId: string) => fileWorkspace({ root: workspaces.folderOf(runId) });
  const Throw: Action = defineAction({
    name: "Throw",
    run: async (ctx) => {
      const [path, content] = ["pot.txt", `a pot of ${ctx.text}`];
      const folder = at(ctx.runId);
      await ctx.step(WRITE_STEP, { path, content }, async () => ({ ...(await folder.write(path, content)) }));
      const date = ctx.now();
      await ctx.step("commit", { message: "A pot", author: "Pia", paths: [path] }, async () => {
        return (await folder.commit({ message: "A pot", author: "Pia", date, paths: [path] })) ?? null;
      });
      await ctx.step("glaze", {}, async () => {
        await writeFile(join(folder.root, "glaze.bin"), "made by a command");
        return null;
      });
      return "thrown";
    },
  });
  const Burn = defineAction({
    name: "Burn",
    run: async (ctx) => {
      await ctx.step("wait", {}, () => end(ctx.signal));
      const [path, content] = ["fired.txt", "hard"];
      await ctx.step(WRITE_STEP, { path, content }, async () => ({ ...(await at(ctx.runId).write(path, content)) }));
      return "fired";
    },
  });
  const roles = [defineRole({ name: "Pia", actions: [Throw] }), defineRole({ name: "Otto", watch: [Throw], actions: [Burn] })];
  return new Team({ name: "potters", seed: "one", roles, journal });
}

const machine = (objects: string) => runWorkspaces({ objects: fileObjects({ dir: objects }), folder: scratchFolder() });

/** The methods of an object, which can be replaced. */
function anyOf<T extends ObjectStore | RunWorkspaces>(given: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(given)).filter((name) => name !== "constructor");
  const methodOf = (name: string): unknown => (given as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.bind(given);
  return Object.fromEntries(names.map((name) => [name, methodOf(name)])) as unknown as T;
}

/** A busy machine needs more than a second. */
const LONG = { timeout: 60_000 };

async function idle(driver: RunDriver): Promise<void> {
  while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe("the workspaces of runs", () => {
  it(
    "a run that a worker gave back continues elsewhere with its files, its history and what commands made",
    { tags: "numbers" },
    async () => {
      const [journal, driver, store] = [memoryJournal(), memoryRunDriver(), scratchFolder()];
      const [one, two] = [machine(store), machine(store)];
      let reached = (): void => {};
      const atStep = new Promise<void>((resolve) => (reached = resolve));
      const waits = potters(journal, one, (signal) => {
        reached();
        return sleep(systemClock, 60_000, signal);
      });
      const first = await startWorker({ driver, journal, teams: [waits], workspaces: one, grace: 0 });
      await driver.submit({ runId: "Pots 1", team: "potters", idea: "clay" });
      await atStep;
      const left = await projectAt(one.folderOf("Pots 1"));
      await first.drain();
      await rm(one.folderOf("Pots 1"), { recursive: true });
      const second = await startWorker({
        driver,
        journal,
        teams: [
          potters(journal, two, async () => {
            expect(await projectAt(two.folderOf("Pots 1"))).toEqual(left);
          }),
        ],
        workspaces: two,
      });
      await idle(driver);
      await second.drain();
      const files = ["fired.txt", "glaze.bin", "pot.txt"];
      expect(await fileWorkspace({ root: two.folderOf("Pots 1"), git: false }).list()).toEqual(files);
      expect(left).toMatchObject({ status: "?? glaze.bin\n", log: expect.stringContaining("A pot") });
    },
  );

  it.each([
    ["OBJECT_DAMAGED", "error"],
    ["OBJECTS_UNREACHABLE", "warn"],
  ] as const)(
    "FleetWorker.W6 a folder that cannot be fetched because of %s is a refusal unless that passes",
    { tags: "numbers" },
    async (code, level) => {
      const [journal, driver] = [memoryJournal(), memoryRunDriver()];
      const told: unknown[] = [];
      const line = (as: string) => (_text: string, fields?: object) => void told.push({ as, ...fields });
      const logger = { debug() {}, info() {}, warn: line("warn"), error: line("error") };
      const workspaces: RunWorkspaces = {
        ...anyOf(machine(scratchFolder())),
        fetch: () => Promise.reject(new ObjectStoreError(code, "Expected the store, got none.")),
      };
      const worker = await startWorker({ driver, journal, teams: [potters(journal, workspaces)], workspaces, logger, tries: 1 });
      await driver.submit({ runId: "a", team: "potters", idea: "clay" });
      await vi.waitUntil(() => told.length > 0, LONG);
      await worker.drain();
      expect(told[0]).toMatchObject({ as: level, run: "a", code });
      expect((await driver.list({ limit: 1 })).length).toBe(level === "warn" ? 1 : 0);
    },
  );

  it("DrivenFolder.F1 a worker that is refused a run takes its folder from nobody, and stores nothing", { tags: "numbers" }, async () => {
    const [journal, store] = [memoryJournal(), scratchFolder()];
    const [one, two] = [machine(store), machine(store)];
    const processes = simulatedProcesses(journal);
    const [mine, other] = [processes.start().journal, processes.start().journal];
    let reached = (): void => {};
    const atStep = new Promise<void>((resolve) => (reached = resolve));
    const waits = potters(mine, one, (signal) => {
      reached();
      return sleep(systemClock, 60_000, signal);
    });
    const drivers = [memoryRunDriver(), memoryRunDriver()] as const;
    const first = await startWorker({ driver: drivers[0], journal: mine, teams: [waits], workspaces: one, grace: 0 });
    await drivers[0].submit({ runId: "a", team: "potters", idea: "clay" });
    await atStep;
    const told: unknown[] = [];
    const logger = { debug() {}, info() {}, warn: (...line: readonly unknown[]): void => void told.push(line[1]), error() {} };
    const second = await startWorker({ driver: drivers[1], journal: other, teams: [potters(other, two)], workspaces: two, logger });
    await drivers[1].submit({ runId: "a", team: "potters", idea: "clay" });
    await vi.waitUntil(() => told.length > 0, LONG);
    await second.drain();
    expect([told[0], existsSync(two.folderOf("a"))]).toMatchObject([{ code: "RUN_OWNED" }, false]);
    await first.drain();
    expect(await two.fetch("a", journal)).toBe("restored");
    expect(await readFile(join(two.folderOf("a"), "glaze.bin"), "utf8")).toBe("made by a command");
  });

  it(
    "DrivenFolder.F1 the folder is stored before the end of the run is recorded, and while no other worker can have the run",
    { tags: "numbers" },
    async () => {
      const [journal, store] = [memoryJournal(), scratchFolder()];
      const processes = simulatedProcesses(journal);
      const [mine, other] = [processes.start().journal, processes.start().journal];
      const objects = fileObjects({ dir: store });
      const found: unknown[] = [];
      const watched: ObjectStore = {
        ...anyOf(objects),
        async put(key, bytes, options) {
          if (key.endsWith(".bundle")) {
            const types: string[] = [];
            for await (const { type } of journal.read("a", 0)) types.push(type);
            found.push([types.at(-1), Number(/(\d+)-/.exec(key)?.[1]), types.length - 1, await codeOf(() => other.claim("a"))]);
          }
          return objects.put(key, bytes, options);
        },
      };
      const [one, two] = [runWorkspaces({ objects: watched, folder: scratchFolder() }), machine(store)];
      const driver = memoryRunDriver();
      const worker = await startWorker({ driver, journal: mine, teams: [potters(mine, one)], workspaces: one });
      await driver.submit({ runId: "a", team: "potters", idea: "clay" });
      await idle(driver);
      await worker.drain();
      expect(found).toEqual([["round.ended", expect.any(Number), expect.any(Number), "RUN_OWNED"]]);
      const [[, seq, last] = []] = found as readonly (readonly unknown[])[];
      expect(seq).toBe(last);
      await two.fetch("a", journal);
      expect(await readFile(join(two.folderOf("a"), "glaze.bin"), "utf8")).toBe("made by a command");
    },
  );

  it("RunWorkspaces.W1 a machine that another one took a run from stores nothing", { tags: "numbers" }, async () => {
    const [journal, store] = [memoryJournal(), scratchFolder()];
    const [one, two] = [machine(store), machine(store)];
    expect(await one.fetch("a", journal)).toBe("new");
    await writeFile(join(one.folderOf("a"), "x"), "1");
    expect(await one.put("a", 3)).toBe(true);
    expect(await two.fetch("a", journal)).toBe("restored");
    await writeFile(join(one.folderOf("a"), "x"), "late");
    expect([await one.put("a", 4), await two.put("a", 2), await two.put("a", 4)]).toEqual([false, false, true]);
    expect(await readFile(join(two.folderOf("a"), "x"), "utf8")).toBe("1");
    expect((await readdir(join(store, "a"))).filter((name) => name.includes(".bundle")).length).toBe(1);
  });

  it(
    "RunWorkspaces.W5 a machine whose clean-up comes late removes no bundle that another one has stored since",
    { tags: "numbers" },
    async () => {
      const [journal, store] = [memoryJournal(), scratchFolder()];
      const objects = fileObjects({ dir: store });
      const two = machine(store);
      const late: ObjectStore = {
        ...anyOf(objects),
        async list(folder, call) {
          await two.fetch("a", journal);
          await writeFile(join(two.folderOf("a"), "y"), "2");
          expect(await two.put("a", 9)).toBe(true);
          return objects.list(folder, call);
        },
      };
      const one = runWorkspaces({ objects: late, folder: scratchFolder() });
      await one.fetch("a", journal);
      await writeFile(join(one.folderOf("a"), "x"), "1");
      expect(await one.put("a", 5)).toBe(true);
      const three = machine(store);
      expect(await three.fetch("a", journal)).toBe("restored");
      expect(await readdir(three.folderOf("a"))).toEqual(expect.arrayContaining(["x", "y"]));
    },
  );

  it(
    "a copy takes nothing from the machine that has the run, and goes into no folder with files",
    { tags: ["fleet", "long"] },
    async () => {
      const [journal, store] = [memoryJournal(), scratchFolder()];
      const [one, two] = [machine(store), machine(store)];
      const driver = memoryRunDriver();
      const early = join(scratchFolder(), "early");
      await two.copy("a", journal, early);
      const teams = [potters(journal, one, () => two.copy("a", journal, early))];
      const worker = await startWorker({ driver, journal, teams, workspaces: one });
      await driver.submit({ runId: "a", team: "potters", idea: "clay" });
      await idle(driver);
      await worker.drain();
      expect(await projectAt(early)).toMatchObject({ files: [["pot.txt", "a pot of clay"]] });
      const late = join(scratchFolder(), "late");
      await two.copy("a", journal, late);
      expect([await projectAt(late), existsSync(two.folderOf("a"))]).toEqual([await projectAt(one.folderOf("a")), false]);
      expect([await codeOf(() => two.copy("a", journal, late)), await one.put("a", 99)]).toEqual(["WORKSPACE_NOT_EMPTY", true]);
    },
  );

  it("RunWorkspaces.W3 a folder that is older is renamed, and one that was here last stays", { tags: ["fleet", "long"] }, async () => {
    const [journal, store] = [memoryJournal(), scratchFolder()];
    const [one, two] = [machine(store), machine(store)];
    await one.fetch("a", journal);
    await writeFile(join(one.folderOf("a"), "x"), "1");
    await one.put("a", 1);
    await writeFile(join(one.folderOf("a"), "x"), "not stored");
    expect([await one.fetch("a", journal), await readFile(join(one.folderOf("a"), "x"), "utf8")]).toEqual(["here", "not stored"]);
    await two.fetch("a", journal);
    await writeFile(join(two.folderOf("a"), "x"), "2");
    await two.put("a", 2);
    expect([await one.fetch("a", journal), await readFile(join(one.folderOf("a"), "x"), "utf8")]).toEqual(["restored", "2"]);
    const above = join(one.folderOf("a"), "..", ".left", "a");
    expect(await readFile(join(above, "1", "x"), "utf8")).toBe("not stored");
    for (let seq = 3; seq < 9; seq += 2) {
      for (const other of [two, one]) {
        await other.fetch("a", journal);
        await writeFile(join(other.folderOf("a"), "x"), String(seq));
        await other.put("a", seq);
      }
    }
    expect((await readdir(above)).sort()).toEqual(["2", "3", "4"]);
  });

  it(
    "RunWorkspaces.W2 RunWorkspaces.W4 a damaged bundle is not restored, and the run is not taken for one that is here",
    { tags: ["fleet", "long"] },
    async () => {
      const [journal, store] = [memoryJournal(), scratchFolder()];
      const [one, two] = [machine(store), machine(store)];
      await one.fetch("a", journal);
      await writeFile(join(one.folderOf("a"), "x"), "1");
      await one.put("a", 1);
      const objects = fileObjects({ dir: store });
      const [key = ""] = (await objects.list("a")).filter((name) => name.endsWith(".bundle"));
      const whole = await objects.get(key);
      await objects.put(key, new TextEncoder().encode("another bundle"));
      for (let n = 0; n < 2; n += 1) expect(await codeOf(() => two.fetch("a", journal))).toBe("WORKSPACE_BUNDLE");
      await objects.put(key, whole?.bytes ?? new Uint8Array());
      await mkdir(two.folderOf("a"), { recursive: true });
      expect([await two.fetch("a", journal), existsSync(join(two.folderOf("a"), "x"))]).toEqual(["restored", true]);
      await one.remove("a");
      expect(await objects.list("a")).toEqual([]);
    },
  );
});
