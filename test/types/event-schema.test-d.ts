import { parseEvent } from "../../src/runtime/record/parse-event.ts";
import { describe, expectTypeOf, test } from "vitest";
import type { Message } from "../../src/message/message.ts";
import type { ActEnded, RunEvent, RunStatus, Sent, StepEnded, EVENT_TYPES } from "../../src/runtime/record/event.ts";

describe("the types of events are those of their schema", () => {
  test("parsing gives an event, of one of the listed types", () => {
    expectTypeOf(parseEvent).returns.toEqualTypeOf<RunEvent>();
    expectTypeOf<RunEvent["type"]>().toEqualTypeOf<(typeof EVENT_TYPES)[number]>();
  });

  test("members are read-only, and optional ones are left out", () => {
    expectTypeOf<ActEnded["said"]>().toEqualTypeOf<readonly Sent[]>();
    expectTypeOf<Sent["message"]>().toEqualTypeOf<Message>();
    expectTypeOf<Pick<StepEnded, "try" | "retry">>().toEqualTypeOf<{ readonly try: number; readonly retry?: true }>();
    expectTypeOf<RunStatus>().toEqualTypeOf<"finished" | "rounds" | "budget" | "stopped" | "waiting" | "failed">();
  });
});
