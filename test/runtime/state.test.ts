import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { canonicalJson, type Json } from "../../src/kernel/json.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { StateDraft } from "../../src/runtime/turn/drafts.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { answering, town } from "./town.ts";
import { tries } from "../long.ts";

const Counter = z.object({ count: z.number().int().default(3), names: z.array(z.string()).default([]), label: z.string().optional() });

async function onGo(role: Role, times = 1): Promise<{ state: unknown; result: RunResult }> {
  const environment = town([role]);
  let result: RunResult | undefined;
  for (let i = 0; i < times; i += 1) {
    environment.publishMessage("go");
    result = await environment.run();
  }
  return { state: environment.getRole(role.name)?.state, result: result as RunResult };
}

describe("custom state", () => {
  test("without a schema starts empty, and is kept from one activation to the next", async () => {
    const role = answering("Ann", (rc) => void (rc.state["n"] = Number(rc.state["n"] ?? 0) + 1));
    expect((await onGo(role, 3)).state).toEqual({ n: 3 });
  });

  test("with a schema starts with its defaults, and is typed", async () => {
    const role = defineRole({
      name: "Ann",
      state: Counter,
      react: (rc) => {
        rc.state.count += 1;
        rc.state.names.push(`n${rc.state.count}`);
      },
    });
    expect((await onGo(role, 2)).state).toEqual({ count: 5, names: ["n4", "n5"] });
  });

  test("a schema without a default for every field is refused when the role is defined", () => {
    expect(() => defineRole({ name: "Ann", state: z.object({ needed: z.string() }) })).toThrow(
      expect.objectContaining({ code: "STATE_INVALID" }),
    );
  });

  test("a change that leaves the schema fails the activation, and nothing of it is kept", async () => {
    const role = defineRole({
      name: "Ann",
      state: Counter,
      react: (rc) => {
        rc.state.names.push("kept?");
        rc.state.count = 0.5;
        return rc.message("said?");
      },
    });
    const { state, result } = await onGo(role);
    expect(result).toMatchObject({ status: "failed", error: { code: "STATE_INVALID" } });
    expect(result.messages).toHaveLength(1);
    expect(state).toEqual({ count: 3, names: [] });
  });

  test("a state that is not JSON fails the activation", async () => {
    for (const bad of [new Map(), () => 1, 10n, Number.NaN, new Error("x")]) {
      const { state, result } = await onGo(answering("Ann", (rc) => void (rc.state["bad"] = bad)));
      expect(result).toMatchObject({ status: "failed", error: { code: "NOT_JSON" } });
      expect(state).toEqual({});
    }
  });

  test("keys can be deleted, and the whole be replaced", async () => {
    let turn = 0;
    const role = answering("Ann", (rc) => {
      turn += 1;
      if (turn === 1) Object.assign(rc.state, { a: 1, b: { deep: [1] }, c: 3 });
      if (turn === 2) delete rc.state["a"];
      if (turn === 3) rc.state = { d: rc.state["b"] };
      if (turn === 4) rc.state = { ...rc.state, e: Object.keys(rc.state) };
    });
    expect((await onGo(role, 1)).state).toEqual({ a: 1, b: { deep: [1] }, c: 3 });
    turn = 0;
    expect((await onGo(role, 2)).state).toEqual({ b: { deep: [1] }, c: 3 });
    turn = 0;
    expect((await onGo(role, 3)).state).toEqual({ d: { deep: [1] } });
    turn = 0;
    expect((await onGo(role, 4)).state).toEqual({ d: { deep: [1] }, e: ["d"] });
  });

  test.each([null, [1], "text", 3])("%j cannot be a state", async (state) => {
    const { result } = await onGo(answering("Ann", (rc) => void (rc.state = state as never)));
    expect(result).toMatchObject({ status: "failed", error: { code: "STATE_INVALID" } });
  });

  test("names that every object has already are keys like others", async () => {
    const words = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    const role = answering("Ann", (rc) => {
      for (const word of words) rc.state[word] = Number(rc.state[word] ?? 0) + 1;
    });
    const { state, result } = await onGo(role, 2);
    expect(result.status).toBe("finished");
    expect(Object.entries(state as object)).toEqual(words.map((word) => [word, 2]));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

type State = { readonly [key: string]: Json };
type Change =
  | { readonly kind: "set"; readonly key: string; readonly value: Json }
  | { readonly kind: "nest"; readonly key: string; readonly value: Json }
  | { readonly kind: "delete"; readonly key: string }
  | { readonly kind: "replace"; readonly state: State }
  | { readonly kind: "read"; readonly key: string };

const key = fc.constantFrom("a", "b", "constructor", "__proto__", "x y");
const value = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -0, 0.5, true, false, "", "0"),
  fc.string({ unit: "binary" }),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("p", "q"), fc.integer()),
);
const state = fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries): State => Object.fromEntries(entries));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value }),
  fc.record({ kind: fc.constant("nest" as const), key, value }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.record({ kind: fc.constant("read" as const), key }),
  fc.record({ kind: fc.constant("replace" as const), state }),
);

