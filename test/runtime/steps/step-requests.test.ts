import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, isUnchanging, type Json, unchanging } from "../../../src/kernel/json.ts";
import { masked, maskSecrets } from "../../../src/kernel/mask.ts";
import { ChatMessage } from "../../../src/model/chat-message.ts";
import { StepRequests } from "../../../src/runtime/steps/step-requests.ts";
import { tries } from "../../long.ts";

const mask = maskSecrets(["open sesame", "temperature"]);

/** The whole request at once, as one would write it without a thought for speed. */
function plainly(request: unknown): { readonly value: Json; readonly text: string } {
  const value = masked(mask, JSON.parse(canonicalJson(request ?? null)) as Json);
  return { value, text: canonicalJson(value) };
}

const words = fc.oneof(fc.string(), fc.constant("say open sesame"), fc.constant("\ud800"));
const call = words.map((id) => ({ id, type: "function" as const, function: { name: "look", arguments: `{"at":"${id.length}"}` } }));
const message = fc.oneof(
  words.map((text) => ChatMessage.user(text)),
  words.map((text) => ChatMessage.tool({ content: text, name: "look", toolCallId: text })),
  fc.array(call, { minLength: 1, maxLength: 3 }).map((calls) => ChatMessage.fromToolCalls(calls)),
  words.map((content) => ({ content, role: "user", images: undefined })),
  fc.record({ role: words, content: words, name: words }, { requiredKeys: ["role", "content"] }),
  fc.constantFrom(null, undefined, 7, [ChatMessage.user("x")]),
);
const besides = fc.record(
  {
    model: words,
    tools: fc.array(fc.record({ parameters: fc.jsonValue().filter((one) => !JSON.stringify(one).includes('"__proto__":')) })),
    maxTokens: fc.nat(),
    temperature: fc.constant(1),
    "open sesame": fc.constant(2),
    zeta: fc.constant(undefined),
  },
  { requiredKeys: [] },
);

describe("the request of a step", () => {
  it("StepRequests.SR1 is recorded and named as the whole of it would be, while its conversation grows", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), besides, (messages, more) => {
        const requests = new StepRequests(mask);
        for (let end = 0; end <= messages.length; end++) {
          const request = { ...more, messages: messages.slice(0, end) };
          const written = requests.of(request);
          expect(written).toEqual(plainly(request));
          expect(JSON.stringify(written.value)).toBe(JSON.stringify(plainly(request).value));
        }
      }),
      { numRuns: tries(100, 1_200) },
    );
  });

  const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}1${"]".repeat(levels)}`);
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a text", "open sesame"],
    ["a list", [ChatMessage.user("x")]],
    ["no list of messages", { messages: "x" }],
    ["an object that tells its own form", { messages: [], toJSON: () => ({ a: 1 }) }],
    ["messages that tell their own form", { messages: Object.assign([1], { toJSON: () => [2] }) }],
    [
      "an object of a class",
      new (class {
        readonly messages = [1];
      })(),
    ],
    ["as deep as can be", { messages: [], extra: deep(499) }],
  ])("StepRequests.SR1 also when it is %s", (_, request) => {
    expect(new StepRequests(mask).of(request)).toEqual(plainly(request));
  });

  it.each<[string, unknown]>([
    ["a function", { messages: [], extra: () => 1 }],
    ["a message that is no JSON", { messages: [ChatMessage.user("x"), { content: 1n }] }],
    ["a key that names the prototype", JSON.parse('{"messages":[],"__proto__":{}}')],
    ["one level too many", { messages: [], extra: deep(500) }],
    ["one level too many in a message", { messages: [deep(499)] }],
    ["an object that says it is another", { messages: [], [Symbol.toStringTag]: "Map" }],
  ])("is refused for %s, with the words it would be refused with as a whole", (_, request) => {
    let why = "";
    try {
      plainly(request);
    } catch (error) {
      why = (error as Error).message;
    }
    expect(why).not.toBe("");
    expect(() => new StepRequests(mask).of(request)).toThrow(why);
  });

  it("StepRequests.SR2 writes what cannot change once for all activations of a mask, and for each mask anew", () => {
    const schema = unchanging({ type: "object", title: "open sesame" });
    const secret = maskSecrets(["open sesame"]);
    const [first, again] = [0, 1].map(() => new StepRequests(secret).of({ messages: [], schema }).value as { readonly schema: Json });
    expect(first?.schema).toEqual({ type: "object", title: "[secret]" });
    expect(again?.schema).toBe(first?.schema);
    expect(isUnchanging(first?.schema)).toBe(true);
    expect(new StepRequests(maskSecrets([])).of({ messages: [], schema })).toEqual({
      value: { messages: [], schema: { type: "object", title: "open sesame" } },
      text: '{"messages":[],"schema":{"title":"open sesame","type":"object"}}',
    });
    const changing = { type: "object" };
    const requests = new StepRequests(secret);
    requests.of({ messages: [], schema: changing });
    changing.type = "array";
    expect(requests.of({ messages: [], schema: changing }).value).toEqual({ messages: [], schema: { type: "array" } });
  });

  it("StepRequests.SR2 shares the messages with requests before it, and nobody changes them; strange objects are read again", () => {
    const requests = new StepRequests(mask);
    const [own, other] = [ChatMessage.user("say open sesame"), { role: "user", content: "one" }];
    const first = requests.of({ messages: [own, other] }).value as { readonly messages: readonly Json[] };
    other.content = "two";
    const second = requests.of({ messages: [own, other] }).value as { readonly messages: readonly Json[] };
    expect(second.messages).toEqual([
      { role: "user", content: "say [secret]" },
      { role: "user", content: "two" },
    ]);
    expect(second.messages[0]).toBe(first.messages[0]);
    expect(isUnchanging(first.messages[0])).toBe(true);
    expect(() => Object.assign(first.messages[0] as object, { content: "x" })).toThrow(TypeError);
  });
});
