import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineAction, defineRole, fold, memoryJournal, type RunEvent, Team, usd } from "../../../src/index.ts";
import { askedIn, keptTally, type RunTally, TallyFold } from "../../../src/runtime/record/run-summary.ts";
import { scriptedModel, simulatedClock } from "../../../src/testing/index.ts";
import { eventsOf } from "../../team/recorded.ts";

const Draft = defineAction({ name: "Draft", run: (ctx) => ctx.ask(`Write about ${ctx.text}.`, { maxTokens: 100 }) });
const Ask = defineAction({ name: "Ask", run: async (ctx) => String(await ctx.human.ask("Is it good?")) });

/** Runs of a team that pays, asks, stops and goes on. */
async function record(): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  const model = scriptedModel(() => ({ content: "The sea.", usage: { inputTokens: 3, outputTokens: 7 } }), {
    id: "m",
    price: { input: 10, output: 100 },
  });
  const roles = [defineRole({ name: "Dora", actions: [Draft] }), defineRole({ name: "Eda", watch: [Draft], actions: [Ask] })];
  const team = new Team({ roles, model, journal, budget: usd(1) });
  const first = await team.run("the sea", { id: "r" }).result;
  await (
    await team.answer("r", first.questions[0]?.id ?? "", "yes")
  ).result;
  await team.resume("r", { add: ["the hills"] }).result;
  return eventsOf(journal, "r");
}

function tallyOf(events: readonly RunEvent[], from?: RunTally): RunTally {
  const folding = new TallyFold("r", from);
  for (const event of events) folding.add(event);
  return folding.tally;
}

describe("the summary of a run", () => {
  it("TallyFold.A1 TallyFold.A2 has the sums of the state after any event, however its readers overlap", async () => {
    const events = await record();
    const cut = fc.integer({ min: 1, max: events.length });
    fc.assert(
      fc.property(cut, fc.nat(events.length), (length, back) => {
        // The process died here: the run is resumed, and open holds count.
        const past = events.slice(0, length);
        const died: RunEvent = { v: 1, runId: "r", seq: length, time: 1, type: "run.resumed", uncertain: [] };
        const tally = tallyOf([...past, ...past.slice(Math.max(0, length - back)), died]);
        const state = fold([...past, died]);
        const { cost, calls, tokens, unpriced, roles, events: count } = tally.summary;
        const { inputTokens, outputTokens } = state.ledger.usage;
        expect({ cost, calls, tokens, unpriced }).toEqual({
          cost: state.ledger.spent,
          calls: state.calls,
          tokens: inputTokens + outputTokens,
          unpriced: state.ledger.unpriced,
        });
        expect(roles).toEqual([...state.roles.keys()]);
        expect(count).toBe(length + 1);
      }),
    );
  });

  it("TallyFold.A3 has the beginning of a fork, not that of its parent", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
    const team = new Team({ roles: [defineRole({ name: "Ann", actions: [Ask] })], journal, clock });
    await team.run("go", { id: "r" }).result;
    await clock.advance(60_000);
    await team.fork("r", { id: "f" }).result;
    const [parent, fork] = await Promise.all(["r", "f"].map(async (id) => tallyOf(await eventsOf(journal, id))));
    expect([parent?.summary.started, fork?.summary.started]).toEqual([1_000, 61_000]);
  });

  it("tells how the run stands, its idea and its questions", async () => {
    const events = await record();
    const asked = events.findIndex((event) => event.type === "run.ended");
    expect(tallyOf(events.slice(0, asked + 1)).summary).toMatchObject({ status: "waiting", idea: "the sea" });
    expect(tallyOf(events.slice(0, asked)).summary.status).toBe("open");
    expect(askedIn(tallyOf(events.slice(0, asked + 1)))).toHaveLength(1);
    expect(tallyOf([]).summary).toMatchObject({ status: "empty", events: 0 });
  });

  it("TallyFold.A3 TallyFold.A4 goes on from a kept tally as from the first event, and keeps open steps alone", async () => {
    const events = await record();
    for (let cut = 0; cut <= events.length; cut += 1) {
      const kept = keptTally(JSON.parse(JSON.stringify(tallyOf(events.slice(0, cut)))), "r");
      expect(kept).toBeDefined();
      expect(tallyOf(events, kept)).toEqual(tallyOf(events));
      const { open } = fold(events.slice(0, cut));
      expect(open.size > 0 || kept?.steps.length === 0).toBe(true);
    }
  });

  it("counts what was told after an end, until the run goes on", async () => {
    const events = await record();
    const { message } = events.find((event) => event.type === "message") ?? expect.fail();
    const seq = events.length;
    const told = [...events, { v: 1, runId: "r", seq, time: 1, type: "message", message } as RunEvent];
    expect(tallyOf(told).summary).toMatchObject({ status: "waiting", told: 1 });
    const resumed: RunEvent = { v: 1, runId: "r", seq: seq + 1, time: 1, type: "run.resumed", uncertain: [] };
    expect(tallyOf([...told, resumed]).summary).not.toHaveProperty("told");
  });

  it("names the roles that belong to the team: a retired one only after it was hired again", async () => {
    const events = await record();
    const change = (body: object, past: readonly RunEvent[]): readonly RunEvent[] => [
      ...past,
      { v: 1, runId: "r", seq: past.length, time: 1, ...body } as RunEvent,
    ];
    const retired = change({ type: "role.retired", role: "Dora", keeps: 0 }, events);
    expect(tallyOf(retired).summary.roles).toEqual(["Eda"]);
    const { roles } = events.find((event) => event.type === "run.started") ?? expect.fail();
    const again = change({ type: "role.hired", roles: roles.slice(0, 1) }, retired);
    expect(tallyOf(again).summary.roles).toEqual(["Eda", "Dora"]);
    expect(tallyOf(again, tallyOf(retired)).summary.roles).toEqual(["Eda", "Dora"]);
  });

  it("has a question to a person who took a role, until the role is given back", () => {
    const asked = { act: "Dora#0~1", key: "k", kind: "human", name: "ask", asked: 0, try: 1, hold: 0 };
    const bodies: readonly object[] = [
      { type: "role.taken", role: "Dora", by: "Cleo" },
      { type: "step.started", ...asked, request: { role: "Dora", question: "?", player: true } },
      { type: "step.started", ...asked, key: "own", request: { role: "Dora", question: "own" } },
      { type: "role.taken", role: "Dora", back: true },
    ];
    const events = bodies.map((body, seq) => ({ v: 1, runId: "r", seq, time: 1, ...body }) as RunEvent);
    const keys = (upTo: number): readonly string[] => askedIn(tallyOf(events.slice(0, upTo))).map(({ key }) => key);
    expect([keys(3), keys(4)]).toEqual([["k", "own"], ["own"]]);
  });

  it("is not taken from another run, version or form", async () => {
    const tally = tallyOf(await record());
    expect(keptTally(tally, "r")).toBe(tally);
    for (const other of [undefined, null, [], {}, { ...tally, v: 0 }, { ...tally, summary: null }, { ...tally, steps: 1 }]) {
      expect(keptTally(other, "r")).toBeUndefined();
    }
    expect(keptTally(tally, "s")).toBeUndefined();
  });
});
