import fc from "fast-check";
import { parseEvent } from "../../src/runtime/record/parse-event.ts";
import { describe, expect, test } from "vitest";
import { encodeMessage } from "../../src/adapters/message-rows.ts";
import { Memory, Team, createMessage, defineAction, defineRole, exportRun, importRun, memoryJournal } from "../../src/index.ts";
import { NotJsonError, UsageError } from "../../src/kernel/errors.ts";
import { exportSnapshot, importSnapshot } from "../../src/inspector/memory-snapshot.ts";
import { type Message, type MessageFields, parseMessage, serializeMessage } from "../../src/message/message.ts";
import { toChat } from "../../src/model/chat-message.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { tries } from "../long.ts";

const text = fc.string({ unit: "binary", maxLength: 6 });
/** Mostly values that are accepted, and now and then one that is refused. */
const mostly = (good: fc.Arbitrary<unknown>, ...bad: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: fc.constantFrom(...bad) });
const fields = fc.record(
  {
    id: mostly(text, 5),
    role: mostly(fc.oneof(fc.constantFrom("user", "Product Manager", "__proto__"), fc.string({ unit: "binary", minLength: 1 })), "", 7),
    causeBy: text,
    sentFrom: text,
    sendTo: fc.array(text, { maxLength: 2 }),
    parents: mostly(fc.array(text, { maxLength: 2 }), [3]),
    timestamp: mostly(fc.double({ min: 0, max: 1e15, noNaN: true }), Infinity),
    metadata: mostly(fc.dictionary(text, fc.jsonValue()), [1], "words"),
    instructContent: mostly(fc.oneof(fc.jsonValue(), fc.integer({ min: 470, max: 500 }).map(nested)), { constructor: { prototype: {} } }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<MessageFields>;

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function madeOf(content: string, given: MessageFields): Message | undefined {
  try {
    return createMessage(content, { timestamp: 5, ...given });
  } catch (error) {
    if (error instanceof UsageError || error instanceof NotJsonError) return undefined;
    throw error;
  }
}

function throughText<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

async function throughExport(message: Message): Promise<Message | undefined> {
  const [from, to] = [memoryJournal(), memoryJournal()];
  const events: readonly RunEvent[] = [
    { v: 1, runId: "r", seq: 0, time: 5, type: "run.started", team: "t", roles: [], seed: "s", scheduler: "rounds" },
    { v: 1, runId: "r", seq: 1, time: 5, type: "message", message, to: [] },
  ];
  await from.create("r");
  await from.append("r", (await from.claim("r")).epoch, 0, events);
  await importRun(to, exportRun(from, "r"));
  for await (const event of to.read("r", 1)) if (event.type === "message") return event.message;
  return undefined;
}

describe("a message of any role", () => {
  test("property: what createMessage accepts comes back through every door", { tags: "numbers" }, async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(text, fields, async (content, given) => {
        const message = madeOf(content, given);
        if (message === undefined) return;
        accepted += 1;
        expect(parseMessage(throughText(serializeMessage(message)))).toEqual(message);
        const memory = new Memory();
        memory.add(message);
        expect(Memory.fromJSON(throughText(memory.toJSON())).get()).toEqual([message]);
        const restored = new Memory();
        await importSnapshot(throughText(await exportSnapshot(memory)), restored);
        expect(restored.get()).toEqual([message]);
        const event: RunEvent = { v: 1, runId: "r", seq: 1, time: 5, type: "message", message, to: [] };
        expect(parseEvent(throughText(event))).toEqual(throughText(event));
        expect(JSON.parse(encodeMessage({ runId: "r", addedAt: 5, message }).body)).toMatchObject({ runId: "r", addedAt: 5 });
        expect(await throughExport(message)).toEqual(message);
      }),
      { numRuns: tries(67, 800) },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe("a profile as the role of a message", () => {
  test("is kept, and reaches a model as the user's", () => {
    const message = createMessage("Build it.", { role: "Product Manager", sentFrom: "Alice" });
    expect(message.role).toBe("Product Manager");
    expect(toChat(message)).toEqual({ role: "user", content: "Alice: Build it." });
  });

  test("is heard, remembered, exported and read again by a whole run", async () => {
    const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
    const clerk = defineRole({ name: "Clerk", actions: [Answer] });
    const [journal, other] = [memoryJournal(), memoryJournal()];
    const team = new Team({ roles: [clerk], model: scriptedModel(["Done."]), journal });
    const run = team.run(createMessage("Build it.", { role: "Product Manager" }), { id: "seed" });
    expect((await run.result).status).toBe("finished");
    await importRun(other, exportRun(journal, "seed"));
    const again = await new Team({ roles: [clerk], model: scriptedModel([]), journal: other }).resume("seed").result;
    expect(again.messages.map(({ role }) => role)).toEqual(["Product Manager", "assistant"]);
  });

  test.each([
    ["an empty role", { role: "" }, "role"],
    ["a role that is no text", { role: 5 }, "role"],
    ["an id that is no text", { id: 5 }, "id"],
    ["a parent that is no text", { parents: [1] }, "parents"],
    ["metadata that are a list", { metadata: [1] }, "metadata"],
  ])("createMessage refuses %s, which could not be read again", (_what, given, named) => {
    expect(() => createMessage("x", given as unknown as MessageFields)).toThrow(UsageError);
    expect(() => createMessage("x", given as unknown as MessageFields)).toThrow(named);
  });
});

test("a message in the form of MetaGPT is refused, with the names here", () => {
  expect(() => parseMessage({ content: "x", cause_by: "Review" })).toThrow("Did you mean causeBy?");
  expect(() => Memory.fromJSON({ messages: [{ content: "x", cause_by: "Review" }] } as never)).toThrow(UsageError);
});