/** A plain object with the same changes, made without a prototype so that no key is special. */
function changedPlainly(plain: Map<string, Json>, { ...one }: Change): Map<string, Json> {
  if (one.kind === "set") plain.set(one.key, one.value);
  if (one.kind === "nest" && Array.isArray(plain.get(one.key))) plain.set(one.key, [...(plain.get(one.key) as Json[]), one.value]);
  if (one.kind === "delete") plain.delete(one.key);
  return one.kind === "replace" ? new Map(Object.entries(one.state)) : plain;
}

/** The change is copied: a draft keeps what it is given, and the test's own must stay as it was made. */
function changeDraft(draft: StateDraft, given: Change): void {
  const one = structuredClone(given);
  const { view } = draft;
  if (one.kind === "set") view[one.key] = one.value;
  if (one.kind === "nest" && Array.isArray(view[one.key])) (view[one.key] as Json[]).push(one.value);
  if (one.kind === "delete") delete view[one.key];
  if (one.kind === "read") void JSON.stringify(view[one.key]);
  if (one.kind === "replace") draft.replace(one.state);
}

/** Entries as texts in an order of their own. */
function told(entries: Iterable<readonly [string, unknown]>): string[] {
  return Array.from(entries, (entry) => canonicalJson(entry)).toSorted();
}

describe("StateDraft", () => {
  test(
    "property: StateDraft.C1 StateDraft.C2 it reads as a plain object, leaves its base alone, and names exactly what differs",
    { tags: "numbers" },
    () => {
      fc.assert(
        fc.property(state, fc.array(change, { maxLength: 8 }), (base, changes) => {
          const untouched = JSON.stringify(base);
          const draft = new StateDraft(base, "Ann#0~1");
          let plain = new Map(Object.entries(base));
          for (const one of changes) {
            changeDraft(draft, one);
            plain = changedPlainly(plain, one);
            expect(told(Object.entries(draft.view))).toEqual(told(plain));
          }
          expect(JSON.stringify(base)).toBe(untouched);
          const difference = draft.changes("Ann", undefined);
          const set = Object.entries(difference?.set ?? {});
          const after = new Map([...Object.entries(base), ...set]);
          for (const gone of difference?.unset ?? []) expect(after.delete(gone)).toBe(true);
          expect(told(after)).toEqual(told(plain));
          const was = new Map(Object.entries(base));
          for (const [name, now] of set) expect(canonicalJson(now)).not.toBe(was.has(name) ? canonicalJson(was.get(name)) : "nothing");
          expect(difference).not.toEqual({ set: {}, unset: [] });
        }),
        { numRuns: tries(100, 1_200) },
      );
    },
  );

  test.each([
    ["-0", { a: 0 }, -0, undefined],
    ["-0 where there was something else", { a: 1 }, -0, 0],
    ["a date", { a: 1 }, new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a date that stood there as its text", { a: "1970-01-01T00:00:00.000Z" }, new Date(0), undefined],
    ["null for a list", { a: [1] }, null, null],
    ["a text for the number it tells", { a: 1 }, "1", "1"],
    ["half of a pair of code units", { a: "" }, "\ud800", "\ud800"],
  ])(
    "StateDraft.C2 %s is told as JSON gives it back, where it is something else",
    (_, base: State, given: unknown, now: Json | undefined) => {
      const draft = new StateDraft(base, "Ann#0~1");
      draft.view["a"] = given;
      expect(draft.changes("Ann", undefined)?.set["a"]).toBe(now);
    },
  );

  test("StateDraft.C2 a state that is put into its own place stays what it is, with what was changed in it", () => {
    const draft = new StateDraft({ a: 1, b: [2], c: 3 }, "Ann#0~1");
    draft.view["a"] = 4;
    draft.replace(draft.view);
    expect({ ...draft.view }).toEqual({ a: 4, b: [2], c: 3 });
    expect(draft.changes("Ann", undefined)).toEqual({ set: { a: 4 }, unset: [] });
  });

  test("StateDraft.C1 what was read and then changed in place is told, and the base stays as it was", () => {
    const base = { list: [1], count: 1 };
    const draft = new StateDraft(base, "Ann#0~1");
    expect(draft.view["list"]).toBe(draft.view["list"]);
    (draft.view["list"] as number[]).push(draft.view["count"] as number);
    expect(draft.changes("Ann", undefined)).toEqual({ set: { list: [1, 1] }, unset: [] });
    expect(base).toEqual({ list: [1], count: 1 });
  });
});
