import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "../../src/model/chat-model.ts";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { usd } from "../../src/model/money.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { createServer } from "../../src/server/index.ts";
import type { ServerOptions } from "../../src/server/server-options.ts";
import { simulatedProcesses, type SimulatedProcess } from "../simulated-processes.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

/** Micro-dollars of every call that the server gets, whether its answer arrives or not. */
const BILL = 9_999;

/** A model server that counts and bills what it is asked. A call without an answer hangs. */
class CountingServer {
  asked = 0;
  readonly keys = new Map<string, number>();
  #answers = Infinity;

  get billed(): number {
    return this.asked * BILL;
  }

  /** Answers that many calls, and lets all others hang. */
  answer(answers: number): void {
    this.#answers = answers;
  }

  /** Resolves when nobody has asked for a while. */
  async quiet(): Promise<void> {
    for (let [asked, turns] = [-1, 0]; turns < 40; turns += 1) {
      if (asked !== this.asked) [asked, turns] = [this.asked, 0];
      await nextMacrotask();
    }
  }

  model(more: Pick<ChatModel, "dropsRepeats"> = {}): ChatModel {
    const chat = (_request: ChatRequest, { key = "" }: { readonly key?: string }): Promise<ChatResponse> => this.#chat(key);
    // 16,384 tokens of a reply are $0.0492, and 3,333 are a cent.
    return { id: "counted", price: { input: 0, output: 3 }, streams: false, chat, stream: undefined as never, ...more };
  }

  #chat(key: string): Promise<ChatResponse> {
    this.asked += 1;
    this.keys.set(key, (this.keys.get(key) ?? 0) + 1);
    if (this.#answers <= 0) return new Promise(() => {});
    this.#answers -= 1;
    const usage = { inputTokens: 0, outputTokens: 3_333 };
    return Promise.resolve({ content: "done", toolCalls: [], finishReason: "stop", usage });
  }
}

const worker = answering("Ann", async (rc) => rc.message(await rc.ask("one line")));

const idle = answering("Bob", () => Promise.resolve());

function teamIn({ journal }: Pick<SimulatedProcess, "journal">, model: ChatModel, more: TeamOptions = {}): Team {
  return new Team({ roles: [worker], model, journal, clock: simulatedClock(), budget: usd(2.5), poisonAfter: 100, ...more });
}

const ids = Array.from({ length: 60 }, (_, n) => `run ${n}`);

/** Sixty runs at once, through nine processes that get that many answers and die while all other calls hang, and one that lives. */
async function livedThrough(answers: number) {
  const server = new CountingServer();
  const host = simulatedProcesses(memoryJournal());
  for (let deaths = 0; deaths < 9; deaths += 1) {
    const process = host.start();
    server.answer(answers);
    const team = teamIn(process, server.model());
    for (const id of ids) team.run("go", { id });
    await server.quiet();
    process.kill();
  }
  server.answer(Infinity);
  const last = host.start();
  const team = teamIn(last, server.model());
  const results = await Promise.all(ids.map((id) => team.run("go", { id }).result));
  return { server, results, team, journal: last.journal };
}

const finished = (results: readonly RunResult[]): number => results.filter(({ status }) => status === "finished").length;
const ledger = (results: readonly RunResult[]): number => results.reduce((sum, { cost }) => sum + cost.known, 0);

describe("calls that were in flight when a process died", () => {
  test.each([0, 4, 20])(
    "LocalPool.P5 cost what repeats them costs: 60 runs under $2.50 survive nine deaths, each after %i answers",
    async (answers) => {
      const { server, results } = await livedThrough(answers);
      expect(finished(results)).toBe(60);
      expect(server.asked).toBeGreaterThan(100);
      expect(ledger(results)).toBeGreaterThanOrEqual(server.billed);
      expect(results.reduce((sum, { uncertain }) => sum + uncertain, 0)).toBeGreaterThanOrEqual((server.asked - 60) * BILL);
    },
  );
});

