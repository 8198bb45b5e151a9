import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { childEvent, type Task } from "./sqlite-child.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { until } from "../workspace/scratch.ts";
import { type Child, startProgram } from "./program-process.ts";
import { errorOf, journalAt, meddle, newFile, readOut, started, written } from "./sqlite-setup.ts";

const program = await sourceProgram(fileURLToPath(new URL("sqlite-child.ts", import.meta.url)));

function startChild(task: Task): Child {
  return startProgram(program, task);
}

/** A file with runs without an owner. */
async function fileWith(...runs: readonly string[]): Promise<{ readonly file: string; readonly journal: Journal }> {
  const file = newFile();
  const journal = journalAt(file);
  for (const run of runs) await journal.create(run);
  return { file, journal };
}

describe("a run that another process owns", () => {
  it("SqliteJournal.J3 RunLocks.O1 is refused while that lives or is stopped, can be read, and is free when it was killed", async () => {
    const { file, journal } = await fileWith("a");
    const child = startChild({ do: "hold", file, run: "a" });
    expect(await child.said(1)).toBe("claimed");
    expect(await errorOf(journal.claim("a"))).toMatchObject({ code: "RUN_OWNED", data: { runId: "a" } });
    expect((await errorOf(journal.remove("a")))?.code).toBe("RUN_OWNED");
    expect(await readOut(journal, "a")).toEqual({ events: [], error: undefined });
    child.kill("SIGSTOP");
    await stopped(child.pid);
    expect((await errorOf(journal.claim("a")))?.code).toBe("RUN_OWNED");
    child.kill("SIGKILL");
    expect(await child.ended).toBe("SIGKILL");
    // The epoch that was given to who is dead is not given again, although nothing was written under it.
    const { epoch, former } = await journal.claim("a");
    const died = existsSync("/proc") ? "died" : "taken";
    expect([epoch, former]).toEqual([2, died]);
    // SqliteRuns.N4 until something is added.
    const again = await journal.claim("a");
    await journal.release("a", again.epoch);
    const last = await journal.claim("a");
    expect([again.former, last.former]).toEqual([died, died]);
    await journal.append("a", last.epoch, 0, [started("a", 0)]);
    expect((await journal.claim("a")).former).toBe("none");
    expect((await readOut(journal, "a")).events.length).toBe(1);
  });
});

/** Counts the files of a folder that this process has open. */
function openIn(folder: string): number {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one that the list itself was read from.
      return "";
    }
  });
  return links.filter((link) => link.startsWith(`${folder}/`)).length;
}

