import fc from "fast-check";
import { parseEvent } from "../../../src/runtime/record/parse-event.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { JournalError } from "../../../src/kernel/errors.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { EVENT_VERSION, type RunEvent } from "../../../src/runtime/record/event.ts";
import { list, record } from "../../../src/runtime/record/event-schema.ts";
import { manyRuns } from "../many-runs.ts";
import { tries } from "../../long.ts";

let events: readonly RunEvent[];

beforeAll(async () => {
  events = [...(await manyRuns()).values()].flat();
});

const ended = { v: 1, runId: "r", seq: 7, time: 5, type: "round.ended", round: 0 };
const step = {
  ...ended,
  type: "step.ended",
  act: "Ann#0~1",
  key: "k",
  try: 1,
  ok: true,
  cost: 0,
  basis: "none",
  at: 5,
  value: null as unknown,
};
delete (step as { round?: number }).round;

/** Returns the error for a value that is no event. */
function refusal(value: unknown): JournalError {
  try {
    parseEvent(value);
  } catch (error) {
    if (error instanceof JournalError) return error;
    throw error;
  }
  return expect.unreachable("it was taken for an event");
}

describe("an event of a run", () => {
  test("is taken as it is, whatever run it comes from", () => {
    for (const event of events) {
      const text = JSON.stringify(event);
      expect(parseEvent(event)).toBe(event);
      expect(JSON.stringify(event)).toBe(text);
    }
  });

  test("and every type occurs in these runs", () => {
    expect(new Set(events.map(({ type }) => type)).size).toBe(11);
  });

  test("has no field that is not known, and lacks none that must be there", () => {
    for (const event of events) {
      expect(refusal({ ...event, extra: 1 }).code).toBe("EVENT_INVALID");
      for (const field of ["v", "runId", "seq", "time", "type"]) {
        expect(refusal(Object.fromEntries(Object.entries(event).filter(([key]) => key !== field))).code).toBe("EVENT_INVALID");
      }
    }
  });

  test("may be changed at random: it is refused, or given back as it is, and no prototype is touched", { tags: "numbers" }, () => {
    const change = fc.record({
      event: fc.nat(),
      place: fc.nat(),
      key: fc.constantFrom("", "__proto__", "constructor", "prototype", "seq", "round", "value", "said", "0"),
      value: fc.oneof(
        fc.jsonValue(),
        fc.constantFrom<unknown>({ polluted: true }, { prototype: { polluted: true } }, [["+", "id"]], Number.NaN),
      ),
      how: fc.constantFrom("set", "add", "delete"),
    });
    const prototypes = [Object.prototype, Array.prototype].map((prototype) => JSON.stringify(Object.getOwnPropertyNames(prototype)));
    const taken = new Set<boolean>();
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const mutated = changes.reduce((event, one) => changed(event, one), clone(events[(changes[0]?.event ?? 0) % events.length]));
        const copy = structuredClone(mutated);
        try {
          expect(parseEvent(mutated)).toBe(mutated);
          expect(mutated).toEqual(copy);
          taken.add(true);
        } catch (error) {
          if (!(error instanceof JournalError)) throw error;
          expect(error.code).toMatch(/^EVENT_(INVALID|NEWER)$/);
          taken.add(false);
        }
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
        expect([Object.prototype, Array.prototype].map((prototype) => JSON.stringify(Object.getOwnPropertyNames(prototype)))).toEqual(
          prototypes,
        );
      }),
      { numRuns: tries(667, 8_000) },
    );
    expect(taken).toEqual(new Set([true, false]));
  });
});

