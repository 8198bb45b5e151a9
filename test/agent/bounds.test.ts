import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import { type ModelError, UsageError } from "../../src/kernel/errors.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import type { ChatModel, ChatResponse } from "../../src/model/chat-model.ts";
import { formatCost, type MicroUsd } from "../../src/model/money.ts";
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { answering } from "../runtime/town.ts";

/** Micro-dollars and tokens of one call, and the most that one may cost. */
const COST = 10_000;
const HOLD = 15_000;
const micro = (amount: number): MicroUsd => amount as MicroUsd;

const look = defineTool({
  name: "look",
  description: "Looks.",
  parameters: z.object({ at: z.number() }),
  effect: "read",
  execute: ({ at }) => `seen ${at}`,
});

/** A model that looks so often before it answers. */
function looking(times: number, answer?: ScriptedAnswer): ScriptedModel {
  const options = { price: { input: 0, output: 1 }, maxOutputTokens: HOLD };
  const usage = { inputTokens: 0, outputTokens: COST };
  return scriptedModel(async (request, n): Promise<Partial<ChatResponse>> => {
    await answer?.(request, n);
    if (n % (times + 1) === times) return { content: "done", usage };
    const [call] =
      ChatMessage.fromToolCalls([{ id: `c${n}`, type: "function", function: { name: "look", arguments: `{"at":${n}}` } }]).toolCalls ?? [];
    return { toolCalls: call === undefined ? [] : [call], usage };
  }, options);
}

function looker(model: ChatModel, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ name: "Lea", model, tools: [look], ...options });
}

describe("an agent alone", () => {
  test("is bound by a budget, over all its runs", async () => {
    const agent = looker(looking(2), { budget: micro(50_000) });
    const first = await agent.run("look twice").result;
    expect([first.status, first.cost.known]).toEqual(["finished", 3 * COST]);
    const second = await agent.run("and again").result;
    expect([second.status, second.cost.known, second.error?.message]).toEqual([
      "budget",
      COST,
      expect.stringMatching(/\$0\.01 of \$0\.05 is left in the budget of Lea/) as string,
    ]);
    expect(agent.state).toBe("IDLE");
  });

  test("draws on a pool that others share, and gives back what its calls did not cost", async () => {
    const pool = budgetPool(micro(65_000));
    const agents = Array.from({ length: 4 }, () => looker(looking(9), { budget: pool }));
    const results = await Promise.all(agents.map((agent) => agent.run("look").result));
    expect(results.map(({ status }) => status)).toEqual(["budget", "budget", "budget", "budget"]);
    const spent = results.reduce((sum, { cost }) => sum + cost.known, 0);
    expect([pool.spent, pool.held, spent <= pool.amount, spent + HOLD > pool.amount]).toEqual([spent, 0, true, true]);
  });

  test("is told as unpriced where a model's price is not known, and is refused one under a budget", async () => {
    const unpriced: ChatModel = { ...looking(0), id: "nobody-knows-it" };
    const plain: ChatModel = { id: unpriced.id, streams: false, chat: looking(0).chat.bind(looking(0)), stream: unpriced.stream };
    const told = await looker(plain).run("look").result;
    expect([told.status, formatCost(told.cost)]).toEqual(["finished", "$?"]);
    const refused = await looker(plain, { budget: micro(50_000) }).run("look").result;
    expect((refused.error as ModelError).code).toBe("MODEL_UNPRICED");
    const allowed = await looker(plain, { budget: micro(50_000), calls: { requirePrice: false } }).run("look").result;
    expect(allowed.status).toBe("finished");
  });

  test("RunTally.T2 makes no further call once its tokens are used, and goes on with the next run", async () => {
    const model = looking(9);
    const agent = looker(model, { tokenLimit: 2 * COST + 1 });
    const first = await agent.run("look").result;
    expect([first.status, first.usage.outputTokens, first.error?.message]).toEqual([
      "tokens",
      3 * COST,
      expect.stringMatching(/30000 tokens are used, of at most 20001/) as string,
    ]);
    expect((await agent.run().result).status).toBe("tokens");
    expect(model.calls.length).toBe(6);
  });

  test("RunTally.T1 counts a call that was cut off at what it may have cost", async () => {
    const stop = new AbortController();
    const model = looking(0, async () => {
      stop.abort();
      await new Promise(() => {});
      return "";
    });
    const pool = budgetPool(micro(50_000));
    const result = await looker(model, { budget: pool }).run("look", { signal: stop.signal }).result;
    expect([result.status, result.cost.known]).toEqual(["stopped", HOLD]);
    await nextMacrotask();
    expect([pool.spent, pool.held]).toEqual([HOLD, 0]);
  });

  test("is bound by the budget of a run whose step it works in", async () => {
    const eda = answering("Eda", async (rc) => {
      const told = await rc.step("look", {}, ({ budget }) =>
        looker(looking(9), { budget })
          .run("look")
          .result.then(({ status }) => status),
      );
      return rc.message(told);
    });
    const result = await new Team({ roles: [eda], budget: micro(30_000) }).run("go").result;
    expect([result.status, result.output?.content, result.cost.known]).toEqual(["finished", "budget", 2 * COST]);
  });

  test.each<[string, Partial<AgentOptions>]>([
    ["a budget that is no amount", { budget: "much" as never }],
    ["a token limit of nothing", { tokenLimit: 0 }],
    ["limits that are none", { limits: { concurrency: -1 } }],
    ["a budget beside a role's door", { budget: micro(5), steps: { step: () => Promise.reject(new Error("unused")) } }],
  ])("refuses %s", (_what, options) => {
    expect(() => looker(looking(0), options)).toThrow(UsageError);
  });
});
