import { describe, expectTypeOf, test } from "vitest";
import type { RoundEnded, RunEvent, StepEnded } from "../../src/runtime/record/event.ts";
import { parseEvent } from "../../src/runtime/record/event-schema.ts";
import type { SameFields } from "../../src/runtime/record/event-schema.ts";

describe("the schema of events is the union of events", () => {
  test("parsing gives an event", () => {
    expectTypeOf(parseEvent).returns.toEqualTypeOf<RunEvent>();
    expectTypeOf(parseEvent).parameters.toEqualTypeOf<[unknown]>();
  });

  test("a field that stands on one side only is told, and so is one that is another", () => {
    expectTypeOf<SameFields<RoundEnded, { readonly type: "round.ended"; readonly round: number }>>().toEqualTypeOf<true>();
    expectTypeOf<SameFields<RoundEnded, Pick<RoundEnded, "type"> & { readonly round: number }>>().toEqualTypeOf<true>();
    expectTypeOf<SameFields<RoundEnded, RoundEnded & { readonly more: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<RoundEnded, RoundEnded & { readonly more?: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<RoundEnded, Pick<RoundEnded, "type">>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<StepEnded, Omit<StepEnded, "saved">>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<RoundEnded, { readonly type: "round.ended"; readonly round: string }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<RoundEnded, { readonly type: "round.ended"; round: number }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<{ readonly a?: string }, { readonly a?: string | undefined }>>().toEqualTypeOf<false>();
    expectTypeOf<SameFields<{ readonly a: { readonly b: 1 } }, { readonly a: { readonly b: 1; readonly c?: 2 } }>>().toEqualTypeOf<false>();
  });
});
