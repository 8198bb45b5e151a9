import { describe, expect, it } from "vitest";
import {
  type ChatModel,
  defineAction,
  defineRole,
  fallback,
  memoryJournal,
  ModelError,
  route,
  type RunResult,
  Team,
  usd,
} from "../../src/index.ts";
import { scriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { modelError, type ModelErrorCode } from "../../src/model/failure.ts";

const usage = { inputTokens: 100, outputTokens: 10 };
const priced = (id: string, dollars: number, reply: ScriptedReply | (() => never)): ReturnType<typeof scriptedModel> =>
  scriptedModel(typeof reply === "function" ? reply : () => reply, { id, price: { input: dollars, output: dollars } });
const failing = (code: ModelErrorCode) => (): never => {
  throw modelError(code, `Expected an answer, got ${code}.`);
};

const Ask = defineAction({ name: "Ask", prompt: ({ text }) => text });
const asker = defineRole({ name: "Ada", actions: [Ask] });

function run(model: ChatModel, o: { journal?: ReturnType<typeof memoryJournal>; budget?: number } = {}): Promise<RunResult> {
  const { journal = memoryJournal(), budget = 1 } = o;
  return new Team({ name: "team", roles: [asker], model, journal, budget: usd(budget) }).run("Hello", { id: "run" }).result;
}

describe("fallback", () => {
  const dear = { content: "from the large one", usage };

  it.each<[string, ScriptedReply | (() => never)]>([
    ["a refusal", { content: "", refusal: "No.", usage }],
    ["a filter", { content: "", finishReason: "content_filter", usage }],
    ["a limit", failing("MODEL_RATE_LIMIT")],
    ["spent credit", failing("MODEL_QUOTA")],
    ["a request that is too long", failing("MODEL_CONTEXT_OVERFLOW")],
    ["silence", failing("MODEL_TIMEOUT")],
    ["a server that fails", failing("MODEL_SERVER")],
  ])("asks the next model after %s, once", async (_what, reply) => {
    const small = priced("small", 1, reply);
    const large = priced("large", 10, dear);
    const result = await run(fallback([small, large]));
    expect([result.status, result.output?.content, small.calls.length, large.calls.length]).toEqual(["finished", dear.content, 1, 1]);
  });

  it("does not hide a wrong key, nor a failure that its policy leaves out", async () => {
    const large = priced("large", 10, dear);
    expect((await run(fallback([priced("small", 1, failing("MODEL_AUTH")), large]))).error).toMatchObject({ code: "MODEL_AUTH" });
    const policy = { on: ["refusal"] } as const;
    expect((await run(fallback([priced("small", 1, failing("MODEL_CONTEXT_OVERFLOW")), large], policy))).error).toMatchObject({
      code: "MODEL_CONTEXT_OVERFLOW",
    });
    expect(large.calls).toHaveLength(0);
  });

  it("costs what the models that ran cost, and a replay asks none", async () => {
    const journal = memoryJournal();
    const refused = { content: "", refusal: "No.", usage };
    const models = (): readonly ChatModel[] => [priced("small", 1, refused), priced("large", 10, dear)];
    const result = await run(fallback(models()), { journal });
    expect(result.cost).toEqual({ known: 1_210, unpriced: 0 });
    expect(result.byModel).toMatchObject({ small: { cost: { known: 110 } }, large: { cost: { known: 1_100 } } });
    const silent = (id: string): ChatModel => priced(id, 1, failing("MODEL_FAILED"));
    const team = new Team({ name: "team", roles: [asker], model: fallback([silent("small"), silent("large")]), journal });
    const replayed = await team.replay("run").result;
    expect([replayed.status, replayed.output?.content]).toEqual(["finished", dear.content]);
  });

  it("reserves the price of the dearest, and refuses an unknown one under a budget", async () => {
    const small = priced("small", 0.001, dear);
    expect((await run(fallback([small, priced("large", 1_000, dear)]), { budget: 0.01 })).status).toBe("budget");
    expect(small.calls).toHaveLength(0);
    const bare: ChatModel = {
      id: "unknown",
      chat: (request, o) => small.chat(request, o),
      stream: (request, o) => small.stream(request, o),
    };
    expect((await run(fallback([small, bare]))).error).toMatchObject({ code: "MODEL_UNPRICED" });
  });

  it("reports the last failure and names the others when every model fails, also outside a run", async () => {
    const model = fallback([priced("small", 1, failing("MODEL_QUOTA")), priced("large", 1, failing("MODEL_REFUSED"))]);
    const named = expect.stringContaining("small (MODEL_QUOTA)") as string;
    expect((await run(model)).error).toMatchObject({ code: "MODEL_REFUSED", message: named });
    const { signal } = new AbortController();
    await expect(model.chat({ messages: [] }, { signal })).rejects.toBeInstanceOf(ModelError);
  });

  it.each<[string, unknown]>([
    ["one model", [priced("small", 1, "x")]],
    ["a name", ["gpt-5", "gpt-5-mini"]],
    ["no list", priced("small", 1, "x")],
  ])("refuses %s", (_what, models) => {
    expect(() => fallback(models as readonly ChatModel[])).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
  });
});

describe("route", () => {
  it("asks the model of its choice, and pays its price", async () => {
    const [small, large] = [priced("small", 1, { content: "s", usage }), priced("large", 10, { content: "l", usage })];
    const model = route(({ messages }) => (JSON.stringify(messages).length > 1_000 ? large : small));
    const result = await run(model);
    expect([result.output?.content, result.cost.known, large.calls.length]).toEqual(["s", 110, 0]);
  });

  it("may choose a fallback, and fails by name where it chooses no model", async () => {
    const inner = fallback([priced("small", 1, failing("MODEL_QUOTA")), priced("large", 10, { content: "l", usage })]);
    expect((await run(route(() => inner))).output?.content).toBe("l");
    const wrong = route(() => "gpt-5" as unknown as ChatModel);
    expect((await run(wrong)).error).toMatchObject({ message: expect.stringContaining("return a model") as unknown });
  });
});
