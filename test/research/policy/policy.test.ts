import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelError } from "../../../src/model/failure.ts";
import {
  type ChatModel,
  type ChatResponse,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  memoryJournal,
  type RunEvent,
  Team,
} from "../../../src/index.ts";
import { fitSurrogate, noisyOracle, policyModel, surrogateModel } from "../../../src/research/index.ts";
import { figure } from "../../../src/research/figures/study.ts";
import type { PolicyReply } from "../../../src/research/policy/policy-model.ts";
import type { ClassOf } from "../../../src/research/policy/surrogate.ts";
import { cassetteModel, chatModelContract, scriptedModel } from "../../../src/testing/index.ts";
import type { ContractReply } from "../../../src/testing/contracts/chat-model.ts";

const kit = { describe, it, expect };

function replyOf(reply: ContractReply): PolicyReply | Promise<PolicyReply> {
  switch (reply.kind) {
    case "text":
      return reply.text;
    case "tool":
      return { toolCalls: [{ id: "call_1", type: "function", function: { name: reply.name, arguments: reply.arguments } }] };
    case "truncated":
      return { content: reply.text, finishReason: "length" };
    case "rate-limited":
      throw modelError("MODEL_RATE_LIMIT", "slow down");
    case "stall":
      return new Promise(() => {});
  }
}

function next(replies: readonly ContractReply[]): () => PolicyReply | Promise<PolicyReply> {
  let n = -1;
  return () => replyOf(replies[(n += 1)] ?? { kind: "stall" });
}

chatModelContract(kit, "policyModel", (replies) => ({ model: policyModel({ answer: next(replies) }) }));
chatModelContract(kit, "noisyOracle", (replies) => ({
  model: noisyOracle({ right: next(replies), wrong: () => ["no"], accuracy: 1, seed: 1 }),
}));
const signal = new AbortController().signal;
const asked = (content: string) => ({ messages: [{ role: "user" as const, content }] });
const answerOf = async (model: ChatModel, content: string): Promise<string> => (await model.chat(asked(content), { signal })).content;

describe("a noisy oracle", () => {
  const oracle = (seed: string, accuracy: number): ChatModel =>
    noisyOracle({ seed, accuracy, right: () => "yes", wrong: () => ["no", "perhaps", "yes"] });

  it("draws anew for each sample of one prompt in a run, and the same in an equal run at every concurrency", async () => {
    const asker = defineRole({
      name: "Ann",
      react: async (rc) => {
        const answers = await Promise.all(Array.from({ length: 5 }, async () => rc.ask("Is it so?")));
        return rc.message(`${answers.join(" ")} ${await rc.ask("Is it so?")}`);
      },
    });
    const sampled = async (seed: string, concurrency: number): Promise<readonly string[]> => {
      const world = new Environment({ seed: 1, concurrency, model: oracle(seed, 0.5) });
      for (const name of ["Ann", "Ben", "Cem"]) world.addRole(asker, { name });
      world.publishMessage(createMessage("go", { sendTo: world.roleNames }));
      const { messages } = await world.run({ rounds: 1 });
      return messages.slice(1).flatMap(({ content }) => content.split(" "));
    };
    const answers = await Promise.all(Array.from({ length: 40 }, async (_, n) => sampled(`s${n}`, 16)));
    expect(answers[0]).toEqual(await sampled("s0", 1));
    const right = answers.flat().filter((answer) => answer === "yes").length / (40 * 18);
    expect(right).toBeGreaterThan(0.4);
    expect(right).toBeLessThan(0.6);
    // Eighteen samples that were one sample would all agree.
    expect(answers.filter((run) => new Set(run).size === 1)).toEqual([]);
  });

  it("is right with the given probability, and draws its wrong answers evenly", async () => {
    const answers = await Promise.all(Array.from({ length: 600 }, (_, n) => answerOf(oracle("even", 0.7), `question ${n}`)));
    const share = (text: string) => answers.map((answer) => Number(answer === text));
    for (const [text, expected] of [
      ["yes", 0.7],
      ["no", 0.15],
      ["perhaps", 0.15],
    ] as const)
      expect(figure({ name: text, source: "the option accuracy", expected, found: share(text) })).toMatchObject({ holds: true });
  });

  it("gives equal requests equal answers, in any order, and other seeds other ones", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.array(fc.string(), { maxLength: 4 }), async (seed, questions) => {
        const once = await Promise.all(questions.map((question) => answerOf(oracle(seed, 0.5), question)));
        const model = oracle(seed, 0.5);
        const again = await Promise.all(questions.toReversed().map((question) => answerOf(model, question)));
        expect(again.toReversed()).toEqual(once);
      }),
      { numRuns: 20 },
    );
    const sixty = async (seed: string) => Promise.all(Array.from({ length: 60 }, (_, n) => answerOf(oracle(seed, 0.5), `${n}`)));
    expect(await sixty("a")).not.toEqual(await sixty("b"));
  });

  it("refuses a probability that is none, and a lack of wrong answers", async () => {
    await expect(answerOf(noisyOracle({ seed: 1, accuracy: () => 1.5, right: () => "a", wrong: () => ["b"] }), "?")).rejects.toThrow(
      /from 0 to 1, got 1.5/,
    );
    await expect(answerOf(noisyOracle({ seed: 1, accuracy: 0, right: () => "a", wrong: () => ["a"] }), "?")).rejects.toThrow(
      /wrong answer, got none/,
    );
  });
});

