import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { UserRequirement } from "../../src/message/address.ts";
import { defineRole } from "../../src/role/role.ts";
import type { RoleMemoryOptions } from "../../src/memory/role-memory.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "../team/recorded.ts";
import { Answer, answerer, parrot, recallsIn } from "./role-setup.ts";

const RELATED = { threshold: -1, k: 50, shares: { related: 1 } };

/** The messages that the recalls of a run found, of its own past. */
async function foundIn(journal: Journal, id: string): Promise<string[]> {
  const recalls = recallsIn(await eventsOf(journal, id));
  return recalls.flatMap(({ related }) => related.messages.flatMap(({ runId, text }) => (runId === undefined ? [text] : [])));
}

describe("KeptMemory.K3 a fork and the runs behind it, on one store", () => {
  it("does not find what its parent said under the same id", async () => {
    const [store, journal, model] = [inMemoryStore(), memoryJournal(), parrot()];
    const team = new Team({
      model,
      journal,
      seed: 1,
      roles: [answerer("Ann", { memory: { store, embedder: hashingEmbedder(), recall: RELATED } })],
    });
    await team.run("a start", { id: "r" }).result;
    const at = (await eventsOf(journal, "r")).length - 1;
    await team.fork("r", { id: "one", add: ["the one future"] }).result;
    // The same ids as in the run it is forked from, and other words.
    await team.fork("one", { id: "two", at, add: ["the two future"] }).result;
    await team.fork("two", { id: "three", add: ["and now"] }).result;
    const found = await foundIn(journal, "three");
    expect(found).toEqual(expect.arrayContaining(["the two future", "I heard: the two future", "a start"]));
    expect([...found, ...(await foundIn(journal, "two"))].filter((text) => text.includes("the one future"))).toEqual([]);
  });

  it("finds what it shares once, and what was changed as it is now", async () => {
    const [store, journal, model] = [inMemoryStore(), memoryJournal(), parrot()];
    const make = (): Team =>
      new Team({ model, journal, seed: 1, roles: [answerer("Ann", { memory: { store, embedder: hashingEmbedder(), recall: RELATED } })] });
    await make().run("the colour is red", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const seq = events.findIndex(({ type }) => type === "message");
    await make().fork("r", { id: "f", change: [{ seq, content: "the colour is blue" }] }).result;
    await make().fork("f", { id: "g", add: ["which colour is it?"] }).result;
    const found = await foundIn(journal, "g");
    expect(found.toSorted()).toEqual(["I heard: the colour is blue", "the colour is blue"]);
  });

  it("keeps itself what the run behind it never stored", async () => {
    const [store, journal, model] = [inMemoryStore(), memoryJournal(), parrot()];
    const teamWith = (memory: RoleMemoryOptions | false): Team =>
      new Team({ model, journal, seed: 1, roles: [answerer("Ann", { memory })] });
    const memory = { store, embedder: hashingEmbedder(), recall: RELATED };
    await teamWith(false).run("the colour is red", { id: "r" }).result;
    await teamWith(memory).fork("r", { id: "f", add: ["which colour is it?"] }).result;
    expect((await foundIn(journal, "f")).toSorted()).toEqual(["I heard: the colour is red", "the colour is red"]);
    // It is stored by both from now on, and found once all the same.
    await teamWith(memory).resume("r").result;
    await teamWith(memory).fork("f", { id: "g", add: ["and what else?"] }).result;
    const last = recallsIn(await eventsOf(journal, "g")).at(-1);
    expect(last?.related.messages.filter(({ text }) => text === "the colour is red").length).toBe(1);
  });
});

describe("a fork whose past was changed", () => {
  it("does not recall what its parent did", async () => {
    const [store, journal] = [inMemoryStore(), memoryJournal()];
    const Note = defineAction({ name: "Note", run: () => "noted" });
    const Ask = defineAction({ name: "Ask", run: () => "which colour is it?" });
    const make = (): Team => {
      const roles = [
        defineRole({
          name: "Ann",
          memory: { store, embedder: hashingEmbedder(), recall: RELATED },
          reactions: [
            { on: UserRequirement, do: Note },
            { on: Ask, do: Answer },
          ],
        }),
        defineRole({ name: "Bob", watch: [Note], actions: [Ask] }),
      ];
      return new Team({ model: parrot(), journal, seed: 1, roles });
    };
    await make().run("the colour is red", { id: "r" }).result;
    const seq = (await eventsOf(journal, "r")).findIndex(({ type }) => type === "message");
    await make().fork("r", { id: "f", change: [{ seq, content: "the colour is blue" }] }).result;
    expect(await foundIn(journal, "r")).toContain("the colour is red");
    expect(await foundIn(journal, "f")).toContain("the colour is blue");
    expect((await foundIn(journal, "f")).filter((text) => text.includes("red"))).toEqual([]);
  });
});