/** Resolves when the kernel has stopped the process: until then it may still finish what it is at. */
async function stopped(pid: number): Promise<void> {
  if (!existsSync("/proc")) return;
  await until(() => /^\d+ \(.*\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
}

describe("two journals of one process", () => {
  it("RunLocks.O2 RunLocks.O1 keep each other out until the first gives back, removes or closes", async () => {
    const { file, journal } = await fileWith("a", "b", "c");
    const other = journalAt(file);
    const { epoch } = await journal.claim("a");
    for (const run of ["b", "c"]) await journal.claim(run);
    for (const run of ["a", "b", "c"]) expect((await errorOf(other.claim(run)))?.code).toBe("RUN_OWNED");
    await journal.release("a", epoch);
    await journal.remove("b");
    expect(await errorOf(other.claim("a"))).toBeUndefined();
    expect((await errorOf(other.claim("b")))?.code).toBe("RUN_UNKNOWN");
    expect((await errorOf(journal.claim("a")))?.code).toBe("RUN_OWNED");
    await journal.close();
    expect(await errorOf(other.claim("c"))).toBeUndefined();
  });

  it("SqliteRuns.N3 the end of a former owner is reported as far as it is proven", async () => {
    const { file, journal } = await fileWith("a", "b", "c");
    await Promise.all(["a", "b"].map((run) => journal.claim(run)));
    const { epoch } = await journal.claim("c");
    await journal.release("c", epoch, { drained: true });
    await meddle(file, "UPDATE runs SET owner = 'ffffffff-ffffffff-0-1-1' WHERE run = '\"b\"'");
    await journal.close();
    const later = journalAt(file);
    const claims = await Promise.all(["a", "b", "c"].map((run) => later.claim(run, { take: true })));
    expect(claims.map(({ former }) => former)).toEqual(["taken", "taken", "drained"]);
  });

  it("a claim that failed keeps nothing", async () => {
    const { file, journal } = await fileWith("a");
    expect((await errorOf(journal.claim("b")))?.code).toBe("RUN_UNKNOWN");
    expect(existsSync(`${file}-locks`)).toBe(false);
    const { epoch } = await journal.claim("a");
    const other = journalAt(file);
    expect((await errorOf(other.claim("a")))?.code).toBe("RUN_OWNED");
    await journal.release("a", epoch);
    expect(await errorOf(other.claim("a"))).toBeUndefined();
    await other.create("b");
    expect(await errorOf(journal.claim("b"))).toBeUndefined();
  });

  it("RunLocks.O3 an owner whose lock file was deleted is fenced by its epoch, from the other journal too", async () => {
    const { file, journal } = await fileWith("a");
    const { epoch: former } = await journal.claim("a");
    await journal.append("a", former, 0, [started("a", 0)]);
    rmSync(`${file}-locks`, { recursive: true });
    const other = journalAt(file);
    const { epoch: latter } = await other.claim("a");
    for (const each of [journal, other]) expect((await errorOf(each.append("a", former, 1, [started("a", 1)])))?.code).toBe("EPOCH_STALE");
    await other.append("a", latter, 1, [started("a", 1)]);
    expect((await readOut(journal, "a")).events.length).toBe(2);
  });

  it("many runs at once are one open file each, and none when they were given back", async ({ skip }) => {
    skip(!existsSync("/proc/self/fd"), "this system does not tell which files are open");
    const { file, journal } = await fileWith(...Array.from({ length: 40 }, (_, n) => `run ${n}`));
    const epochs = await Promise.all(Array.from({ length: 40 }, (_, n) => journal.claim(`run ${n}`)));
    expect(openIn(`${file}-locks`)).toBe(40);
    await Promise.all(epochs.map(({ epoch }, n) => journal.release(`run ${n}`, epoch)));
    expect(openIn(`${file}-locks`)).toBe(0);
    expect(readdirSync(`${file}-locks`).length).toBe(40);
  });
});

describe("a process that is killed while it writes", () => {
  it("SqliteJournal.J1 has resolved appends on the disk, and what is there is a prefix of whole appends", async () => {
    const runs = ["a", "b", "c"];
    const { file, journal } = await fileWith(...runs);
    const told = new Map(runs.map((run) => [run, 0]));
    for (const lines of [1, 17, 140]) {
      const child = startChild({ do: "append", file, runs });
      await child.said(lines);
      child.kill("SIGKILL");
      await child.ended;
      for (const line of child.lines) {
        const [run = "", seq] = line.split(" ");
        told.set(run, Number(seq));
      }
      for (const run of runs) {
        const { events, error } = await readOut(journal, run);
        expect(error).toBeUndefined();
        expect(events).toEqual(events.map((_, seq) => childEvent(run, seq)));
        expect(events.length).toBeGreaterThanOrEqual(told.get(run) ?? 0);
        expect(isWholeAppends(events.length)).toBe(true);
      }
    }
    expect([...told.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(100);
  });

  /** Returns whether appends of one, two or three events, as the child makes them, come to so many. */
  function isWholeAppends(events: number): boolean {
    let seq = 0;
    while (seq < events) seq += 1 + (seq % 3);
    return seq === events;
  }
});

describe("several processes on one file", () => {
  it("write different runs at once, and a reader sees prefixes all the time", async () => {
    const { file, journal } = await fileWith();
    const names = ["x", "y", "z"];
    const children = names.map((run) => startChild({ do: "fill", file, run, count: 120 }));
    let done = 0;
    for (const child of children) void child.ended.then(() => (done += 1));
    let looks = 0;
    while (done < children.length) {
      for (const { runId } of await journal.runs()) {
        const { events, error } = await readOut(journal, runId);
        expect({ error, events }).toEqual({ error: undefined, events: events.map((_, seq) => childEvent(runId, seq)) });
      }
      looks += 1;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(looks).toBeGreaterThan(3);
    expect(children.map((child) => child.lines)).toEqual(names.map(() => ["done"]));
    expect((await journal.runs()).map(({ runId, events }) => `${runId} ${events}`).toSorted()).toEqual(["x 120", "y 120", "z 120"]);
  });
});

describe("the process of a reader", () => {
  it("grows by a page, not by the run", { tags: ["fleet", "long"] }, async () => {
    const file = newFile();
    const journal = journalAt(file);
    const epoch = await written(journal, "a", []);
    for (let seq = 0; seq < 160; seq += 16) {
      await journal.append(
        "a",
        epoch,
        seq,
        Array.from({ length: 16 }, (_, place) => started("a", seq + place, 1_000_000)),
      );
    }
    await journal.close();
    const child = startChild({ do: "weigh", file, run: "a" });
    const [events, grown] = (await child.said(1)).split(" ").map(Number);
    expect(events).toBe(160);
    // A block of 16 events is there three times while it is read: measured 131 to 169 MB; the whole run would be ten times that.
    expect(grown).toBeLessThan(250_000_000);
    await child.ended;
  });
});
