import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { ChatModel, ChatRequest, ChatResponse, Usage } from "../../src/model/chat-model.ts";
import { modelError } from "../../src/model/failure.ts";
import { formatCost, usd } from "../../src/model/money.ts";
import { costOf, holdFor, type ModelPrice } from "../../src/model/price.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { apply } from "../../src/runtime/record/apply.ts";
import type { RunEvent, StepEnded, StepStarted } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { type Latency, promptOf, shuffled, steady, stillClock } from "./outside.ts";
import { tries as triesOf } from "../long.ts";

const price: ModelPrice = { input: 100, output: 1_000 };

/** The fate of one try of a call. `used` is the part of its reply's bound that it used. */
type Try =
  | { readonly kind: "answers" | "answers badly"; readonly used: number }
  | { readonly kind: "tells no usage" | "breaks" | "is refused" };

const oneTry: fc.Arbitrary<Try> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("answers" as const), used: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("answers badly" as const), used: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("tells no usage" as const, "breaks" as const, "is refused" as const) }) },
);

interface Sketch {
  /** Bounds of the replies that each of the eight roles asks for, one after another or side by side. */
  readonly calls: readonly (readonly number[])[];
  readonly sideBySide: boolean;
  readonly tries: readonly Try[];
  readonly seed: number;
}

const sketch: fc.Arbitrary<Sketch> = fc.record({
  calls: fc.array(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 0, maxLength: 4 }), { minLength: 8, maxLength: 8 }),
  sideBySide: fc.boolean(),
  tries: fc.array(oneTry, { minLength: 1, maxLength: 12 }),
  seed: fc.nat(),
});

/** A model that is never dearer than what was reserved for it, and fails in all ways. */
class Provider implements ChatModel {
  readonly id = "provider";
  declare readonly price?: ModelPrice;
  readonly streams = false;
  /** The amount to settle for each try, by prompt, in the order of the tries. */
  readonly bills: Map<string, { readonly hold: number; readonly cost: number }[]> = new Map();
  readonly #tries: readonly Try[];
  readonly #latency: Latency;
  #calls = 0;

  constructor(tries: readonly Try[], latency: Latency, itsPrice: ModelPrice | "unknown" = price) {
    this.#tries = tries;
    this.#latency = latency;
    if (itsPrice !== "unknown") this.price = itsPrice;
  }

  get calls(): number {
    return this.#calls;
  }

  async chat(request: ChatRequest): Promise<ChatResponse> {
    const way = this.#tries[this.#calls % this.#tries.length] as Try;
    this.#calls += 1;
    const hold = holdFor(request, price);
    const usage = usageOf(way, request);
    const cost = way.kind === "is refused" ? 0 : usage === undefined ? hold : costOf(usage, price);
    this.bills.set(promptOf(request), [...(this.bills.get(promptOf(request)) ?? []), { hold, cost }]);
    for (let turns = this.#latency(); turns > 0; turns -= 1) await nextMacrotask();
    switch (way.kind) {
      case "is refused":
        throw modelError("MODEL_RATE_LIMIT", "slow down", { data: { mayHaveRun: false } });
      case "breaks":
        throw modelError("MODEL_SERVER", "something broke");
      case "answers badly":
        throw modelError("MODEL_REFUSED", "no", { data: { ...(usage === undefined ? {} : { usage }) } });
      case "tells no usage":
      case "answers":
        return { content: "yes", toolCalls: [], finishReason: "stop", ...(usage === undefined ? {} : { usage }) };
    }
  }

  stream(): AsyncIterable<never> {
    throw new Error("it cannot stream");
  }
}

function usageOf(way: Try, request: ChatRequest): Usage | undefined {
  if (!("used" in way)) return undefined;
  const bytes = JSON.stringify(request).length;
  return { inputTokens: Math.max(1, Math.floor(bytes * way.used)), outputTokens: Math.floor((request.maxTokens ?? 0) * way.used) };
}

/** Eight roles that all hear the idea and ask; what fails is skipped, for the others to go on. */
function askers({ calls, sideBySide }: Pick<Sketch, "calls" | "sideBySide">): Role[] {
  return calls.map((bounds, index) =>
    defineRole({
      name: `R${index}`,
      onFailure: "skip",
      react: async (rc) => {
        const ask = (maxTokens: number, nth: number): Promise<string> => rc.ask(`question ${nth} of ${rc.name}`, { maxTokens });
        if (sideBySide) await Promise.all(bounds.map(ask));
        else for (const [nth, bound] of bounds.entries()) await ask(bound, nth);
        return rc.message("done");
      },
    }),
  );
}

function teamOf(roles: Iterable<Role>, model: ChatModel, options: TeamOptions): Team {
  return new Team({ seed: "money", clock: stillClock, budget: usd(1), roles, model, ...options });
}

/** B1 at every event: what is spent and what is reserved never exceed the budget of that time. */
function expectWithinBudget(events: readonly RunEvent[]): void {
  const state = new RunState("");
  for (const event of events) {
    apply(state, event);
    if (state.budget !== undefined)
      expect(state.ledger.spent + state.ledger.held, `event ${event.seq}, ${event.type}`).toBeLessThanOrEqual(state.budget);
    if (event.type === "run.ended") expect(state.ledger.openHolds).toBe(0);
    if (event.type === "run.ended" && event.status === "budget") {
      const refusal = event.error?.data as { readonly needed: number } | undefined;
      expect(state.ledger.spent + (refusal?.needed ?? 0), "the next one must not have fitted").toBeGreaterThan(state.budget ?? 0);
    }
  }
}

function sumOfSettled(events: readonly RunEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === "step.ended" ? (event.cost ?? 0) : 0), 0);
}

