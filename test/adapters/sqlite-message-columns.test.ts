import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeColumns, encodeColumns } from "../../src/adapters/sqlite-message-blocks.ts";
import type { StoredMessage } from "../../src/memory/message-store.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { tries } from "../long.ts";

const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.stringify(value))
  // No message holds a member of this name.
  .filter((text) => !text.includes('"__proto__":'))
  .map((text) => JSON.parse(text) as never);
const name = fc.constantFrom("a", "b", "");
const message: fc.Arbitrary<Message> = fc
  .record(
    {
      id: fc.string(),
      role: fc.constantFrom("user", "assistant", "tool"),
      causeBy: name,
      sentFrom: name,
      sendTo: fc.oneof(name, fc.array(name, { maxLength: 3 })),
      parents: fc.array(name, { maxLength: 2 }),
      timestamp: fc.integer(),
      metadata: fc.dictionary(fc.constantFrom("x", "y"), json, { maxKeys: 2 }),
      instructContent: json,
    },
    { requiredKeys: ["id", "timestamp"] },
  )
  .chain((fields) => fc.string({ unit: "binary" }).map((content) => createMessage(content, fields as never)));
// As another program, or an older one, may have made it.
const odd = fc.oneof(
  message.map(({ role, content, ...others }) => ({ role, extra: [role], ...others, content }) as never),
  message.map((one) => ({ ...one, causeBy: { of: one.causeBy } }) as never),
);

function stored(messages: readonly Message[], block = 0): StoredMessage[] {
  return messages.map((one, n) => ({ place: block + 2 * n, runId: n % 3 === 0 ? "" : "run", addedAt: n / 1024, message: one }));
}

/** What comes back when it is read by another process. */
function reread(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("messages as columns", () => {
  it("come back as they went in, in order, their fields too, and frozen", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ arbitrary: message, weight: 4 }, odd), { maxLength: 9 }), (messages) => {
        const written = stored(messages, 640);
        const { content, checksum } = encodeColumns(640, written);
        const read = decodeColumns(640, content, checksum, 600) ?? [];
        expect(JSON.stringify(read)).toBe(JSON.stringify(written.map((one) => ({ ...one, place: one.place - 600 }))));
        for (const { message: one } of read) {
          expect(Object.isFrozen(one)).toBe(true);
          for (const member of Object.values(one)) expect(Object.isFrozen(member)).toBe(true);
        }
      }),
      { numRuns: tries(20, 240) },
    );
  });

  it("share what all of them say, and only that", () => {
    const written = stored(["a", "b"].map((id) => createMessage(id, { id, sendTo: ["x", "y"], metadata: { of: ["all"] } })));
    const { content, checksum } = encodeColumns(0, written);
    const [one, two] = decodeColumns(0, content, checksum, 0) ?? [];
    expect(reread([one, two])).toEqual(reread(written));
    expect([one?.message.sendTo === two?.message.sendTo, one?.message.metadata === two?.message.metadata]).toEqual([true, true]);
    expect(content.length).toBeLessThan(JSON.stringify(written).length);
    const apart = encodeColumns(
      0,
      stored(["a", "b"].map((id) => createMessage(id, { id, sendTo: ["x"], parents: [id], metadata: { of: [id] } }))),
    );
    const others = (decodeColumns(0, apart.content, apart.checksum, 0) ?? []).map((kept) => kept.message);
    expect(others.map(({ parents, metadata }) => [parents, metadata])).toEqual([
      [["a"], { of: ["a"] }],
      [["b"], { of: ["b"] }],
    ]);
    for (const { parents, metadata } of others) expect([parents, metadata, metadata["of"]].every(Object.isFrozen)).toBe(true);
  });

  it.each([
    ["nothing but ids", {}],
    ["causes that are no names", { causeBy: { of: "x" } }],
    ["lists of recipients", { sendTo: ["x", "y"] }],
    ["metadata", { metadata: { deep: [{}] } }],
    ["parents", { parents: ["p"] }],
  ])("that differ in %s come back frozen through and through", (_what, change) => {
    const messages = ["a", "b", "c"].map((id) => createMessage(id, { id }));
    const written = stored(messages.map((one, n) => (n === 1 ? ({ ...one, ...change } as Message) : one)));
    const { content, checksum } = encodeColumns(0, written);
    const read = decodeColumns(0, content, checksum, 0) ?? [];
    expect(reread(read)).toEqual(reread(written));
    const left: unknown[] = read.map((kept) => kept.message);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (typeof next !== "object" || next === null) continue;
      expect(Object.isFrozen(next)).toBe(true);
      left.push(...Object.values(next));
    }
  });

  it("are no others': changed, cut, of another block or another version they are not read", () => {
    const { content, checksum } = encodeColumns(64, stored([createMessage("words", { id: "a" })], 64));
    expect(decodeColumns(64, content, checksum, 0)).toHaveLength(1);
    expect(decodeColumns(128, content, checksum, 0)).toBeUndefined();
    for (let at = 0; at < content.length; at += 7) {
      const flipped = Buffer.from(content);
      flipped[at] = (flipped[at] as number) ^ 1;
      expect(decodeColumns(64, flipped, checksum, 0)).toBeUndefined();
    }
    expect(decodeColumns(64, content.subarray(1), checksum, 0)).toBeUndefined();
    expect(decodeColumns(64, content, checksum.subarray(1), 0)).toBeUndefined();
    expect(decodeColumns(64, content, new Uint8Array(0), 0)).toBeUndefined();
    const newer = Buffer.from(content.toString().replace('"v":1', '"v":2'));
    expect(newer.equals(content)).toBe(false);
    expect(decodeColumns(64, newer, hash("sha256", newer, "buffer").subarray(0, 16), 0)).toBeUndefined();
  });
});
