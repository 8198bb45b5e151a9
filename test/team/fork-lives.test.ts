import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { defineRole } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf, journalWith } from "./recorded.ts";
import { cutsOf } from "../long.ts";

type Regime = "rounds" | "eager";

/** Asks two things at once, one of them inside a step whose effect happens again in every life. */
const Answer = defineAction({
  name: "Answer",
  run: async (ctx) => {
    const written = ctx.step("write", null, async (door) => `${await door.ask("inner")}!`, { again: true });
    const [said, wrote] = await Promise.all([ctx.ask(`one ${ctx.text.slice(0, 20)}`), written]);
    return `${said} ${wrote}`;
  },
});
const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask(`go ${ctx.text.slice(0, 30)}`) });

function teamOver(journal: Journal, scheduler: Regime, store: MessageStore = inMemoryStore()): Team {
  const model = scriptedModel(({ messages }) => `heard ${(messages.at(-1)?.content ?? "").slice(0, 60)}`);
  const memory = { store, summary: true, recall: { maxTokens: 260 } };
  const roles = [
    defineRole({ name: "Ann", watch: ["UserRequirement", Ask], actions: [Answer] }),
    defineRole({ name: "Bob", watch: [Answer], actions: [Ask] }),
  ];
  return new Team({ model, journal, seed: 1, scheduler, memory, roles });
}

/** The message of the error of a result; nothing if it has none. */
function trouble({ error }: { readonly error?: Error | undefined }): readonly string[] {
  return error === undefined ? [] : [error.message];
}

describe("Replay.P4 a run that was cut anywhere", () => {
  it.each<Regime>(["rounds", "eager"])(
    "continues, replays, and is forked; the fork pays nothing and replays too (%s)",
    { tags: "numbers", timeout: 120_000 },
    async (regime) => {
      const first = memoryJournal();
      await teamOver(first, regime).run("go", { id: "r", rounds: 3 }).result;
      const events = await eventsOf(first, "r");
      expect(events.length).toBeGreaterThan(10);
      for (const cut of cutsOf(events.length).filter((place) => place > 1)) {
        const journal = await journalWith("r", events.slice(0, cut));
        const store = inMemoryStore();
        await teamOver(journal, regime, store).resume("r", { rounds: 3 }).result;
        const { fork } = await teamOver(journal, regime, store).fork("r", { id: "f", at: cut - 1, rounds: 3 }).result;
        if (regime === "rounds") expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(events));
        if (regime === "rounds") expect([cut, fork?.difference]).toEqual([cut, undefined]);
        const replays = await Promise.all(["r", "f"].map((id) => teamOver(journal, regime).replay(id).result));
        expect([cut, ...replays.flatMap(trouble)]).toEqual([cut]);
      }
    },
  );
});
