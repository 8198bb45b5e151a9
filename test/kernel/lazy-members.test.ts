import { describe, expect, test } from "vitest";
import { lazyMembers } from "../../src/kernel/lazy-members.ts";

class Counted {
  declare readonly total: number;
  readonly parts: readonly number[];
  asked = 0;

  static readonly #withLazy = lazyMembers<Counted>({
    total: (counted) => {
      counted.asked += 1;
      return counted.parts.reduce((sum, part) => sum + part, 0);
    },
  });

  constructor(...parts: readonly number[]) {
    this.parts = parts;
    Counted.#withLazy(this);
  }
}

describe("lazy members", () => {
  test("are worked out when they are read, and not before", () => {
    const counted = new Counted(1, 2);
    expect(counted.asked).toBe(0);
    expect(counted.total).toBe(3);
    expect(counted.asked).toBe(1);
  });

  test("are the object's own: a copy has their values", () => {
    expect(Object.keys(new Counted(1))).toContain("total");
    expect(Object.assign({}, new Counted(1, 2))).toMatchObject({ total: 3 });
  });

  test("are those of the object also where another stands in its place", () => {
    class Secretive {
      declare readonly word: string;
      readonly #word: string;
      static readonly #withLazy = lazyMembers<Secretive>({ word: (own) => own.#word });

      constructor(word: string) {
        this.#word = word;
        Object.freeze(Secretive.#withLazy(this));
      }
    }
    const own = new Secretive("said");
    const standIns = [new Proxy(own, {}), Object.create(own) as Secretive, new Proxy(Object.create(own) as Secretive, {})];
    expect(standIns.map(({ word }) => word)).toEqual(["said", "said", "said"]);
    expect(Object.assign({}, own)).toEqual({ word: "said" });
    expect(Object.getOwnPropertySymbols(Object.assign({}, own))).toEqual([]);
  });

  test("are read by one function for all objects, and cannot be set", () => {
    const [one, other] = [new Counted(1), new Counted(2)].map((counted) => Object.getOwnPropertyDescriptor(counted, "total")?.get);
    expect(one).toBeTypeOf("function");
    expect(one).toBe(other);
    expect(() => Object.assign(new Counted(1), { total: 7 })).toThrow(TypeError);
  });
});