/** A run whose process dies while its call is in flight. */
async function killed(server: CountingServer, model: ChatModel = server.model(), more: TeamOptions = {}) {
  const host = simulatedProcesses(memoryJournal());
  const first = host.start();
  server.answer(0);
  teamIn(first, model, more).run("go", { id: "r" });
  await server.quiet();
  first.kill();
  server.answer(Infinity);
  return host;
}

/** The most that a call without a limit of its own costs: 16,384 tokens. */
const WORST = 49_152;

describe("a call that a crash cut off", () => {
  test("Tries.Y6 costs its worst case until its run continues, then what the repeated call costs, in each account of the run", async () => {
    const server = new CountingServer();
    const { journal } = (await killed(server)).start();
    const before = fold(await eventsOf(journal, "r"));
    expect([before.ledger.held, before.uncertain]).toEqual([WORST, 0]);
    const result = await teamIn({ journal }, server.model()).resume("r").result;
    expect(result).toMatchObject({ status: "finished", cost: { known: 2 * BILL }, uncertain: BILL });
    expect(result.byRole["Ann"]?.cost.known).toBe(2 * BILL);
    expect(result.byModel["counted"]?.cost.known).toBe(2 * BILL);
    const events = await eventsOf(journal, "r");
    expect(events.flatMap((event) => (event.type === "step.ended" ? [event.settles] : []))).toEqual([
      [expect.objectContaining({ try: 1, hold: WORST, cost: BILL })],
    ]);
    const state = fold(events);
    expect([state.lost, state.ledger.held, state.ledger.spent]).toEqual([[], 0, 2 * BILL]);
  });

  test("BudgetGate.B6 is repeated in the room that is kept for it, where the budget of its run has no other", async () => {
    const server = new CountingServer();
    const small = { budget: usd(0.05) };
    const { journal } = (await killed(server, server.model(), small)).start();
    const result = await teamIn({ journal }, server.model(), small).resume("r").result;
    expect(result).toMatchObject({ status: "finished", cost: { known: 2 * BILL } });
    const less = (await killed(server, server.model(), small)).start();
    const lowered = await teamIn(less, server.model(), { budget: usd(0.04) }).resume("r", { budget: usd(0.04) }).result;
    expect(lowered).toMatchObject({ status: "budget", cost: { known: WORST } });
  });

  test("LentBudget.L3 of a run within a step is in the cost of the step once, and in the pool above", async () => {
    const server = new CountingServer();
    const host = simulatedProcesses(memoryJournal());
    const pool = budgetPool(usd(1));
    const pressIn = (process: SimulatedProcess): Team => {
      const poets = new Team({ roles: [worker], model: server.model(), journal: process.journal, clock: simulatedClock() });
      const editor = answering("Eda", async (rc) => {
        await rc.step(
          "have it written",
          {},
          async ({ budget, key }) => (await poets.run("go", { id: `inner ${key}`, budget }).result).status,
        );
      });
      return new Team({ roles: [editor], journal: process.journal, clock: simulatedClock(), budget: pool });
    };
    const first = host.start();
    server.answer(0);
    pressIn(first).run("go", { id: "r" });
    await server.quiet();
    first.kill();
    server.answer(Infinity);
    const before = pool.held;
    const result = await pressIn(host.start()).resume("r").result;
    expect(result).toMatchObject({ status: "finished", cost: { known: 2 * BILL } });
    // The dead process shares this pool with the living one here, so its hold stays.
    expect([pool.spent, pool.held]).toEqual([2 * BILL, before]);
  });
});

