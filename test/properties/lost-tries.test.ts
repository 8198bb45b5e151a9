import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { ChatModel, ChatResponse } from "../../src/model/chat-model.ts";
import { type MicroUsd, usd } from "../../src/model/money.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { TallyFold } from "../../src/runtime/record/run-summary.ts";
import { restored, snapshotOf } from "../../src/runtime/snapshot/snapshot.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { Team } from "../../src/team/team.ts";
import { tries } from "../long.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "../team/recorded.ts";

/** Each question costs its own amount, whenever it is asked: the same request, the same order of cost. At most the hold of 1,000. */
const COSTS = [1_000, 400, 1, 250];
const HOLD = 1_000;

/** A life of the process: after how many answers it dies, and what happens between its death and the next life. */
interface Life {
  readonly answers: number;
  readonly then: "goes on" | "is settled" | "is settled twice";
}

const life: fc.Arbitrary<Life> = fc.record({
  answers: fc.nat({ max: COSTS.length }),
  then: fc.constantFrom("goes on" as const, "is settled" as const, "is settled twice" as const),
});

const sketch = fc.record({
  lives: fc.array(life, { maxLength: 5 }),
  sideBySide: fc.boolean(),
  dropsRepeats: fc.boolean(),
});

/** A server that bills what it is asked, when it is asked. One that drops repeated keys bills each key once. */
class Server {
  billed = 0;
  /** Micro-dollars of the calls that got no answer since the last settlement or successor, by question. */
  answers = Infinity;
  tried = 0;
  readonly #dropsRepeats: boolean;
  readonly #keys = new Set<string>();

  constructor(dropsRepeats: boolean) {
    this.#dropsRepeats = dropsRepeats;
  }

  model(): ChatModel {
    const chat: ChatModel["chat"] = async ({ messages }, { key = "" }): Promise<ChatResponse> => {
      const cost = COSTS[Number(/question (\d)/.exec(JSON.stringify(messages))?.[1])] ?? 0;
      this.tried += 1;
      if (!(this.#dropsRepeats && this.#keys.has(key))) this.billed += cost;
      this.#keys.add(key);
      if (this.answers <= 0) return new Promise(() => {});
      this.answers -= 1;
      await nextMacrotask();
      return { content: "yes", toolCalls: [], finishReason: "stop", usage: { inputTokens: 0, outputTokens: cost } };
    };
    const price = { input: 0, output: 1 };
    const declared = this.#dropsRepeats ? { dropsRepeats: true } : {};
    return { id: "server", price, maxOutputTokens: HOLD, streams: false, chat, stream: undefined as never, ...declared };
  }

  async quiet(): Promise<void> {
    for (let [seen, turns] = [-1, 0]; turns < 20; turns += 1) {
      if (seen !== this.tried) [seen, turns] = [this.tried, 0];
      await nextMacrotask();
    }
  }
}

/** The amounts of money in a record: the same by every fold. */
function moneyIn(events: readonly RunEvent[]): { readonly ledger: number; readonly held: number; readonly uncertain: number } {
  const state = fold(events);
  const tally = new TallyFold("r");
  for (const event of events) tally.add(event);
  const { ledger, uncertain, lost } = state;
  expect(tally.tally.summary.cost).toBe(ledger.spent);
  for (const table of [state.byRole, state.byModel])
    expect(table.entries().reduce((sum, [, { cost }]) => sum + cost.known, 0)).toBe(ledger.spent);
  expect(ledger.spent - ledger.settled).toBe(lost.reduce((sum, { hold }) => sum + hold, 0));
  expect(restored("r", snapshotOf(state))?.state.ledger.toJSON()).toEqual(ledger.toJSON());
  expect(Math.min(ledger.settled, ledger.held, uncertain)).toBeGreaterThanOrEqual(0);
  return { ledger: ledger.spent + ledger.held, held: ledger.held, uncertain };
}

function holdsIn(events: readonly RunEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === "step.started" ? event.hold : 0), 0);
}

describe("the ledger of a run that dies again and again", () => {
  test("is never below what the server has billed and never above the holds, whatever is cut off, repeated and settled", async () => {
    await fc.assert(
      fc.asyncProperty(sketch, async ({ lives, sideBySide, dropsRepeats }) => {
        const server = new Server(dropsRepeats);
        const host = simulatedProcesses(memoryJournal());
        const asker = answering("Ann", async (rc) => {
          const asked = COSTS.map((_, n) => async () => rc.ask(`question ${n}`));
          if (sideBySide) await Promise.all(asked.map(async (ask) => ask()));
          else for (const ask of asked) await ask();
        });
        const teamIn = ({ journal }: ReturnType<typeof host.start>): Team =>
          new Team({ roles: [asker], model: server.model(), journal, clock: simulatedClock(), budget: usd(1), poisonAfter: 100 });
        const journalOf = host.start().journal;
        const check = async (): Promise<number> => {
          const events = await eventsOf(journalOf, "r");
          const { ledger } = moneyIn(events);
          expect(ledger).toBeGreaterThanOrEqual(server.billed);
          expect(ledger).toBeLessThanOrEqual(holdsIn(events));
          return ledger;
        };
        for (const { answers, then } of lives) {
          const process = host.start();
          server.answers = answers;
          teamIn(process).run("go", { id: "r" });
          await server.quiet();
          process.kill();
          await check();
          if (then === "goes on") continue;
          const team = teamIn(host.start());
          // The bill has at most the hold for each call.
          const settle = () =>
            team.settle("r", { cost: HOLD as MicroUsd }).then(
              ({ calls }) => calls,
              (error: { code: string }) => error.code,
            );
          const first = await settle();
          const ledger = await check();
          if (then === "is settled") continue;
          expect(await settle()).toBe("NOTHING_LOST");
          expect(await check()).toBe(ledger);
          expect(first === "NOTHING_LOST" || Number(first) > 0).toBe(true);
        }
        server.answers = Infinity;
        const { status, cost, uncertain } = await teamIn(host.start()).run("go", { id: "r" }).result;
        expect(status).toBe("finished");
        expect(await check()).toBe(cost.known);
        const once = COSTS.reduce((sum, one) => sum + one, 0);
        expect(cost.known - uncertain).toBe(once);
        if (lives.every(({ then }) => then === "goes on")) expect(cost.known).toBe(server.billed);
      }),
      { numRuns: tries(40, 400) },
    );
  });
});
