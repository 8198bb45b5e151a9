import { expect, it } from "vitest";
import { defineAction } from "../../src/action/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { canonical } from "../../src/run/canonical.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf, journalWith } from "./recorded.ts";
import { inMemoryStore } from "../../src/memory/in-memory-store.ts";

const model = () => scriptedModel((r) => `heard ${(r.messages.at(-1)?.content ?? "").slice(0, 60)}`);
const Answer = defineAction({
  name: "Answer",
  run: async (ctx) => {
    const [a, b] = await Promise.all([ctx.ask(`one ${ctx.text.slice(0, 20)}`), ctx.step("w", { x: 1 }, async (d) => (await d.ask("inner")) + "!", { again: true } as never)]);
    return `${a} ${b}`;
  },
});
const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask(`go ${ctx.text.slice(0, 30)}`) });
const team = (journal: ReturnType<typeof memoryJournal>, store = inMemoryStore(), scheduler: "rounds" | "eager" = "rounds") =>
  new Team({
    model: model(), journal, seed: 1, scheduler, memory: { store, summary: true, recall: { maxTokens: 260 } },
    roles: [defineRole({ name: "Ann", watch: ["UserRequirement", Ask], actions: [Answer] }), defineRole({ name: "Bob", watch: [Answer], actions: [Ask] })],
  });

it.each(["rounds", "eager"] as const)("prefix × replay × fork, %s", async (scheduler) => {
  const first = memoryJournal();
  await team(first, undefined, scheduler).run("go", { id: "r", rounds: 4 }).result;
  const events = await eventsOf(first, "r");
  const whole = canonical(events);
  let bad: string[] = [];
  for (let n = 2; n <= events.length; n++) {
    const journal = await journalWith("r", events.slice(0, n));
    const store = inMemoryStore();
    const end = await team(journal, store, scheduler).resume("r", { rounds: 4 }).result;
    const now = canonical(await eventsOf(journal, "r"));
    if (scheduler === "rounds" && now !== whole) bad.push(`resume ${n} ${end.status} ${String(end.error)}`);
    const replay = await team(journal, inMemoryStore(), scheduler).replay("r").result;
    if (replay.error !== undefined) bad.push(`replay ${n} ${replay.error.message.slice(0, 200)}`);
    const fork = await team(journal, store, scheduler).fork("r", { id: "f", at: n - 1, rounds: 4 }).result;
    const forkReplay = await team(journal, inMemoryStore(), scheduler).replay("f").result;
    if (forkReplay.error !== undefined) bad.push(`fork replay ${n} ${forkReplay.error.message.slice(0, 300)}`);
    if (fork.fork?.difference !== undefined && scheduler === "rounds") bad.push(`fork ${n} ${JSON.stringify(fork.fork.difference).slice(0, 900)}`);
  }
  expect(bad).toEqual([]);
}, 200_000);
