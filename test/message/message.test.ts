import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NotJsonError, UsageError } from "../../src/kernel/errors.ts";
import {
  createMessage,
  isCauseLeftOpen,
  isMessage,
  type Message,
  MESSAGE_VERSION,
  type MessageFields,
  parseMessage,
  serializeMessage,
  frozenMessage,
} from "../../src/message/message.ts";
import { Memory } from "../../src/memory/memory.ts";

const anyFields: fc.Arbitrary<MessageFields> = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    instructContent: fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__")),
    role: fc.oneof(fc.constantFrom("system", "user", "assistant", "tool"), fc.string({ minLength: 1, unit: "binary" })),
    causeBy: fc.string(),
    sentFrom: fc.string(),
    sendTo: fc.array(fc.string()),
    parents: fc.array(fc.string()),
    speech: fc.string(),
    timestamp: fc.nat(),
    metadata: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
  },
  { requiredKeys: [] },
);

function onTheWire(message: Message): unknown {
  return JSON.parse(JSON.stringify(serializeMessage(message)));
}

function isFrozenThrough(value: unknown): boolean {
  return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));
}

describe("createMessage", () => {
  test("says what it is told and fills in the rest", () => {
    const message = createMessage("hello", { id: "m1", timestamp: 5 });
    expect(message).toEqual({
      id: "m1",
      content: "hello",
      role: "user",
      causeBy: "UserRequirement",
      sentFrom: "",
      sendTo: ["<all>"],
      parents: [],
      timestamp: 5,
      metadata: {},
    });
    expect("instructContent" in message).toBe(false);
  });

  test("an empty or missing id is made up, never twice the same", () => {
    const ids = new Set([createMessage("a"), createMessage("a"), createMessage("a", { id: "" })].map((message) => message.id));
    expect(ids.size).toBe(3);
    expect(ids.has("")).toBe(false);
  });

  test("Message.M1 property: it is frozen through and through", () => {
    fc.assert(
      fc.property(fc.string(), anyFields, (content, fields) => {
        expect(isFrozenThrough(createMessage(content, fields))).toBe(true);
      }),
    );
  });

  test("Message.M1 property: one read from its text is frozen through and through, says the same, and shares what most say", () => {
    fc.assert(
      fc.property(fc.string(), anyFields, (content, fields) => {
        const message = createMessage(content, fields);
        const read = frozenMessage(JSON.parse(JSON.stringify(message)) as Message);
        expect(isFrozenThrough(read)).toBe(true);
        expect(JSON.stringify(read)).toBe(JSON.stringify(message));
        const usual = createMessage("usual");
        if (message.sendTo.join() === "<all>") expect(read.sendTo).toBe(usual.sendTo);
        if (message.parents.length === 0) expect(read.parents).toBe(usual.parents);
        if (Object.keys(message.metadata).length === 0) expect(read.metadata).toBe(usual.metadata);
      }),
    );
  });

  test("Message.M1 one that was read and is no whole message is frozen as it is", () => {
    const odd = frozenMessage(JSON.parse('{"content":"x","parents":"","sendTo":null,"metadata":[],"more":{"deep":[{}]}}') as Message);
    expect(isFrozenThrough(odd)).toBe(true);
    expect(odd).toEqual({ content: "x", parents: "", sendTo: null, metadata: [], more: { deep: [{}] } });
  });

  test("Message.M1 it shares nothing with what it was made from", () => {
    const payload = { files: ["a.js"] };
    const metadata = { tags: ["x"] };
    const sendTo = ["Bob"];
    const parents = ["p1"];
    const message = createMessage("x", { instructContent: payload, metadata, sendTo, parents });
    payload.files.push("b.js");
    metadata.tags.push("y");
    sendTo.push("Eve");
    parents.push("p2");
    expect(message).toMatchObject({ instructContent: { files: ["a.js"] }, metadata: { tags: ["x"] }, sendTo: ["Bob"], parents: ["p1"] });
  });

  test("Message.M3 empty routing means everyone, and an empty cause the user", () => {
    for (const sendTo of [undefined, "", [], [""], new Set<string>()]) expect(createMessage("x", { sendTo }).sendTo).toEqual(["<all>"]);
    for (const causeBy of [undefined, "", { name: "" }]) expect(createMessage("x", { causeBy }).causeBy).toBe("UserRequirement");
    expect(createMessage("x", { sendTo: ["", "Bob"] }).sendTo).toEqual(["Bob"]);
  });

  test('M3 [MetaGPT: an assigned cause_by="" stayed "", send_to="" became {""}, which nobody hears] no second way sets them', () => {
    const message = createMessage("x", { causeBy: "", sendTo: "" }) as { -readonly [K in keyof Message]: Message[K] };
    expect(() => (message.causeBy = "")).toThrow(TypeError);
    expect(() => (message.sendTo = [""])).toThrow(TypeError);
    expect(message).toMatchObject({ causeBy: "UserRequirement", sendTo: ["<all>"] });
  });

  test("refuses what is no message, and says what to do", () => {
    expect(() => createMessage(5 as unknown as string)).toThrow(UsageError);
    expect(() => createMessage(5 as unknown as string)).toThrow(/string, got number.*instructContent/);
    expect(() => createMessage("x", { instructContent: { run: () => 1 } })).toThrow(NotJsonError);
    expect(() => createMessage("x", { instructContent: { pending: Promise.resolve(1) } })).toThrow(NotJsonError);
  });

  test("knows whether its cause was named", () => {
    expect(isCauseLeftOpen(createMessage("x"))).toBe(true);
    expect(isCauseLeftOpen(createMessage("x", { causeBy: "Review" }))).toBe(false);
    expect(isCauseLeftOpen(parseMessage({ content: "x", causeBy: "Review" }))).toBe(false);
  });

  test("a message is told from everything else an action may give", () => {
    expect([createMessage("x"), parseMessage({ content: "x" }), onTheWire(createMessage("x"))].map(isMessage)).toEqual([true, true, true]);
    expect(["x", null, undefined, 5, {}, [], { content: "x" }, [createMessage("x")], () => "x"].some(isMessage)).toBe(false);
  });
});

