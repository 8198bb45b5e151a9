import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/kernel/json.ts";
import { EVENT_VERSION, type RunEvent } from "../../../src/runtime/record/event.ts";
import { EVENT_TYPES } from "../../../src/runtime/record/observed.ts";
import { packedEvent, unpackedEvent } from "../../../src/runtime/record/packed-event.ts";
import { tries } from "../../long.ts";

/** What comes back of an event that was packed, written and read; undefined when it is not packed. */
function throughText(event: RunEvent): unknown {
  const list = packedEvent(event);
  if (list === undefined) return undefined;
  return unpackedEvent(JSON.parse(JSON.stringify(list)) as unknown[], event.runId, event.seq) ?? "nothing";
}

/** What JSON keeps of an event. */
function asJson(event: RunEvent): unknown {
  return JSON.parse(JSON.stringify(event));
}

// Few letters, so that what is left out when two texts are equal often is, and often is not.
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "#", "~", ".", "0", "1"), maxLength: 3 }),
  fc.constantFrom("a#0.0", "a#0.1", "a#1.0", "user#1", "<all>", "<self>", "\ud800", "猫🎭", "\0", "__proto__", "constructor", "toString"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const count = fc.oneof(fc.nat({ max: 2 }), fc.maxSafeNat());
const stamp = fc.oneof(
  fc.constantFrom(0, 1, 1_795_285_502_330),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e308, -0, 0.5),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    text,
    stamp,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(text, tie("json"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).json;
const texts = fc.array(text, { maxLength: 3 });
const record = fc.oneof(fc.constant({}), fc.dictionary(text, json, { maxKeys: 2, noNullPrototype: true }));
/** Members that may be missing. */
function some<T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.oneof(fc.constant({}), fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>);
}

const error = fc.record({ name: text, code: text, message: text });
const message = (role: string, ids: string, at: number) =>
  fc
    .record({
      id: fc.oneof(
        fc.nat({ max: 2 }).map((k) => `${ids}${k}`),
        text,
      ),
      content: text,
      role: fc.constantFrom("assistant", "user", "tool"),
      causeBy: text,
      sentFrom: fc.oneof(fc.constant(role), text),
      sendTo: texts,
      parents: fc.oneof(texts, fc.constant(["a#0.0"])),
      timestamp: fc.oneof(fc.constant(at), stamp),
      metadata: record,
    })
    .chain((whole) => some({ instructContent: json, more: json }).map((more) => ({ ...whole, ...more })));
const sent = (role: string, ids: string, at: number) =>
  fc
    .record({ message: message(role, ids, at), to: fc.oneof(texts, fc.constant([role])) })
    .chain((whole) => some({ dead: texts, dropped: fc.constant(true) }).map((more) => ({ ...whole, ...more })));

const activation = fc.record({ role: text, n: count, attempt: fc.constantFrom(1, 1, 1, 2), time: stamp }).chain((told) =>
  fc.record({
    told: fc.constant(told),
    act: fc.oneof(fc.constant(`${told.role}#${told.n}~${told.attempt}`), text),
    at: fc.oneof(fc.constant(told.time), stamp),
  }),
);

const ended = activation.chain(({ told: { role, n, time }, act, at }) => {
  const said = fc.array(sent(role, `${role}#${n}.`, at), { maxLength: 3 });
  const op = fc.oneof(
    text.map((id) => ["+", id]),
    fc.nat({ max: 2 }).map((k) => ["+", `${role}#${n}.${k}`]),
    text.map((id) => ["-", id]),
    fc.constant(["0"]),
    fc.tuple(fc.constant("+"), text, json),
    message(role, "", at).map((whole) => ["+", whole]),
  );
  const ops = fc.oneof(fc.constant([]), fc.array(op, { maxLength: 4 }));
  const more = some({ at: fc.constant(at), state: json, plan: json, joins: json, summary: json, asked: texts, unrepeated: json });
  return fc
    .record({ act: fc.constant(act), role: fc.constant(role), round: count, take: count, said, memory: ops, working: ops, more })
    .map(({ more: others, ...whole }) => ({ time, type: "act.ended", ...whole, ...others }));
});
const begun = activation.map(({ told: { role, n, attempt, time }, act, at }) => ({
  ...{ time, type: "act.started", act, role, n, attempt, take: n % 3, at },
}));
const asked = fc
  .record({ time: stamp, act: text, key: text, kind: text, name: text, asked: count, try: count, hold: count, request: json })
  .chain((whole) =>
    some({ in: text, idempotent: fc.constant(false), reused: count }).map((more) => ({ type: "step.started", ...whole, ...more })),
  );
const usage = fc.oneof(fc.constant({ inputTokens: 1 }), record);
const got = fc
  .record({
    ...{ time: stamp, act: text, key: text, try: count, ok: fc.boolean(), cost: fc.oneof(count, fc.constant(null)), at: stamp },
    basis: fc.constantFrom("usage", "hold", "none"),
    more: some({
      usage: fc.oneof(usage, json),
      value: fc.oneof(fc.record({ usage }), json),
      error,
      retry: fc.constant(true),
      saved: count,
    }),
  })
  .map(({ more, ...whole }) => ({ type: "step.ended", ...whole, ...more }));
const published = stamp.chain((time) =>
  sent("", "user#", time).chain((whole) =>
    some({ atBarrier: fc.constant(true) }).map((more) => ({ time, type: "message", ...whole, ...more })),
  ),
);
const roundEnded = fc.record({ time: stamp, type: fc.constant("round.ended"), round: count });
const runEnded = fc.record({ time: stamp, type: fc.constant("run.ended"), status: text });

const anyEvent = fc
  .oneof(ended, begun, asked, got, published, roundEnded, runEnded)
  .map((event) => ({ v: EVENT_VERSION, runId: "r", seq: 7, ...event }) as unknown as RunEvent);

/** One member of it, however deep, is gone, is another thing, or came in. */
function spoiled(event: RunEvent, place: number, name: string, value: Json | undefined): RunEvent {
  const copy = structuredClone(event) as unknown as Record<string, unknown>;
  const open = [copy];
  for (const each of open) open.push(...(Object.values(each).filter((one) => typeof one === "object" && one !== null) as typeof open));
  const chosen = open[place % open.length] ?? copy;
  const names = [...Object.keys(chosen), name].filter((one) => chosen !== copy || (one !== "runId" && one !== "seq"));
  const key = names[place % names.length] ?? name;
  if (value === undefined && !Array.isArray(chosen)) delete chosen[key];
  else Object.defineProperty(chosen, key, { value: value ?? null, enumerable: true, configurable: true, writable: true });
  return copy as unknown as RunEvent;
}

const RUNS = tries(1_000, 12_000);

describe("a packed event", () => {
  it("PackedEvent.P1 comes back equal", { tags: "numbers" }, () => {
    let packed = 0;
    fc.assert(
      fc.property(anyEvent, (event) => {
        const back = throughText(event);
        if (back === undefined) return;
        packed += 1;
        deepStrictEqual(back, asJson(event));
      }),
      { numRuns: RUNS },
    );
    expect(packed).toBeGreaterThan(RUNS / 6);
  });

  it("PackedEvent.P1 comes back equal with members that are missing, strange, or of another kind", { tags: "numbers" }, () => {
    let packed = 0;
    fc.assert(
      fc.property(anyEvent, fc.nat(), text, fc.option(json, { nil: undefined }), (event, place, name, value) => {
        const odd = spoiled(event, place, name, value);
        const back = throughText(odd);
        if (back === undefined) return;
        packed += 1;
        deepStrictEqual(back, asJson(odd));
      }),
      { numRuns: RUNS },
    );
    expect(packed).toBeGreaterThan(RUNS / 6);
  });

  it.each(["content", "causeBy", "sendTo", "parents"])("PackedEvent.P3 a message that says %s twice is refused", (name) => {
    for (const value of [null, 5, "abc"]) {
      const said = [["hi", "X", [], 0, 0, { [name]: value }]];
      expect(unpackedEvent(["end", 5, 0, "A", 1, 1, 1, said, [-1]], "r", 7)).toBeUndefined();
    }
  });

  it(
    "PackedEvent.P2 PackedEvent.P3 a list that is no packed event gives none, or one with its place in its run; none throws",
    { tags: "numbers" },
    () => {
      const tag = fc.constantFrom("end", "act", "ask", "got", "say", "round");
      const list = fc.oneof(
        fc.tuple(tag, fc.array(json, { maxLength: 12 })).map(([first, rest]) => [first, ...rest]),
        // A list that was packed, with another thing at one place.
        fc
          .tuple(anyEvent, fc.nat({ max: 11 }), json)
          .map(([event, place, value]) => Object.assign([...(packedEvent(event) ?? ["end"])], { [place]: value })),
      );
      fc.assert(
        fc.property(list, (given) => {
          const event = unpackedEvent(given, "r", 7);
          if (event === undefined) return;
          expect(event).toMatchObject({ v: EVENT_VERSION, runId: "r", seq: 7, time: given[1] });
          expect(Object.keys(EVENT_TYPES)).toContain(event.type);
        }),
        { numRuns: RUNS },
      );
    },
  );
});
