import { ModelError } from "../../kernel/errors.ts";
import { canonicalJson, deepFreeze } from "../../kernel/json.ts";
import type { ChatChunk, ChatModel, ChatRequest, ChatResponse } from "../../model/chat-model.ts";
import { ReplyBuilder } from "../../model/attempt.ts";
import { checkContract, type ContractKit } from "./contract-kit.ts";

export type ContractReply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly arguments: string }
  /** The length limit cut the text. */
  | { readonly kind: "truncated"; readonly text: string }
  /** Refused before the model ran, for there were too many requests. */
  | { readonly kind: "rate-limited" }
  /** Never comes, or stops after a piece. */
  | { readonly kind: "stall" };

export interface ModelUnderTest {
  readonly model: ChatModel;
  close?(): Promise<void> | void;
}

export type MakeModel = (replies: readonly ContractReply[]) => ModelUnderTest | Promise<ModelUnderTest>;

const TEXT = 'A reply that is longer than a piece: "quotes", \n lines, und Umlaute äöü, 猫 and 🎭.';

const question: ChatRequest = deepFreeze({
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Say something." },
  ],
  maxTokens: 100,
});

const toolQuestion: ChatRequest = deepFreeze({
  messages: [{ role: "user", content: "What is the time?" }],
  tools: [{ name: "clock", description: "Tells the time.", parameters: { type: "object", properties: { zone: { type: "string" } } } }],
  toolChoice: "auto",
});

/**
 * The contract of every {@link ChatModel}.
 *
 * ChatModel.C1 `chat` returns the whole answer. ChatModel.C2 the pieces of `stream` make up that answer; the last has the finish reason.
 * ChatModel.C3 tool calls arrive complete. ChatModel.C4 a truncated reply says so. ChatModel.C5 a ModelError says whether a retry can help.
 * ChatModel.C6 an aborted signal rejects a call. ChatModel.C7 a request is never changed. ChatModel.C8 concurrent calls do not mix.
 * ChatModel.C9 an answer is plain JSON.
 */
export function chatModelContract(kit: ContractKit, name: string, make: MakeModel): void {
  checkContract("chatModelContract", kit, name, make);
  const { describe, it, expect } = kit;
  const check = (title: string, replies: readonly ContractReply[], body: (model: ChatModel) => Promise<void>): void =>
    it(title, async () => {
      const made = await make(replies);
      try {
        await body(made.model);
      } finally {
        await made.close?.();
      }
    });

  describe(`${name} keeps the contract of a chat model`, () => {
    check("ChatModel.C1 chat gives the whole answer", [{ kind: "text", text: TEXT }], async (model) => {
      const answer = await model.chat(question, open());
      expect(answer.content).toBe(TEXT);
      expect(answer.finishReason).toBe("stop");
      expect(answer.toolCalls).toEqual([]);
      expect(usageIsSound(answer)).toBe(true);
    });

    check("ChatModel.C2 the pieces of a stream are the answer", [{ kind: "text", text: TEXT }], async (model) => {
      const pieces = await allOf(model.stream(question, open()));
      expect(pieces.map((piece) => piece.content ?? "").join("")).toBe(TEXT);
      expect(pieces.filter((piece) => piece.finishReason !== undefined).map((piece) => piece.finishReason)).toEqual(["stop"]);
    });

    const call = { kind: "tool", name: "clock", arguments: '{"zone":"UTC"}' } as const;
    check("ChatModel.C3 calls of tools come whole, in one and in pieces", [call, call], async (model) => {
      for (const answer of [await model.chat(toolQuestion, open()), await streamed(model, toolQuestion)]) {
        expect(answer.finishReason).toBe("tool_calls");
        expect(answer.toolCalls.map((made) => [made.type, made.function.name, made.function.arguments])).toEqual([
          ["function", "clock", '{"zone":"UTC"}'],
        ]);
        expect(answer.toolCalls.every((made) => made.id !== "")).toBe(true);
      }
    });

    const cut = { kind: "truncated", text: "Half an" } as const;
    check("ChatModel.C4 a reply that was cut short says so", [cut, cut], async (model) => {
      for (const answer of [await model.chat(question, open()), await streamed(model, question)]) {
        expect([answer.content, answer.finishReason]).toEqual(["Half an", "length"]);
      }
    });

    check(
      "ChatModel.C5 a refusal for now is a retryable ModelError",
      [{ kind: "rate-limited" }, { kind: "rate-limited" }],
      async (model) => {
        for (const begin of [chatOf, streamed]) {
          const error = await begin(model, question).then(undefined, (reason: unknown) => reason);
          expect(error instanceof ModelError ? [error.code, error.retryable] : error).toEqual(["MODEL_RATE_LIMIT", true]);
        }
      },
    );

    check("ChatModel.C6 an aborted signal ends a call", [{ kind: "stall" }, { kind: "stall" }], async (model) => {
      const drained = (m: ChatModel, r: ChatRequest, signal: AbortSignal): Promise<unknown> => allOf(m.stream(r, { signal }));
      for (const begin of [chatOf, drained]) {
        expect(await outcome(begin(model, question, AbortSignal.abort(new Error("before"))))).toBe("rejected");
        const abort = new AbortController();
        const waiting = outcome(begin(model, question, abort.signal));
        abort.abort(new Error("while waiting"));
        expect(await waiting).toBe("rejected");
      }
    });

    check(
      "ChatModel.C7 a request is never changed",
      [
        { kind: "text", text: "one" },
        { kind: "text", text: "two" },
      ],
      async (model) => {
        const before = canonicalJson(question);
        await model.chat(question, open());
        await streamed(model, question);
        expect(canonicalJson(question)).toBe(before);
      },
    );

    const numbers = ["zero", "one", "two", "three"].map((text) => ({ kind: "text", text }) as const);
    check("ChatModel.C8 calls at one time keep apart", numbers, async (model) => {
      const answers = await Promise.all(numbers.map((_, n) => (n % 2 === 0 ? chatOf(model, question) : streamed(model, question))));
      expect(answers.map((answer) => answer.content).toSorted()).toEqual(["one", "three", "two", "zero"]);
    });

    check("ChatModel.C9 an answer is plain JSON", [{ kind: "text", text: TEXT }], async (model) => {
      const answer = await model.chat(question, open());
      expect(JSON.parse(canonicalJson(answer))).toEqual(answer);
    });
  });
}

function open(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}

function chatOf(model: ChatModel, request: ChatRequest, signal: AbortSignal = open().signal): Promise<ChatResponse> {
  return model.chat(request, { signal });
}

async function streamed(model: ChatModel, request: ChatRequest, signal: AbortSignal = open().signal): Promise<ChatResponse> {
  const reply = new ReplyBuilder(model.id);
  for (const piece of await allOf(model.stream(request, { signal }))) reply.add(piece);
  return reply.finish();
}

async function allOf(stream: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  const pieces: ChatChunk[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

async function outcome(work: Promise<unknown>): Promise<"resolved" | "rejected"> {
  return work.then(
    () => "resolved" as const,
    () => "rejected" as const,
  );
}

function usageIsSound({ usage }: ChatResponse): boolean {
  return usage === undefined || [usage.inputTokens, usage.outputTokens].every((count) => Number.isInteger(count) && count >= 0);
}
