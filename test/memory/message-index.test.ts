import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageLog } from "../../src/memory/message-log.ts";
import { MessageIndex } from "../../src/memory/message-index.ts";
import { createMessage, type Message } from "../../src/message/message.ts";

function said(n: number): Message {
  return createMessage(`say ${n}`, { id: `m${n}`, causeBy: `Action${n % 3}`, timestamp: 0 });
}

describe("MessageIndex", () => {
  test("MessageIndex.I1 property: it tells what the log holds, whether it was there from the start or is made now", () => {
    const step = fc.oneof({ weight: 3, arbitrary: fc.constant("push" as const) }, { weight: 2, arbitrary: fc.nat(1000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const log = new MessageLog();
        const causeOf = (message: Message): string => message.causeBy;
        const early = new MessageIndex(log, causeOf);
        const held: { position: number; message: Message }[] = [];
        for (const [n, each] of steps.entries()) {
          if (each === "push") {
            const message = said(n);
            const position = log.push(message);
            early.add(message, position);
            held.push({ position, message });
          } else if (held.length > 0) {
            const [gone] = held.splice(each % held.length, 1);
            log.drop(gone!.position);
            early.remove(gone!.message);
          }
        }
        const late = new MessageIndex(log, causeOf);
        for (const key of ["Action0", "Action1", "Action2", "Nobody"]) {
          const expected = held.filter(({ message }) => message.causeBy === key);
          for (const index of [early, late]) {
            expect(index.positionsOf(key)).toEqual(expected.map(({ position }) => position));
            expect(index.newest(key)).toBe(expected.at(-1)?.message);
          }
        }
      }),
    );
  });

  test("what it gives is the caller's own", () => {
    const log = new MessageLog();
    const index = new MessageIndex(log, (message) => message.causeBy);
    index.add(said(0), log.push(said(0)));
    index.positionsOf("Action0").pop();
    expect(index.positionsOf("Action0")).toHaveLength(1);
  });
});