describe("a surrogate", () => {
  const Vote = defineAction({ name: "Vote", prompt: ({ name, text }) => `${name}, vote on ${text}` });
  const voters = ["Ada", "Ben", "Cy", "Dee"].map((name) => defineRole({ name, actions: [Vote] }));

  async function logOf(model: ChatModel, concurrency = 16): Promise<readonly RunEvent[]> {
    const run = new Team({ roles: voters, model, concurrency, seed: 1, journal: memoryJournal() }).run("tea");
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    return events;
  }

  it("gives the recorded answers with their frequencies, through roles that do not change", async () => {
    const log = await logOf(scriptedModel(["yes", "yes", "no", "yes"]));
    const classOf: ClassOf = ({ messages }) => (JSON.stringify(messages).includes("tea") ? "tea" : "other");
    const fit = fitSurrogate(log, classOf);
    expect(
      Object.fromEntries(Object.entries(fit.classes).map(([name, all]) => [name, all.map(({ answer, times }) => [answer.content, times])])),
    ).toEqual({
      tea: [
        ["yes", 3],
        ["no", 1],
      ],
    });
    expect(JSON.parse(JSON.stringify(fit))).toEqual(fit);
    const said = await Promise.all(Array.from({ length: 300 }, (_, n) => answerOf(surrogateModel({ fit, classOf, seed: 1 }), `tea ${n}`)));
    expect(figure({ name: "yes", source: "the fit", expected: 0.75, found: said.map((text) => Number(text === "yes")) })).toMatchObject({
      holds: true,
    });
    await expect(answerOf(surrogateModel({ fit, classOf, seed: 1 }), "coffee")).rejects.toMatchObject({ code: "SURROGATE_UNKNOWN" });
    const wordsOf = async (model: ChatModel) =>
      new Set(
        (await logOf(model)).flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.content) : [])),
      );
    const [playing, scripted] = [surrogateModel({ fit, classOf, seed: 2 }), scriptedModel(["yes", "no", "yes", "no"])];
    for (const model of [playing, scripted, noisyOracle({ seed: 1, accuracy: 0.5, right: () => "yes", wrong: () => ["no"] })])
      expect([...(await wordsOf(model))].filter((word) => word !== "yes" && word !== "no")).toEqual([]);
    const cassette = { troupe: "cassette", v: 1, runId: log[0]?.runId ?? "", events: log } as const;
    expect(await wordsOf(cassetteModel(cassette))).toEqual(new Set(["yes", "no"]));
  });

  it("and an oracle give a run the same record at every concurrency", async () => {
    const model = noisyOracle({ seed: 3, accuracy: 0.5, right: () => "yes", wrong: () => ["no"] });
    const said = async (concurrency: number): Promise<readonly string[]> =>
      (await logOf(model, concurrency)).flatMap((event) =>
        event.type === "act.ended" ? event.said.map(({ message: { sentFrom, content } }) => `${sentFrom} ${content}`) : [],
      );
    expect((await said(1)).toSorted()).toEqual((await said(16)).toSorted());
  });
});

it("a policy counts tokens, and keeps the usage that it reports", async () => {
  const usage = { inputTokens: 3, outputTokens: 9 };
  const tell = policyModel({
    answer: ({ messages }): Partial<ChatResponse> => (messages.length > 1 ? { content: "long", usage } : { content: "12345678" }),
  });
  expect((await tell.chat(asked("?"), { signal })).usage).toEqual({ inputTokens: expect.any(Number), outputTokens: 2 });
  expect((await tell.chat({ messages: [...asked("?").messages, ...asked("!").messages] }, { signal })).usage).toEqual(usage);
  const world = new Environment({ model: tell });
  world.addRole(defineRole({ name: "Ada", actions: [defineAction({ name: "Say", prompt: () => "say" })] }));
  world.publishMessage(createMessage("go"));
  expect((await world.run()).cost).toMatchObject({ known: 0, unpriced: 0 });
});