/** Every try settled as its provider would bill it. */
function expectBilled(events: readonly RunEvent[], bills: Provider["bills"]): void {
  const starts = new Map<string, StepStarted>();
  const settled = new Map<string, { hold: number; cost: number | null }[]>();
  for (const event of events) {
    if (event.type === "step.started") starts.set(`${event.act} ${event.key} ${event.try}`, event);
    if (event.type !== "step.ended") continue;
    const started = starts.get(`${event.act} ${event.key} ${event.try}`);
    starts.delete(`${event.act} ${event.key} ${event.try}`);
    // The answer of a step whose last try has failed, and was settled then.
    if (started === undefined) expect(event).toMatchObject({ ok: false, cost: 0, basis: "none" });
    if (started === undefined) continue;
    const prompt = promptOf(started.request as unknown as ChatRequest);
    settled.set(prompt, [...(settled.get(prompt) ?? []), { hold: started.hold, cost: event.cost }]);
  }
  expect(Object.fromEntries(settled)).toEqual(Object.fromEntries(bills));
}

describe("a budget of one dollar with eight concurrent roles", () => {
  test("is never overspent, is used up as far as it goes, and can be raised", { tags: "numbers" }, async () => {
    const seen = { budget: 0, finished: 0 };
    await fc.assert(
      fc.asyncProperty(sketch, async (sketched) => {
        const journal = memoryJournal();
        const model = new Provider(sketched.tries, shuffled(sketched.seed));
        const team = teamOf(askers(sketched), model, { journal });
        const run = team.run("go");
        const result = await run.result;
        const events = await eventsOf(journal, run.id);
        expectWithinBudget(events);
        expectBilled(events, model.bills);
        expect(result.cost).toEqual({ known: sumOfSettled(events), unpriced: 0 });
        expect(["budget", "finished"]).toContain(result.status);
        seen[result.status as "budget" | "finished"] += 1;
        if (result.status === "finished") return;
        const dearest = Math.max(
          ...sketched.calls
            .flat()
            .map((maxTokens) => holdFor({ messages: [{ role: "user", content: "x".repeat(300) }], maxTokens }, price)),
        );
        expect(result.cost.known).toBeGreaterThan(usd(1) - dearest);

        const raised = await team.invest(usd(1_000)).resume(run.id).result;
        const all = await eventsOf(journal, run.id);
        expect(raised.status).toBe("finished");
        expect(raised.messages.length + raised.deadLetters.length).toBe(1 + 8);
        expect(raised.cost.known).toBe(sumOfSettled(all));
        expectWithinBudget(all);
        expectBilled(all, model.bills);
      }),
      { numRuns: triesOf(25, 300) },
    );
    expect(seen.budget, "the budget must have been reached often").toBeGreaterThan(triesOf(5, 70));
    expect(seen.finished).toBeGreaterThan(triesOf(2, 20));
  });

  test("nor when it is killed anywhere and goes on", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(sketch, fc.double({ min: 0, max: 1, noNaN: true }), async (sketched, at) => {
        const journal = memoryJournal();
        const first = teamOf(askers(sketched), new Provider(sketched.tries, shuffled(sketched.seed)), { journal }).run("go");
        await first.result;
        const events = await eventsOf(journal, first.id);
        const kept = events.slice(0, 2 + Math.floor(at * (events.length - 2)));
        const second = await journalWith(first.id, kept);
        const result = await teamOf(askers(sketched), new Provider(sketched.tries, shuffled(sketched.seed + 1)), {
          journal: second,
        }).resume(first.id).result;
        const all = await eventsOf(second, first.id);
        expectWithinBudget(all);
        expect(result.cost.known).toBe(sumOfSettled(all) + result.uncertain);
        expect(["budget", "finished"]).toContain(result.status);
      }),
      { numRuns: triesOf(15, 160) },
    );
  });

  test("nor when it is stopped anywhere: what is cut off costs what was reserved for it", { tags: "numbers" }, async () => {
    const seen = { cut: 0 };
    await fc.assert(
      fc.asyncProperty(sketch, fc.integer({ min: 2, max: 40 }), async (sketched, last) => {
        const journal = memoryJournal();
        const model = new Provider(sketched.tries, shuffled(sketched.seed));
        const run = teamOf(askers(sketched), model, { journal }).run("go");
        for await (const event of run) if (event.seq === last) run.stop();
        const result = await run.result;
        const events = await eventsOf(journal, run.id);
        expectWithinBudget(events);
        expect(result.cost.known).toBe(sumOfSettled(events));
        const billed = [...model.bills.values()].flat().reduce((sum, { cost }) => sum + cost, 0);
        expect(result.cost.known).toBeGreaterThanOrEqual(billed);
        if (result.status === "stopped" && result.cost.known > billed) seen.cut += 1;
      }),
      { numRuns: triesOf(15, 160) },
    );
    expect(seen.cut, "calls must have been cut off").toBeGreaterThan(5);
  });
});

