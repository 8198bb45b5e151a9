import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

const relay = (): Role[] => [
  answering("Ann", (rc) => rc.message("x", { sendTo: "Bob" })),
  answering("Bob", (rc) => rc.message("out"), { watch: [] }),
];

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await nextMacrotask();
}

describe("the same program is the recovery program", () => {
  test("run(idea, { id }) starts a run that the journal does not have, and continues one it has", async () => {
    const journal = memoryJournal();
    const program = () => new Team({ seed: "s", journal, roles: relay() }).run("go", { id: "r", rounds: 1 });
    expect(await program().result).toMatchObject({ runId: "r", status: "rounds", rounds: 1 });
    const whole = new Team({ seed: "s", journal, roles: relay() });
    expect(await whole.run("go", { id: "r", rounds: 2 }).result).toMatchObject({ runId: "r", status: "finished", rounds: 2 });
    expect((await eventsOf(journal, "r")).filter((event) => event.type === "message")).toHaveLength(1);
  });

  test("a run that has finished is not lived again: its result is read", async () => {
    const journal = memoryJournal();
    const first = await new Team({ journal, roles: relay() }).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const again = new Team({ journal, roles: relay() }).run("go", { id: "r" });
    const result = await again.result;
    expect(result).toMatchObject({ status: "finished", rounds: first.rounds });
    expect(contents(result.messages)).toEqual(contents(first.messages));
    expect(await eventsOf(journal, "r")).toEqual(events);
    const seen: number[] = [];
    for await (const event of again) seen.push(event.seq);
    expect(seen).toHaveLength(events.length);
  });

  test("a run whose idea was never written starts over, and is the same run", async () => {
    const whole = memoryJournal();
    await new Team({ seed: "s", journal: whole, roles: relay() }).run("go", { id: "r" }).result;
    const events = await eventsOf(whole, "r");
    for (const length of [0, 1]) {
      const journal = await journalWith("r", events.slice(0, length));
      const team = new Team({ seed: "s", journal, roles: relay() });
      const alone = await team.resume("r").result;
      expect([alone.status, alone.error?.code]).toEqual(["failed", "RUN_NOT_STARTED"]);
      expect((await team.run("go", { id: "r" }).result).status).toBe("finished");
      expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(events));
    }
  });

  test.each<[string, () => unknown]>([
    ["an empty id", () => new Team().run("go", { id: "" })],
    ["rounds that are no number", () => new Team().run("go", { rounds: Number.NaN })],
    ["rounds of less than none", () => new Team().resume("r", { rounds: -1 })],
    ["an idea that is none", () => new Team().run(42 as unknown as string)],
    ["an idea that is half a message", () => new Team().run({ content: 5 } as never)],
  ])("%s is refused at once", (_what, call) => {
    expect(call).toThrow(expect.objectContaining({ name: "UsageError" }));
  });
});

describe("processes that may resume a run", () => {
  async function afterOneRound(): Promise<RunEvent[]> {
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: relay() }).run("go", { id: "r", rounds: 1 }).result;
    return eventsOf(journal, "r");
  }

  test("the same team, in whatever order it is hired now: the run keeps its own", async () => {
    const crowd = (): Role[] => [
      answering("Ann", (rc) => rc.message("to all", { sendTo: ["Cid", "Bob"] })),
      listener("Bob", { watch: [] }),
      listener("Cid", { watch: [] }),
    ];
    const whole = memoryJournal();
    await new Team({ seed: "s", journal: whole, roles: crowd() }).run("go", { id: "r" }).result;
    const events = await eventsOf(whole, "r");
    const journal = await journalWith("r", events.slice(0, 2));
    expect((await new Team({ seed: "s", journal, roles: crowd().toReversed() }).resume("r").result).status).toBe("finished");
    expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(events));
  });

  test.each<[string, () => Role[], string]>([
    ["a role less", () => relay().slice(0, 1), "Bob is missing"],
    ["a role more", () => [...relay(), listener("Zoe")], "Zoe is new"],
    ["a role that hears otherwise", () => [relay()[0] as Role, listener("Bob")], 'Bob: watch was [], is ["UserRequirement"]'],
    [
      "another goal",
      () => [relay()[0] as Role, answering("Bob", () => undefined, { watch: [], goal: "more" })],
      'Bob: goal was "", is "more"',
    ],
  ])("%s is another team, and is refused by name", async (_what, roles, named) => {
    const journal = await journalWith("r", await afterOneRound());
    const before = await eventsOf(journal, "r");
    const result = await new Team({ journal, roles: roles() }).resume("r").result;
    expect([result.status, result.error?.code]).toEqual(["failed", "TEAM_CHANGED"]);
    expect(result.error?.message).toContain(named);
    expect(await eventsOf(journal, "r")).toEqual(before);
  });

  test("Runs.U3 who takes a run over fences its former owner", async () => {
    const journal = memoryJournal();
    let letGo = (): void => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const ann = answering("Ann", async (rc) => rc.message(await rc.step("s", {}, () => gate.then(() => "done"))));
    const former = new Team({ seed: "s", journal, roles: [ann] }).run("go", { id: "r" });
    await settled();
    const latter = new Team({ seed: "s", journal, roles: [ann] }).resume("r");
    await settled();
    letGo();
    expect(await former.result).toMatchObject({ status: "moved", error: { code: "MOVED" } });
    expect(await latter.result).toMatchObject({ status: "finished", output: { content: "done" } });
    const events = await eventsOf(journal, "r");
    expect(events.map((event) => event.seq)).toEqual(events.map((_, place) => place));
    expect(events.filter((event) => event.type === "act.ended")).toHaveLength(1);
  });
});

describe("a resumed run keeps its past", () => {
  test("state, memory, plan and joins of every role", async () => {
    const remember = (rc: { state: Record<string, unknown>; memory: { size: number } }): void => {
      rc.state["seen"] = [...((rc.state["seen"] as number[] | undefined) ?? []), rc.memory.size];
    };
    const self = (): Role => answering("Ann", (rc) => (remember(rc), rc.message("again", { sendTo: "<self>" })));
    const step = memoryJournal();
    for (let rounds = 1; rounds <= 4; rounds += 1)
      await new Team({ seed: "s", journal: step, roles: [self()] }).run("go", { id: "r", rounds }).result;
    const once = memoryJournal();
    await new Team({ seed: "s", journal: once, roles: [self()] }).run("go", { id: "r", rounds: 4 }).result;
    const [steps, whole] = [await eventsOf(step, "r"), await eventsOf(once, "r")];
    expect(steps.filter((event) => event.type === "run.resumed")).toHaveLength(3);
    expect(canonical(steps)).toBe(canonical(whole));
  });
});
