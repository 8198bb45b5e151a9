import { describe, expect, it } from "vitest";
import { TroupeError, UsageError } from "../../src/kernel/errors.ts";
import type { ChatChunk, ChatRequest } from "../../src/model/chat-model.ts";
import { ScriptExhaustedError, scriptedModel, type ScriptedReply, simulatedClock } from "../../src/testing/index.ts";
import { errorOf } from "../model/call-setup.ts";

const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 9 };
const open = { signal: new AbortController().signal };

async function piecesOf(stream: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  const pieces: ChatChunk[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

describe("scriptedModel", () => {
  it("answers from a list, in the order of the calls", async () => {
    const model = scriptedModel(["one", { content: "two", finishReason: "length" }, () => "three"]);
    const answers = await Promise.all([model.chat(request, open), model.chat(request, open), model.chat(request, open)]);
    expect(answers.map((answer) => [answer.content, answer.finishReason])).toEqual([
      ["one", "stop"],
      ["two", "length"],
      ["three", "stop"],
    ]);
  });

  it("answers from a function, which sees the request and how many came before", async () => {
    const model = scriptedModel((asked, n) => `${n}: ${asked.messages[0]?.content}`);
    await model.chat(request, open);
    expect((await model.chat(request, open)).content).toBe("1: Say something.");
  });

  it("a list that is used up is an error of its own", async () => {
    const model = scriptedModel(["only one"]);
    await model.chat(request, open);
    const error = await errorOf(model.chat(request, open));
    expect(error).toBeInstanceOf(ScriptExhaustedError);
    expect(error).toBeInstanceOf(TroupeError);
    expect(error).toMatchObject({ code: "SCRIPT_EXHAUSTED", data: { replies: 1 } });
  });

  it("throws the given error", async () => {
    const boom = new Error("boom");
    const model = scriptedModel([
      boom,
      () => {
        throw boom;
      },
      () => Promise.reject(boom),
    ]);
    for (let n = 0; n < 3; n++) expect(await errorOf(model.chat(request, open))).toBe(boom);
  });

  it("keeps each request, frozen, and apart from the caller's", async () => {
    const model = scriptedModel(["one"]);
    const messages = [{ role: "user" as const, content: "before" }];
    await model.chat({ messages }, open);
    messages[0] = { role: "user", content: "after" };
    expect(model.calls).toEqual([{ messages: [{ role: "user", content: "before" }] }]);
    expect(Object.isFrozen(model.calls[0]?.messages[0])).toBe(true);
  });

  it("streams in pieces, the last of which ends it", async () => {
    const call = { id: "c", type: "function", function: { name: "clock", arguments: '{"zone":"UTC"}' } } as const;
    const reply: ScriptedReply = { content: "A text of more than one piece.", toolCalls: [call] };
    const pieces = await piecesOf(scriptedModel([reply]).stream(request, open));
    expect(pieces.filter((piece) => piece.content !== undefined).length).toBeGreaterThan(1);
    expect(pieces.map((piece) => piece.content ?? "").join("")).toBe(reply.content);
    expect(
      pieces
        .flatMap((piece) => piece.toolCalls ?? [])
        .map((delta) => delta.arguments)
        .join(""),
    ).toBe(call.function.arguments);
    expect(pieces.at(-1)).toMatchObject({ finishReason: "tool_calls" });
    expect(await piecesOf(scriptedModel([{ refusal: "no" }]).stream(request, open))).toEqual([
      { refusal: "no" },
      { finishReason: "stop", usage: expect.anything() },
    ]);
  });

  it("takes its time on the given clock", async () => {
    const clock = simulatedClock();
    const model = scriptedModel(["slow", "fast"], { clock, latency: (n) => 1000 - n * 900 });
    const done: string[] = [];
    const work = [0, 1].map(async () => done.push((await model.chat(request, open)).content));
    await clock.advance(999);
    expect(done).toEqual(["fast"]);
    await clock.advance(1);
    await Promise.all(work);
    expect(done).toEqual(["fast", "slow"]);
    expect(() => scriptedModel([], { latency: () => 1 })).toThrow(UsageError);
  });

  it("ends when its signal aborts, waiting for its clock or for its reply", async () => {
    const abort = new AbortController();
    const clock = simulatedClock();
    const waiting = errorOf(scriptedModel(["x"], { clock, latency: () => 1000 }).chat(request, abort));
    const stalled = errorOf(scriptedModel([() => new Promise(() => {})]).chat(request, abort));
    abort.abort();
    expect([(await waiting).code, (await stalled).code]).toEqual(["ABORTED", "ABORTED"]);
    expect(clock.pending).toBe(0);
    const unused = scriptedModel(["x"]);
    await errorOf(unused.chat(request, abort));
    expect(unused.calls).toEqual([]);
  });

  it.each([
    ["nothing", undefined],
    ["no signal", {}],
  ])("asked with %s, without anybody who stops it, answers or fails to its caller alone", async (_what, o) => {
    expect((await scriptedModel(["fine"]).chat(request, o)).content).toBe("fine");
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const errors = await Promise.all(
      [scriptedModel([]), scriptedModel(() => Promise.reject(new UsageError("MINE", "mine")))].map((model) =>
        errorOf(model.chat(request, o)),
      ),
    );
    await new Promise((resolve) => void setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(errors.map(({ code }) => code)).toEqual(["SCRIPT_EXHAUSTED", "MINE"]);
    expect(unhandled).toEqual([]);
  });
});
