import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMessage, type Message } from "../../../src/message/message.ts";
import { Directory, type Listening, type Recipient } from "../../../src/runtime/routing/directory.ts";
import { spentBy } from "../../kernel/spent.ts";
import { tries } from "../../long.ts";

/** A definition, and the names it is hired under. */
interface Kind {
  readonly names: readonly string[];
  readonly listening: Listening;
}

type Person = Recipient & Listening;

/** Roles of a run, in the order of their hiring there. Who of them the directory knows is told one by one. */
class Town {
  readonly roles: readonly Person[];
  readonly directory: Directory;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #known = new Map<string, Person>();

  constructor(kinds: readonly Kind[]) {
    const all = kinds.flatMap((kind) => kind.names.map((own) => [own, kind] as const));
    this.#kinds = new Map(all);
    this.roles = all.map(([own, kind], index) => ({
      name: own,
      index,
      alone: Object.freeze([own]),
      wasHired: () => true,
      profile: "",
      ...kind.listening,
    }));
    this.directory = new Directory({ teamChanges: 0, roles: this.#known }, this.roles);
  }

  get known(): readonly Person[] {
    return [...this.#known.values()].toSorted((a, b) => a.index - b.index);
  }

  hire(roles: readonly Person[] = this.roles): this {
    for (const role of roles) {
      this.#known.set(role.name, role);
      this.directory.add(role, this.#kinds.get(role.name)?.listening as Listening);
    }
    return this;
  }
}

function each(names: readonly string[], listening: (name: string) => Partial<Listening>): readonly Kind[] {
  return names.map((own) => ({ names: [own], listening: { addresses: [], watch: [], observeAll: false, ...listening(own) } }));
}

const name = fc.constantFrom("a", "b", "c", "d", "smith");
const cause = fc.constantFrom("X", "Y", "UserRequirement");
const address = fc.constantFrom("a", "b", "c", "d", "smith", "baker", "nobody", "<all>", "<self>", "<none>");
const listening = fc.record({
  addresses: fc.uniqueArray(fc.constantFrom("smith", "baker", ""), { maxLength: 2 }),
  watch: fc.uniqueArray(cause, { maxLength: 3 }),
  observeAll: fc.boolean(),
});
/** Names in any order, dealt out to one, two or three definitions. */
const town = fc
  .tuple(
    fc.uniqueArray(name, { maxLength: 5 }),
    fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
    fc.tuple(listening, listening, listening),
  )
  .map(([names, dealt, kinds]) => kinds.map((kind, at): Kind => ({ names: names.filter((_, n) => dealt[n] === at), listening: kind })));
const message = fc
  .record({
    causeBy: cause,
    sentFrom: fc.constantFrom("", "a", "b", "stranger"),
    sendTo: fc.uniqueArray(address, { minLength: 1, maxLength: 3 }),
  })
  .map((fields) => createMessage("x", { ...fields, id: "m" }));

/** The rule as it is told, role by role and address by address. */
function hears(role: Recipient & Listening, { sendTo, sentFrom, causeBy }: Message): boolean {
  return sendTo.some((to) => {
    if (to === "<all>") return role.name !== sentFrom && (role.observeAll || role.watch.includes(causeBy));
    if (to === "<self>") return role.name === sentFrom;
    return to !== "<none>" && [role.name, ...role.addresses].includes(to);
  });
}

describe("Directory", () => {
  test("property: it routes as the rule says, in hire order, and names exactly the addresses that nobody has", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(town, fc.array(message, { minLength: 1, maxLength: 4 }), fc.nat(5), fc.boolean(), (kinds, all, early, isReversed) => {
        const here = new Town(kinds);
        const coming = isReversed ? here.roles.toReversed() : here.roles;
        for (const some of [coming.slice(0, early), coming.slice(early)]) {
          here.hire(some);
          const known = new Set(here.known.flatMap((role) => [role.name, ...role.addresses]));
          for (const sent of all) {
            const { to, dead } = here.directory.route(sent);
            expect(to).toEqual(here.known.filter((role) => hears(role, sent)).map((role) => role.name));
            const expected = sent.sendTo.filter((at) => {
              if (at === "<all>" || at === "<none>") return false;
              return at === "<self>" ? !here.known.some((role) => role.name === sent.sentFrom) : !known.has(at);
            });
            expect(dead).toEqual(expected);
          }
        }
      }),
      { numRuns: tries(167, 2_000) },
    );
  });

  test("Directory.D1 finding one watcher among a hundred thousand roles looks at that one", { tags: ["numbers", "long"] }, async () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `p${i}`);
    const { directory } = new Town(each(names, (own) => ({ watch: [own === "p77777" ? "News" : `n${own}`] }))).hire();
    expect(directory.route(createMessage("x", { causeBy: "News" })).to).toEqual(["p77777"]);
    const spent = await spentBy(() => {
      for (let i = 0; i < 20_000; i += 1) directory.route(createMessage("x", { causeBy: "News", id: "m", timestamp: 0 }));
    });
    // A walk over all roles would take minutes here.
    expect(spent).toBeLessThan(10_000);
  });

  test("a name reaches its role, nobody, or the sender", () => {
    const { directory } = new Town(each(["a", "b"], (own) => ({ addresses: own === "b" ? ["smith"] : [] }))).hire();
    const called = createMessage("x", { sendTo: "a" });
    expect(directory.route(called)).toEqual({ to: ["a"], dead: [] });
    const toNobody = createMessage("x", { sendTo: "c" });
    expect(directory.route(toNobody)).toEqual({ to: [], dead: ["c"] });
    const toSelf = createMessage("x", { sendTo: "<self>", sentFrom: "b" });
    expect(directory.route(toSelf).to).toEqual(["b"]);
    expect(Object.isFrozen(directory.route(toSelf).to)).toBe(true);
  });

  describe("Directory.D1 the recipients of a cause", () => {
    const names = Array.from({ length: 100 }, (_, i) => `p${i}`);
    const many = (): Town => new Town([{ names, listening: { addresses: ["all of us"], watch: ["X"], observeAll: false } }]);
    const said = createMessage("x", { causeBy: "X" });

    test("is one frozen list, of its cause as of an address, until somebody is hired", () => {
      const town100 = many();
      const { roles, directory } = town100.hire(town100.roles.slice(0, 99));
      const { to } = directory.route(said);
      expect(Object.isFrozen(to)).toBe(true);
      expect(to).toEqual(names.slice(0, 99));
      expect(directory.route(createMessage("y", { causeBy: "X", sentFrom: "stranger" })).to).toBe(to);
      const toAll = createMessage("z", { sendTo: "all of us" });
      expect(directory.route(toAll).to).toBe(directory.route(toAll).to);
      town100.hire(roles.slice(99));
      expect(directory.route(said).to).toEqual(names);
      expect(directory.route(toAll).to).toEqual(names);
      expect(to).toEqual(names.slice(0, 99));
    });
  });

  test.each([3, 30])("%i who observe everything are heard with at every cause, also when one more comes", (observers) => {
    const names = Array.from({ length: observers }, (_, place) => `o${place}`);
    const kinds = [
      { names: ["a", "b"], listening: { addresses: [], watch: ["X"], observeAll: false } },
      { names, listening: { addresses: [], watch: [], observeAll: true } },
    ];
    const here = new Town(kinds);
    for (const some of [here.roles.slice(0, 1), here.roles.slice(2, -1), here.roles.slice(-1), here.roles.slice(1, 2)]) {
      const { directory } = here.hire(some);
      const of = (causeBy: string): readonly string[] => directory.route(createMessage("x", { causeBy })).to;
      expect(of("X")).toEqual(here.known.map((role) => role.name));
      expect(of("X")).toEqual(of("X"));
      expect(of("Y")).toEqual(here.known.filter((role) => role.observeAll).map((role) => role.name));
    }
  });

  test("a role that passes a broadcast on in another's name does not hear it", () => {
    const { directory } = new Town(each(["a", "b", "c"], () => ({ watch: ["X"] }))).hire();
    expect(directory.route(createMessage("x", { causeBy: "X", sentFrom: "a" }), "b").to).toEqual(["c"]);
    expect(directory.route(createMessage("x", { causeBy: "X", sentFrom: "a", sendTo: "b" }), "b").to).toEqual(["b"]);
  });
});
