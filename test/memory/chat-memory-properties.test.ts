import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatMemory, type ChatMemoryOptions } from "../../src/memory/chat-memory.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import { tries } from "../long.ts";

/** An event of a conversation. Ids are few, so that they clash. */
type Event =
  | { readonly type: "say"; readonly role: "user" | "assistant" | "system"; readonly text: string; readonly pin: boolean }
  | { readonly type: "call"; readonly ids: readonly string[] }
  | { readonly type: "answer"; readonly id: string };

const id = fc.constantFrom("a", "b", "c");
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    type: fc.constant("say" as const),
    role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
    text: fc.string({ maxLength: 12 }),
    pin: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  }),
  fc.record({ type: fc.constant("call" as const), ids: fc.array(id, { minLength: 1, maxLength: 3 }) }),
  { weight: 3, arbitrary: fc.record({ type: fc.constant("answer" as const), id }) },
);
const options: fc.Arbitrary<ChatMemoryOptions> = fc.record({
  maxMessages: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(Infinity)),
  maxTokens: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
});
const scene = fc.record({ events: fc.array(event, { maxLength: 60 }), options });

function messageOf(one: Event, n: number): ChatMessage {
  if (one.type === "say") return ChatMessage[one.role](`${n} ${one.text}`);
  if (one.type === "answer") return ChatMessage.tool({ content: `${n}`, name: "t", toolCallId: one.id });
  return {
    role: "assistant",
    toolCalls: one.ids.map((callId) => ({ id: callId, type: "function", function: { name: "t", arguments: `[${n}]` } })),
  };
}

interface ModelUnit {
  readonly head: ChatMessage;
  readonly pinned: boolean;
  readonly answers: { readonly id: string; content: string | undefined }[];
}

const NO_ANSWER = "(no result: the call was cut off. It may have run; look before you call it again)";

function tokensOf(text: string): number {
  return 4 + (text === "" ? 0 : Math.ceil(text.length / 4));
}

/** The memory as one would write it without a thought for speed: a list of units that is searched and cut each time. */
class NaiveMemory {
  units: ModelUnit[] = [];
  readonly #options: ChatMemoryOptions;

  constructor(o: ChatMemoryOptions) {
    this.#options = o;
  }

  add(message: ChatMessage, pinned: boolean): boolean {
    const isTaken = this.#take(message, pinned);
    while (this.#isOver()) {
      const index = this.units.findIndex((unit, place) => !unit.pinned && place < this.units.length - 1);
      if (index === -1) break;
      this.units.splice(index, 1);
    }
    return isTaken;
  }

  #take(message: ChatMessage, pinned: boolean): boolean {
    if (message.role !== "tool") {
      const answers = (message.toolCalls ?? []).map((call) => ({ id: call.id, content: undefined }));
      this.units.push({ head: message, pinned, answers });
      return true;
    }
    // An id means the newest call that has it, answered or not.
    const unit = this.units.findLast(({ answers }) => answers.some((answer) => answer.id === message.toolCallId));
    const open = unit?.answers.find((answer) => answer.id === message.toolCallId && answer.content === undefined);
    if (open === undefined) return false;
    open.content = message.content ?? "";
    return true;
  }

  #isOver(): boolean {
    const { maxMessages = 100, maxTokens = Infinity } = this.#options;
    const size = this.units.reduce((sum, { answers }) => sum + 1 + answers.length, 0);
    const tokens = this.units.reduce((sum, unit) => sum + this.#tokens(unit), 0);
    return size > maxMessages || tokens > maxTokens;
  }

  #tokens({ head, answers }: ModelUnit): number {
    const own = head.toolCalls === undefined ? tokensOf(head.content ?? "") : 4 + head.toolCalls.length * 1 + callTokens(head);
    return own + answers.reduce((sum, { content = NO_ANSWER }) => sum + tokensOf(content) + (content === NO_ANSWER ? 0 : 1), 0);
  }

  get messages(): string[] {
    return this.units.flatMap(({ head, answers }, place) => {
      const isLast = place === this.units.length - 1;
      const shown = answers.flatMap(({ id: callId, content }) =>
        content === undefined ? (isLast ? [] : [`tool ${callId} ${NO_ANSWER}`]) : [`tool ${callId} ${content}`],
      );
      return [said(head), ...shown];
    });
  }
}

function callTokens(head: ChatMessage): number {
  return (head.toolCalls ?? []).reduce((sum, call) => sum + Math.ceil(call.function.arguments.length / 4), 0);
}

function said({ role, content = "", toolCalls = [], toolCallId = "" }: ChatMessage): string {
  if (role === "tool") return `tool ${toolCallId} ${content}`;
  return toolCalls.length > 0 ? `calls ${toolCalls.map((call) => `${call.id}${call.function.arguments}`).join()}` : `${role} ${content}`;
}

describe("any conversation", () => {
  it(
    "ChatMemory.H1 ChatMemory.H2 ChatMemory.H3 ChatUnit.U2 gives what a memory gives that searches its list each time",
    { tags: "numbers" },
    () => {
      fc.assert(
        fc.property(scene, ({ events, options: o }) => {
          const memory = new ChatMemory(o);
          const naive = new NaiveMemory(o);
          for (const [n, one] of events.entries()) {
            const message = messageOf(one, n);
            const pin = one.type === "say" && one.pin;
            expect(memory.add(message, { pin })).toBe(naive.add(message, pin));
            expect(memory.messages.map(said)).toEqual(naive.messages);
          }
        }),
        { numRuns: tries(100, 2_000) },
      );
    },
  );

  it(
    "ChatMemory.H1 is one that servers take: every answer after its call, every call but those at the end answered once",
    { tags: "numbers" },
    () => {
      fc.assert(
        fc.property(scene, fc.nat({ max: 20 }), ({ events, options: o }, n) => {
          const memory = new ChatMemory(o);
          for (const [place, one] of events.entries()) memory.add(messageOf(one, place));
          for (const messages of [memory.messages, memory.recent(n)]) checkSendable(messages);
          expect(memory.recent(n).length).toBeLessThanOrEqual(n);
        }),
        { numRuns: tries(100, 2_000) },
      );
    },
  );

  it("is the same when it continues from its JSON", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(scene, fc.nat(), ({ events, options: o }, cut) => {
        const memory = new ChatMemory(o);
        const at = events.length === 0 ? 0 : cut % events.length;
        for (const [n, one] of events.slice(0, at).entries()) memory.add(messageOf(one, n));
        const again = ChatMemory.fromJSON(JSON.parse(JSON.stringify(memory)));
        for (const [n, one] of events.slice(at).entries()) expect(again.add(messageOf(one, n))).toBe(memory.add(messageOf(one, n)));
        expect(again.messages).toEqual(memory.messages);
        expect(again.tokens).toBe(memory.tokens);
      }),
      { numRuns: tries(100, 1_200) },
    );
  });
});

function checkSendable(messages: readonly ChatMessage[]): void {
  let open: string[] = [];
  for (const { role, toolCallId = "", toolCalls = [] } of messages) {
    if (role === "tool") {
      expect(open).toContain(toolCallId);
      open.splice(open.indexOf(toolCallId), 1);
      continue;
    }
    expect(open).toEqual([]);
    open = toolCalls.map((call) => call.id);
  }
}