describe("a value that is not an event", () => {
  test.each<[string, unknown, string]>([
    ["nothing", undefined, "a hole"],
    ["null", null, "type undefined"],
    ["a text", "round.ended", "type undefined"],
    ["a list", [ended], "type undefined"],
    ["an unknown type", { ...ended, type: "round.begun" }, '"round.begun"'],
    ["a type that every object has", { ...ended, type: "constructor" }, '"constructor"'],
    ["a type that is no text", { ...ended, type: ["round.ended"] }, '["round.ended"]'],
    ["another event's field", { ...ended, act: "Ann#0~1" }, '"act"'],
    ["an old version", { ...ended, v: 0 }, "v:"],
    ["a place below 0", { ...ended, seq: -1 }, "seq:"],
    ["half a place", { ...ended, seq: 0.5 }, "seq:"],
    ["no cost", { ...step, cost: undefined }, "a hole"],
    ["a negative cost", { ...step, cost: -1 }, "cost:"],
    ["not a number", { ...ended, time: Number.NaN }, "NaN"],
    ["not a number in a value", { ...step, value: [Number.NaN] }, "NaN"],
    ["more than any number", { ...step, value: -Infinity }, "-Infinity"],
    ["a date", { ...step, value: new Date(0) }, "no plain"],
    ["a function", { ...step, value: () => 1 }, "a function"],
    ["a list with a hole", { ...step, value: Object.assign([1], { 2: 2 }) }, "a hole"],
    ["a prototype", JSON.parse('{"v":1,"__proto__":{"a":1}}'), "__proto__"],
    ["a prototype deep inside", { ...step, value: [{ a: JSON.parse('{"__proto__":1}') as Json }] }, "__proto__"],
    ["the other way to one", { ...step, value: { constructor: { prototype: { a: 1 } } } }, "constructor.prototype"],
  ])("%s is refused, and the error says what came", (_what, value, told) => {
    const error = refusal(value);
    expect(error.code).toBe("EVENT_INVALID");
    expect(error.message).toContain(told);
    expect(error.message).toMatch(/^Expected .* Read it with the version/s);
  });

  test("is told by its place in the run", () => {
    const error = refusal({ ...ended, round: "first" });
    expect(error.message).toContain("Expected event 7 of a run, got one that does not fit: round: ");
    expect(error.data).toEqual({ seq: 7 });
  });

  test("is of a newer version, which is told apart, whatever else is new in it", () => {
    const error = refusal({ ...ended, v: EVENT_VERSION + 1, type: "round.begun", more: 1 });
    expect(error.code).toBe("EVENT_NEWER");
    expect(error.message).toContain("Update this program");
  });

  test("a word that only looks like a way to a prototype is data", () => {
    const value = { constructor: "Bob & Sons", prototype: ["of a car"] };
    expect(parseEvent({ ...step, value })).toMatchObject({ value });
  });
});

describe("a hostile event", () => {
  const nested = (levels: number): Json => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as Json;

  test("may be nested as deep as it can be written again, and no deeper", () => {
    expect(parseEvent({ ...step, value: nested(499) })).toBeDefined();
    expect(refusal({ ...step, value: nested(500) }).message).toContain("more than 500 levels");
    expect(refusal({ ...step, value: nested(1_000_000) }).message).toContain("more than 500 levels");
    const ring: Json[] = [];
    ring.push(ring);
    expect(refusal({ ...step, value: ring }).message).toContain("more than 500 levels");
  });

  test("with a million faults is told of by the first", () => {
    const wrong = Array.from({ length: 1_000_000 }, (_, n) => n);
    const error = refusal({ v: 1, runId: "r", seq: 0, time: 0, type: "run.resumed", uncertain: wrong });
    expect(error.message).toContain("uncertain.0: ");
    expect(error.message.length).toBeLessThan(1_000);
    expect(list(z.string()).safeParse(wrong).error?.issues).toHaveLength(1);
    expect(
      record(z.string())
        .safeParse({ a: "", b: 1, c: 2 })
        .error?.issues.map(({ path }) => path),
    ).toEqual([["b"]]);
  });

  test("cannot steer the terminal that shows its error, nor fill it", () => {
    const name = `\u001b[2J\u202e\u0085${"x".repeat(10_000)}`;
    for (const value of [
      { ...ended, [name]: 1 },
      { ...ended, type: name },
      { ...ended, round: name },
    ]) {
      const { message } = refusal(value);
      expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(message.length).toBeLessThan(1_500);
    }
  });
});

interface Change {
  readonly place: number;
  readonly key: string;
  readonly value: unknown;
  readonly how: string;
}

/** One member of an event, or of what it holds, is another, is gone or is new. */
function changed(event: unknown, { place, key, value, how }: Change): unknown {
  const owners: object[] = [];
  const open: unknown[] = [event];
  for (const one of open) {
    if (typeof one !== "object" || one === null) continue;
    owners.push(one);
    open.push(...Object.values(one));
  }
  const owner = owners[place % Math.max(1, owners.length)];
  if (owner === undefined) return event;
  const keys = Object.keys(owner);
  const old = keys[place % Math.max(1, keys.length)] ?? key;
  const at = how === "add" ? key : old;
  if (how === "delete") delete (owner as Record<string, unknown>)[at];
  else Object.defineProperty(owner, at, { value: structuredClone(value), enumerable: true, configurable: true, writable: true });
  return event;
}

function clone(event: RunEvent | undefined): unknown {
  return JSON.parse(JSON.stringify(event));
}
