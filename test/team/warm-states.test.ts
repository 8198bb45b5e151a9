import { describe, expect, test } from "vitest";
import { defineAction, defineRole } from "../../src/index.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

function teamOf(journal: Journal, goal = ""): Team {
  const watch = ["UserRequirement", "UserFeedback"];
  return new Team({
    seed: "s",
    journal,
    roles: [answering("Ann", (rc) => rc.news.map(({ content }) => rc.message(`${content}!`)), { watch, goal })],
  });
}

/** A journal that counts the events which are read. */
function counting(): { readonly journal: Journal; readonly read: () => number } {
  const journal = memoryJournal();
  const inner = journal.read.bind(journal);
  let count = 0;
  journal.read = async function* (runId, from) {
    for await (const event of inner(runId, from)) {
      count += 1;
      yield event;
    }
  };
  return { journal, read: () => count };
}

/** Talks for one turn, and returns what was said in all. */
async function turn(team: Team, words: string): Promise<readonly string[]> {
  return contents((await team.resume("r", { add: [words] }).result).outputs);
}

describe("the state of a run at rest", () => {
  test.each<[string, (team: Team, words: string) => Promise<unknown>]>([
    ["a resume with a message", turn],
    [
      "a message and a resume",
      async (team, words) => {
        await team.send("r", words);
        return team.resume("r").result;
      },
    ],
  ])("is kept: %s reads as many events at turn 40 as at turn 4", async (_what, speak) => {
    const { journal, read } = counting();
    const team = teamOf(journal);
    await team.run("one", { id: "r" }).result;
    const counts: number[] = [];
    for (let nth = 2; nth <= 40; nth += 1) {
      const before = read();
      await speak(team, `turn ${nth}`);
      counts.push(read() - before);
    }
    expect(counts.at(-1)).toBe(counts[2]);
  });

  test("WarmStates.M2 is not used where another process continued the run", async () => {
    const host = simulatedProcesses(memoryJournal());
    const [one, other] = [host.start(), host.start()];
    const [here, there] = [teamOf(one.journal), teamOf(other.journal)];
    await here.run("one", { id: "r" }).result;
    await turn(there, "two");
    await turn(here, "three");
    expect(await turn(there, "four")).toEqual(["one!", "two!", "three!", "four!"]);
    expect(await turn(here, "five")).toEqual(["one!", "two!", "three!", "four!", "five!"]);
    expect((await here.replay("r").result).error).toBeUndefined();
  });

  test("WarmStates.M2 is not used for another run of the same id and length", async () => {
    const journal = memoryJournal();
    const team = teamOf(journal);
    await team.run("one", { id: "r" }).result;
    await journal.remove("r");
    await teamOf(journal).run("uno", { id: "r" }).result;
    expect(await turn(team, "two")).toEqual(["uno!", "two!"]);
  });

  test("WarmStates.M1 is not used twice: a change that is refused leaves the record as it is", async () => {
    const journal = memoryJournal();
    await teamOf(journal).run("one", { id: "r" }).result;
    const before = await eventsOf(journal, "r");
    expect((await teamOf(journal, "other").resume("r").result).error?.code).toBe("TEAM_CHANGED");
    expect(await eventsOf(journal, "r")).toEqual(before);
    expect(await turn(teamOf(journal), "two")).toEqual(["one!", "two!"]);
    const results = await Promise.all([teamOf(journal).send("r", "three"), teamOf(journal).send("r", "four")]);
    expect(results.map(({ waits }) => waits)).toEqual([true, true]);
    expect(await turn(teamOf(journal), "five")).toHaveLength(5);
  });

  test("WarmStates.M3 is kept for so many characters in all, the newest ones, and for so many of one run", async () => {
    const { journal, read } = counting();
    const team = new Team({ journal, roles: [listener("Bob")], messageLimit: 3_000_000 });
    const readBy = async (id: string): Promise<number> => {
      const before = read();
      await team.send(id, "more");
      return read() - before;
    };
    for (const id of ["a", "b", "c", "d", "e"]) await team.run("x".repeat(2_300_000), { id }).result;
    expect([await readBy("a"), await readBy("e")]).toEqual([5, 1]);
    await team.run("x".repeat(2_600_000), { id: "long" }).result;
    expect(await readBy("long")).toBe(5);
  });

  test("WarmStates.M3 counts the roles of a run, also where they have no messages", async () => {
    const { journal, read } = counting();
    const roles = Array.from({ length: 9_000 }, (_, nth) => listener(`Bob${nth}`, { watch: [nth === 0 ? "UserRequirement" : "Nothing"] }));
    const team = new Team({ journal, roles });
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await team.run("hello", { id }).result;
    const before = read();
    await team.send("e", "more");
    expect(read() - before).toBe(1);
    await team.send("a", "more");
    expect(read() - before).toBeGreaterThan(2);
  });

  test("WarmStates.M4 is kept for the newest runs of one turn, and for a conversation before them", async () => {
    const { journal, read } = counting();
    const team = teamOf(journal);
    const isKept = async (id: string): Promise<boolean> => {
      const before = read();
      await team.send(id, "more");
      return read() - before === 1;
    };
    await team.run("one", { id: "r" }).result;
    await turn(team, "two");
    const ids = Array.from({ length: 150 }, (_, nth) => `run-${nth}`);
    for (const id of ids) await team.run("once", { id }).result;
    expect(await isKept("r")).toBe(true);
    const kept: boolean[] = [];
    // The newest first: a message to a run makes its state the newest.
    for (const id of ids.toReversed()) kept.push(await isKept(id));
    expect(kept).toEqual(ids.map((_, nth) => nth < 100));
  });
});

describe("what the memory of a role knows of its run at rest", () => {
  /** A store that counts the messages which are read, and a team with it. */
  function remembering(journal: Journal): { readonly store: MessageStore; readonly read: () => number; readonly team: () => Team } {
    const inner = inMemoryStore();
    let count = 0;
    const store = new Proxy(inner, {
      get(of, key) {
        const own: unknown = Reflect.get(of, key);
        if (key !== "read") return typeof own === "function" ? (own.bind(of) as unknown) : own;
        return async function* (...given: Parameters<MessageStore["read"]>) {
          for await (const page of of.read(...given)) {
            count += page.length;
            yield page;
          }
        };
      },
    });
    const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
    const model = scriptedModel(() => "ok");
    return {
      store,
      read: () => count,
      team: () => new Team({ journal, model, roles: [defineRole({ name: "Ann", actions: [Answer], memory: { store } })] }),
    };
  }

  test("RoleMemories.R4 is kept: turn 40 reads as many events and stored messages as turn 4, and all is stored", async () => {
    const { journal, read } = counting();
    const { store, team, ...stored } = remembering(journal);
    const one = team();
    await one.run("one", { id: "r" }).result;
    const counts: (readonly number[])[] = [];
    for (let nth = 2; nth <= 40; nth += 1) {
      const before = [read(), stored.read()] as const;
      await turn(one, `turn ${nth} of the talk`);
      counts.push([read() - before[0], stored.read() - before[1]]);
    }
    expect(counts.at(-1)).toEqual(counts[2]);
    expect((await store.places("Ann")).length).toBe(80);
    expect((await one.replay("r").result).error).toBeUndefined();
  });
});
