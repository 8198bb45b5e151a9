import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { delay, dueAt, dueOf, takeDue } from "../../../src/runtime/record/delivery.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { tries } from "../../long.ts";

function stateAt(tick: number): RunState {
  return Object.assign(new RunState("r"), { tick });
}

describe("delayed messages", () => {
  test(
    "property: Delayed.DY1 leave by their ticks, those of one tick as they were sent, and none before its tick",
    { tags: "numbers" },
    () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(fc.nat({ max: 9 }), fc.constant("take" as const)), { maxLength: 60 }), (doings) => {
          const state = stateAt(0);
          let waiting: { readonly due: number; readonly text: string }[] = [];
          for (const [nth, doing] of doings.entries()) {
            if (doing !== "take") {
              const due = state.tick + doing;
              const message = createMessage(`${nth}`);
              delay(state, { order: 0, sent: { message, to: [], due } }, due);
              waiting.push({ due, text: message.content });
              continue;
            }
            state.tick += 2;
            const expected = waiting.filter(({ due }) => due <= state.tick).toSorted((a, b) => a.due - b.due);
            waiting = waiting.filter(({ due }) => due > state.tick);
            expect(dueAt(state, state.tick)).toHaveLength(expected.length);
            expect(takeDue(state).map(({ sent }) => sent.message.content)).toEqual(expected.map(({ text }) => text));
            expect(state.delayed.size).toBe(waiting.length);
          }
        }),
        { numRuns: tries(40, 2_000) },
      );
    },
  );

  test("Delayed.DY2 are those that arrive later than without a delay", () => {
    expect([0, 0.5, 1, 1.5, 2, 40].map((ticks) => dueOf(stateAt(7), ticks, "Ann"))).toEqual([undefined, undefined, undefined, 8.5, 9, 47]);
  });

  test.each([-1, Number.NaN, Infinity, Number.MAX_SAFE_INTEGER, "3", undefined, null])("are not sent after %s ticks", (ticks) => {
    expect(() => dueOf(stateAt(1), ticks, "Ann")).toThrow(/Expected Ann to send a message a number of ticks later, 0 or more, got/);
  });
});