describe("the wire form", () => {
  test("property: what is read is what was written, every field of it", () => {
    fc.assert(
      fc.property(fc.string(), anyFields, (content, fields) => {
        const message = createMessage(content, fields);
        const read = parseMessage(onTheWire(message));
        expect(read).toEqual(message);
        expect(isFrozenThrough(read)).toBe(true);
        expect(onTheWire(read)).toEqual(onTheWire(message));
      }),
    );
  });

  test("carries its version", () => {
    expect(serializeMessage(createMessage("x"))).toMatchObject({ v: MESSAGE_VERSION });
    expect(parseMessage(onTheWire(createMessage("x")))).not.toHaveProperty("v");
  });

  test("a newer version is refused and told as such", () => {
    const newer = { ...serializeMessage(createMessage("x")), v: MESSAGE_VERSION + 1 };
    expect(() => parseMessage(newer)).toThrow(UsageError);
    expect(() => parseMessage(newer)).toThrow("newer version");
  });

  test.each([
    ["content and role only", { content: "hi", role: "assistant" }, { causeBy: "UserRequirement", sendTo: ["<all>"] }],
    ["with routing", { content: "hi", causeBy: "WriteCode", sendTo: ["Bob"] }, { causeBy: "WriteCode", sendTo: ["Bob"] }],
    ["with a payload", { content: "hi", instructContent: { n: 1 } }, { instructContent: { n: 1 }, metadata: {} }],
    [
      "with metadata, and with empty routing",
      { content: "hi", metadata: { a: 1 }, causeBy: "", sendTo: [] },
      { metadata: { a: 1 }, sendTo: ["<all>"] },
    ],
  ])("an older form is filled up: %s", (_form, wire, expected) => {
    const message = parseMessage(wire);
    expect(message).toMatchObject(expected);
    expect(message.id).not.toBe("");
    expect(message.parents).toEqual([]);
    expect(message.timestamp).toBeGreaterThan(0);
  });

  test("a field that no message has is refused; one of a newer version is told as that", () => {
    expect(() => parseMessage({ content: "x", surprise: true })).toThrow(/got "surprise"/);
    expect(() => parseMessage({ v: MESSAGE_VERSION + 1, content: "x", surprise: true })).toThrow("newer version");
  });

  test.each([
    ["no object", "hello", "object"],
    ["null", null, "object"],
    ["no content", { role: "user" }, "content"],
    ["a content that is no text", { content: 5 }, "content"],
    ["an empty role", { content: "x", role: "" }, "role"],
    ["a role that is no text", { content: "x", role: 5 }, "role"],
    ["a list that is none", { content: "x", sendTo: "Bob" }, "sendTo"],
    ["a list of something else", { content: "x", parents: [1] }, "parents[0]"],
    ["a time that is none", { content: "x", timestamp: "now" }, "timestamp"],
    ["metadata that is none", { content: "x", metadata: [1] }, "metadata"],
  ])("refuses %s, naming it", (_what, wire, named) => {
    expect(() => parseMessage(wire)).toThrow(UsageError);
    expect(() => parseMessage(wire)).toThrow(named);
  });

  test("__proto__ in a message is refused or left behind, and reaches no prototype", () => {
    const wire = (text: string): unknown => JSON.parse(text);
    expect(() => parseMessage(wire('{"content":"x","__proto__":{"role":"system"}}'))).toThrow(/__proto__/);
    expect(() => parseMessage(wire('{"content":"x","instructContent":{"a":{"__proto__":{"polluted":1}}}}'))).toThrow(/__proto__/);
    expect(parseMessage(wire('{"content":"x","metadata":{"__proto__":{"polluted":1},"a":1}}')).metadata).toEqual({ a: 1 });
    expect(() => createMessage("x", { instructContent: wire('{"__proto__":{"polluted":1}}') })).toThrow(NotJsonError);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("[MetaGPT: payloads of run-time models could not be revived] any payload comes back, with no code run to do it", () => {
    const payload = {
      class: "WritePRDOutput",
      module: "os",
      mapping: { field: "__import__('os')" },
      nested: { list: [["a"], [1, null]], flag: true },
    };
    expect(parseMessage(onTheWire(createMessage("x", { instructContent: payload }))).instructContent).toEqual(payload);
  });

  test("Message.M2 [MetaGPT: equality was by class and field, so a revived message was another] a revived one is the same", () => {
    const memory = new Memory();
    const message = createMessage("x", { role: "assistant", instructContent: { a: 1 } });
    memory.add(message);
    const revived = parseMessage(onTheWire(message));
    expect(memory.has(revived)).toBe(true);
    expect(memory.findNews([revived])).toEqual([]);
  });
});

describe("the fields of a careless sender", () => {
  test("takes null and empty routing as left out, and a payload of null as a payload", () => {
    const message = parseMessage({
      id: "",
      content: "x",
      causeBy: null,
      sendTo: null,
      sentFrom: null,
      metadata: null,
      instructContent: null,
    });
    expect(message).toMatchObject({ causeBy: "UserRequirement", sendTo: ["<all>"], sentFrom: "", instructContent: null });
    expect(message.id).not.toBe("");
  });

  test("refuses a payload of thousands of levels with a typed error, not an exhausted stack", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    expect(() => parseMessage({ content: "x", instructContent: deep })).toThrow(UsageError);
  });

  test("refuses a time that is no number", () => {
    expect(() => createMessage("x", { timestamp: Number.NaN })).toThrow(UsageError);
  });
});
