import { describe, expectTypeOf, test } from "vitest";
import type { ActResumed, RunEvent, StepEnded } from "../../src/runtime/record/event.ts";
import { parseEvent } from "../../src/runtime/record/event-schema.ts";
import type { SameFields } from "../../src/runtime/record/event-schema.ts";

describe("the schema of events is the union of events", () => {
  test("parsing gives an event", () => {
    expectTypeOf(parseEvent).returns.toEqualTypeOf<RunEvent>();
    expectTypeOf(parseEvent).parameters.toEqualTypeOf<[unknown]>();
  });

  test("a field that stands on one side only is told, and so is one that is another", () => {
    expectTypeOf<SameFields<ActResumed, { readonly type: "act.resumed"; readonly act: string }>>().toEqualTypeOf<true>();
    expectTypeOf<SameFields<ActResumed, Pick<ActResumed, "type"> & { readonly act: string }>>().toEqualTypeOf<true>();
    expectTypeOf<SameFields<ActResumed, ActResumed & { readonly more: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<ActResumed, ActResumed & { readonly more?: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<ActResumed, Pick<ActResumed, "type">>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<StepEnded, Omit<StepEnded, "saved">>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<ActResumed, { readonly type: "act.resumed"; readonly act: number }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<ActResumed, { readonly type: "act.resumed"; act: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<{ readonly a?: string }, { readonly a?: string | undefined }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<{ readonly a: { readonly b: 1 } }, { readonly a: { readonly b: 1; readonly c?: 2 } }>>().toEqualTypeOf<false>();
  });
});
