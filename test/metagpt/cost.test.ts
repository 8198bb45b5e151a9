import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ChatModel, defineAction, defineRole, formatCost, type Role, type RunEvent, Team, usd } from "../../src/index.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

/** A reply of 1000 tokens at a cent. */
function priced(): ScriptedModel {
  const usage = { inputTokens: 0, outputTokens: 1000 };
  return scriptedModel(() => ({ content: "done", usage }), { price: { input: 0, output: 10 }, maxOutputTokens: 1000 });
}

/** Asks once for each message, and is bound to a reply of 1000 tokens. */
const Work = defineAction({ name: "Work", run: (ctx) => ctx.ask(ctx.text, { maxTokens: 1000 }) });
/** Asks twice. */
const WorkTwice = defineAction({
  name: "WorkTwice",
  run: async (ctx) => {
    await ctx.ask("the first half", { maxTokens: 1000 });
    return ctx.ask("the second half", { maxTokens: 1000 });
  },
});

function workers(count: number): Role[] {
  return Array.from({ length: count }, (_, i) => defineRole({ name: `worker ${i}`, actions: [Work] }));
}

/** The same model with a price that nobody knows. */
function unpriced(model: ScriptedModel): ChatModel {
  return { id: "some-model-of-tomorrow", chat: (request, o) => model.chat(request, o), stream: (request, o) => model.stream(request, o) };
}

describe("a budget", () => {
  test("[MetaGPT: money was counted between rounds only, so one round could spend any amount] no round overspends", async () => {
    const model = priced();
    const { status, cost, error } = await new Team({ model, budget: usd(0.035), roles: workers(8) }).run("go").result;
    expect([status, error?.code, model.calls.length]).toEqual(["budget", "BUDGET", 3]);
    expect(cost).toEqual({ known: usd(0.03), unpriced: 0 });
  });

  test("[MetaGPT: the run had spent more than it had when it stopped] what it has is enough to the last cent", async () => {
    const model = priced();
    const { status, cost } = await new Team({ model, budget: usd(0.08), roles: workers(8) }).run("go").result;
    expect([status, cost.known, model.calls.length]).toEqual(["finished", usd(0.08), 8]);
  });

  test("[MetaGPT: a model without a known price cost 0, and no budget ever stopped it] it is refused under a budget", async () => {
    const model = priced();
    const team = new Team({ model: unpriced(model), budget: usd(3), roles: workers(1) });
    const { status, error } = await team.run("go").result;
    expect([status, model.calls.length]).toEqual(["failed", 0]);
    expect(error?.message).toContain("some-model-of-tomorrow");
  });

  test("[MetaGPT: and its cost was told as 0] without a budget it is reported as unknown", async () => {
    const { status, cost } = await new Team({ model: unpriced(priced()), roles: workers(2) }).run("go").result;
    expect([status, cost, formatCost(cost)]).toEqual(["finished", { known: 0, unpriced: 2 }, "$?"]);
  });
});

describe("one ledger and one state", () => {
  test("[MetaGPT: a context was made anew at every access, and the cost written to it was lost] every role's calls are counted", async () => {
    const { cost, usage } = await new Team({ model: priced(), roles: workers(5) }).run("go").result;
    expect(cost).toEqual({ known: usd(0.05), unpriced: 0 });
    expect(usage).toMatchObject({ outputTokens: 5000 });
  });

  test("[MetaGPT: and so was what an action wrote there for the next one] what is written to the state is there, now and later", async () => {
    const Count = defineAction({
      name: "Count",
      run: (ctx) => {
        ctx.state["count"] = Number(ctx.state["count"] ?? 0) + 1;
        return String(ctx.state["count"]);
      },
    });
    const Tell = defineAction({ name: "Tell", run: (ctx) => `counted ${String(ctx.state["count"])}`, sendTo: () => ["<self>"] });
    const ann = defineRole({
      name: "Ann",
      actions: [Count, Tell],
      reactMode: "by_order",
      state: z.object({ count: z.number().default(0) }),
    });
    const { messages } = await new Team({ roles: [ann] }).run("go", { rounds: 3 }).result;
    expect(messages.map((message) => message.content)).toEqual(["go", "counted 1", "counted 2", "counted 3"]);
  });
});

describe("[MetaGPT: recovery threw the saved ledger away: spend was 0 and the budget 10.0 again] a run that continues", () => {
  /** A run on two cents that has paid its first call when it is killed. */
  async function killedAfterOneCall(): Promise<readonly RunEvent[]> {
    const ann = defineRole({ name: "Ann", actions: [WorkTwice] });
    const team = new Team({ model: priced(), budget: usd(0.02), roles: [ann] });
    const run = team.run("go", { id: "r" });
    expect((await run.result).cost.known).toBe(usd(0.02));
    const events = await eventsOf(team.journal, "r");
    return events.slice(0, events.findIndex((event) => event.type === "step.ended") + 1);
  }

  async function goingOn(
    events: readonly RunEvent[],
    model: ChatModel,
    budget?: number,
  ): Promise<Awaited<ReturnType<Team["run"]>["result"]>> {
    const ann = defineRole({ name: "Ann", actions: [WorkTwice] });
    const journal = await journalWith("r", events);
    return new Team({ model, journal, roles: [ann], ...(budget === undefined ? {} : { budget: usd(budget) }) }).resume("r").result;
  }

  test("has spent what it had spent, and pays for no answer twice", async () => {
    const model = priced();
    const { status, cost } = await goingOn(await killedAfterOneCall(), model, 0.02);
    expect([status, cost.known, model.calls.length]).toEqual(["finished", usd(0.02), 1]);
  });

  test("has the budget it had, when its team names none", async () => {
    const model = priced();
    const events = (await killedAfterOneCall()).map((event) => (event.type === "run.started" ? { ...event, budget: usd(0.015) } : event));
    const { status, cost } = await goingOn(events, model);
    expect([status, cost.known, model.calls.length]).toEqual(["budget", usd(0.01), 0]);
  });

  test("knows under that budget that a price no one knows is no price", async () => {
    const model = priced();
    const { status, cost } = await goingOn(await killedAfterOneCall(), unpriced(model));
    expect([status, cost, model.calls.length]).toEqual(["failed", { known: usd(0.01), unpriced: 0 }, 0]);
  });

  test("has what is invested anew, and less money stops it", async () => {
    const events = await killedAfterOneCall();
    expect((await goingOn(events, priced(), 0.015)).status).toBe("budget");
    expect((await goingOn(events, priced(), 0.5)).status).toBe("finished");
  });

  test("counts a call that was in flight at the kill as paid, and says so", async () => {
    const events = (await killedAfterOneCall()).slice(0, -1);
    const model = priced();
    const { status, cost, uncertain } = await goingOn(events, model, 1);
    expect([status, model.calls.length]).toEqual(["finished", 2]);
    expect(cost.known).toBe(usd(0.02) + uncertain);
    expect(uncertain).toBeGreaterThanOrEqual(usd(0.01));
  });
});
