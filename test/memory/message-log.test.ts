import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageLog } from "../../src/memory/message-log.ts";
import { createMessage, type Message } from "../../src/message/message.ts";

function said(n: number): Message {
  return createMessage(`say ${n}`, { id: `m${n}`, causeBy: `Action${n % 3}`, timestamp: 0 });
}

describe("MessageLog", () => {
  test("MessageLog.L1 positions grow in order of arrival and find their message", () => {
    const log = new MessageLog();
    const messages = [said(0), said(1), said(2)];
    const positions = messages.map((message) => log.push(message));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions.map((position) => log.at(position))).toEqual(messages);
    expect([log.at(-1), log.at(99)]).toEqual([undefined, undefined]);
  });

  test("MessageLog.L3 a position stays its message's own while others come and go", () => {
    const log = new MessageLog();
    const kept = said(500);
    for (let n = 0; n < 500; n++) log.push(said(n));
    const position = log.push(kept);
    for (let n = 0; n < 500; n++) log.drop(n);
    log.push(said(501));
    expect(log.at(position)).toBe(kept);
    expect(log.at(499)).toBeUndefined();
    expect(log.nth(0)).toBe(kept);
  });

  test("MessageLog.L2 holes at the ends are no holes; holes between are counted until somebody rewrites", () => {
    const log = new MessageLog();
    for (let n = 0; n < 1000; n++) log.push(said(n));
    for (let n = 0; n < 400; n++) log.drop(n);
    for (let n = 999; n >= 600; n--) log.drop(n);
    expect([log.size, log.isMostlyHoles]).toEqual([200, false]);
    for (let n = 401; n < 599; n += 2) log.drop(n);
    expect([log.size, log.isMostlyHoles]).toEqual([101, false]);
    for (let n = 402; n < 599; n += 2) log.drop(n);
    expect([log.size, log.isMostlyHoles]).toEqual([2, true]);
  });

  test("the newest item of a key is found where it stands, and none that was dropped", () => {
    const log = new MessageLog();
    const cause = (message: Message): string => message.causeBy;
    expect(log.newestWith("Action1", cause)).toBeUndefined();
    for (let n = 0; n < 8; n++) log.push(said(n));
    expect(["Action0", "Action1", "Action2", "Action3"].map((key) => log.newestWith(key, cause))).toEqual([6, 7, 5, undefined]);
    log.drop(7);
    log.drop(4);
    expect(["Action1", "Action0"].map((key) => log.newestWith(key, cause))).toEqual([1, 6]);
    log.drop(1);
    expect(log.newestWith("Action1", cause)).toBeUndefined();
  });

  test("property: it counts, finds and walks as a list without the holes does", () => {
    const step = fc.oneof({ weight: 3, arbitrary: fc.constant("push" as const) }, { weight: 2, arbitrary: fc.nat(1000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 250 }), (steps) => {
        const log = new MessageLog();
        const held: { position: number; message: Message }[] = [];
        for (const [n, each] of steps.entries()) {
          if (each === "push") {
            const message = said(n);
            held.push({ position: log.push(message), message });
          } else if (held.length > 0) {
            const [gone] = held.splice(each % held.length, 1);
            log.drop(gone!.position);
          }
        }
        const messages = held.map(({ message }) => message);
        expect(log.size).toBe(messages.length);
        expect([...log.oldestFirst()]).toEqual(messages);
        expect([...log.newestFirst()]).toEqual(messages.toReversed());
        for (const { position, message } of held) expect(log.at(position)).toBe(message);
        for (let n = -messages.length - 1; n <= messages.length; n++) expect(log.nth(n)).toBe(messages.at(n));
        for (const k of [0, 1, 3, messages.length, messages.length + 1, Infinity]) {
          expect(log.newest(k)).toEqual(k === 0 ? [] : messages.slice(-k));
        }
        const visited: Message[] = [];
        log.forEach((message, position) => {
          expect(log.at(position)).toBe(message);
          visited.push(message);
        });
        expect(visited).toEqual(messages);
      }),
    );
  });
});
