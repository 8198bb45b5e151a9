import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "../../src/model/chat-model.ts";
import { usd } from "../../src/model/money.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { simulatedProcesses, type SimulatedProcess } from "../../src/testing/simulated-processes.ts";
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
  test.each([0, 4, 20])("cost what repeats them costs: 60 runs under $2.50 survive nine deaths, each after %i answers", async (answers) => {
    const { server, results } = await livedThrough(answers);
    expect(finished(results)).toBe(60);
    expect(server.asked).toBeGreaterThan(100);
    expect(ledger(results)).toBeGreaterThanOrEqual(server.billed);
    expect(results.reduce((sum, { uncertain }) => sum + uncertain, 0)).toBeGreaterThanOrEqual((server.asked - 60) * BILL);
  });
});