describe("the cost of one try", () => {
  async function one(tries: readonly Try[], options: TeamOptions = {}, itsPrice: ModelPrice | "unknown" = price) {
    const model = new Provider(tries, steady, itsPrice);
    const journal = memoryJournal();
    const asker = defineRole({ name: "Asker", react: async (rc) => rc.message(await rc.ask("what?", { maxTokens: 100 })) });
    const run = teamOf([asker], model, { journal, ...options }).run("go");
    const result = await run.result;
    const events = await eventsOf(journal, run.id);
    return {
      result,
      model,
      holds: events.flatMap((event) => (event.type === "step.started" ? [event.hold] : [])),
      ended: events.filter(isEnded),
    };
  }

  test("without usage it settles at its hold", { tags: "numbers" }, async () => {
    const { result, holds } = await one([{ kind: "tells no usage" }]);
    expect(result).toMatchObject({ status: "finished", cost: { known: holds[0], unpriced: 0 }, usage: { estimated: true } });
    expect(holds).toEqual([expect.any(Number)]);
  });

  test("refused before the model ran at zero, broken at its hold, and each try is a hold of its own", { tags: "numbers" }, async () => {
    const { result, holds, ended } = await one([
      { kind: "is refused" },
      { kind: "breaks" },
      { kind: "is refused" },
      { kind: "answers", used: 0.5 },
    ]);
    expect(ended.map(({ cost, basis }) => [basis, cost])).toEqual([
      ["none", 0],
      ["hold", holds[1]],
      ["none", 0],
      ["usage", expect.any(Number)],
    ]);
    expect(new Set(holds)).toEqual(new Set([holds[0]]));
    expect(result.cost.known).toBe((holds[1] ?? 0) + (ended[3]?.cost ?? 0));
  });

  test("a model without a known price is an error under a budget, before anything is sent", { tags: "numbers" }, async () => {
    const { result, model, ended } = await one([{ kind: "answers", used: 1 }], {}, "unknown");
    expect(result).toMatchObject({ status: "failed", error: { code: "MODEL_UNPRICED" }, cost: { known: 0, unpriced: 0 } });
    expect(model.calls).toBe(0);
    expect(ended.map(({ ok, cost }) => [ok, cost])).toEqual([[false, 0]]);
  });

  test("allowed, its cost is told as unknown and never as nothing", { tags: "numbers" }, async () => {
    const { result, model } = await one([{ kind: "answers", used: 1 }], { allowUnpriced: true }, "unknown");
    expect(result).toMatchObject({ status: "finished", cost: { known: 0, unpriced: 1 } });
    expect(formatCost(result.cost)).toBe("$?");
    expect(model.calls).toBe(1);
  });

  test("beside a priced one it is told as part of the cost", { tags: "numbers" }, async () => {
    const roles = [price, "unknown" as const].map((itsPrice, index) =>
      defineRole({
        name: `R${index}`,
        model: new Provider([{ kind: "answers", used: 1 }], steady, itsPrice),
        react: async (rc) => void (await rc.ask("what?", { maxTokens: 100 })),
      }),
    );
    const result = await teamOf(roles, new Provider([], steady), { allowUnpriced: true }).run("go").result;
    expect(result.cost.unpriced).toBe(1);
    expect(formatCost(result.cost)).toMatch(/^\$0\.1\d+ \+ \$\?$/);
  });

  test("a call that can never fit is refused before it is sent, and raising the budget lets it go", { tags: "numbers" }, async () => {
    const model = new Provider([{ kind: "answers", used: 0.1 }], steady);
    const asker = defineRole({ name: "Asker", react: async (rc) => rc.message(await rc.ask("what?", { maxTokens: 100 })) });
    const team = teamOf([asker], model, { budget: usd(0.01) });
    const run = team.run("go");
    expect(await run.result).toMatchObject({ status: "budget", error: { code: "BUDGET" }, cost: { known: 0 } });
    expect(model.calls).toBe(0);
    expect(await team.resume(run.id).result).toMatchObject({ status: "budget" });
    expect(await team.invest(usd(1)).resume(run.id).result).toMatchObject({ status: "finished", output: { content: "yes" } });
    expect(model.calls).toBe(1);
  });
});

function isEnded(event: RunEvent): event is RunEvent & StepEnded {
  return event.type === "step.ended";
}