describe("Team.settle", () => {
  test("Funds.F4 ends the wait for a call that nothing repeats, once, and gives the pools their room back", async () => {
    const server = new CountingServer();
    const { journal } = (await killed(server)).start();
    const pool = budgetPool(usd(0.06));
    const team = new Team({ roles: [worker], model: server.model(), journal, budget: pool });
    await (await pool.open("r", { spent: 0, lost: [WORST] })).close(false);
    expect((await team.run("other", { id: "other" }).result).status).toBe("budget");
    expect(await team.settle("r")).toEqual({ runId: "r", calls: 1, kept: WORST, cost: 0 });
    expect(pool.spent).toBe(0);
    expect((await team.resume("other").result).status).toBe("finished");
    await expect(team.settle("r")).rejects.toMatchObject({ code: "NOTHING_LOST" });
    const result = await team.resume("r").result;
    expect(result).toMatchObject({ status: "finished", cost: { known: BILL }, uncertain: 0 });
  });

  test("takes what the bill has for each call, and tells the next owner that the one before has died", async () => {
    const server = new CountingServer();
    const { journal } = (await killed(server)).start();
    const team = teamIn({ journal }, server.model());
    expect(await team.settle("r", { cost: usd(0.01) })).toMatchObject({ calls: 1, cost: usd(0.01) });
    const run = team.resume("r");
    const causes: unknown[] = [];
    run.on("run.resumed", ({ cause, uncertain }) => causes.push([cause, uncertain]));
    expect(await run.result).toMatchObject({ cost: { known: usd(0.01) + BILL }, uncertain: usd(0.01) });
    expect(causes).toEqual([["died", []]]);
  });

  test("refuses an unknown run, one under way, one of a living process and one without lost calls", async () => {
    const server = new CountingServer();
    const host = await killed(server);
    const [process, other] = [host.start(), host.start()];
    const team = teamIn(process, server.model());
    await expect(team.settle("nobody")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    server.answer(0);
    const run = team.resume("r");
    await server.quiet();
    await expect(team.settle("r")).rejects.toMatchObject({ code: "RUN_OWNED" });
    await expect(teamIn(other, server.model()).settle("r")).rejects.toMatchObject({ code: "RUN_OWNED" });
    run.stop();
    await run.result;
    server.answer(Infinity);
    await team.resume("r").result;
    await expect(team.settle("r")).rejects.toMatchObject({ code: "NOTHING_LOST" });
  });
});

describe("uncertainAfter", () => {
  /** A run with a lost call that its present team does not repeat, found lost at time 0. */
  async function leftOver(server: CountingServer) {
    const { journal } = (await killed(server, server.model(), { roles: [worker, idle] })).start();
    const clock = simulatedClock();
    const team = (more: TeamOptions = {}) =>
      new Team({ roles: [worker, idle], model: server.model(), journal, clock, budget: usd(2.5), ...more });
    await team().retireFrom("r", "Ann", { onTeamChange: "continue" });
    return { clock, team };
  }

  test("settles at nothing what was lost longer ago when the run is opened, and nothing before", async () => {
    const server = new CountingServer();
    const { clock, team } = await leftOver(server);
    const waits = { uncertainAfter: 1_000 };
    const open = async (more: TeamOptions) =>
      (await team(more).resume("r", { onTeamChange: "continue", add: ["continue"] }).result).cost.known;
    expect(await open(waits)).toBe(WORST);
    await clock.advance(999);
    expect(await open(waits)).toBe(WORST);
    await clock.advance(1);
    expect(await open({})).toBe(WORST);
    expect(await open(waits)).toBe(0);
  });

  test("of a server settles the calls of runs at rest at its start", async () => {
    const server = new CountingServer();
    const { clock, team } = await leftOver(server);
    await team().resume("r", { onTeamChange: "continue" }).result;
    const { journal } = team();
    const lostAfter = async (o: Pick<ServerOptions, "uncertainAfter" | "budget">): Promise<number> => {
      const served = createServer({ team: team(), clock, ...o });
      await served.ready();
      await served.close();
      return fold(await eventsOf(journal, "r")).lost.length;
    };
    await clock.advance(999);
    expect(await lostAfter({ budget: usd(1), uncertainAfter: 1_000 })).toBe(1);
    await clock.advance(1);
    expect(await lostAfter({ budget: usd(1) })).toBe(1);
    expect(await lostAfter({ uncertainAfter: 1_000 })).toBe(0);
  });
});
