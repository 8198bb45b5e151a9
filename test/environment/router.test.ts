import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMessage, type Message } from "../../src/message/message.ts";
import { Directory, type Listener } from "../../src/environment/router.ts";

const name = fc.constantFrom("a", "b", "c", "d");
const cause = fc.constantFrom("X", "Y", "UserRequirement");
const address = fc.constantFrom("a", "b", "c", "d", "smith", "baker", "nobody", "<all>", "<self>", "<none>");
const listener = fc.record({
  addresses: fc.uniqueArray(fc.constantFrom("smith", "baker", ""), { maxLength: 2 }),
  watch: fc.uniqueArray(cause, { maxLength: 3 }),
  observeAll: fc.boolean(),
});
const town = fc
  .uniqueArray(name, { maxLength: 4 })
  .chain((names) =>
    fc.tuple(...names.map((own) => listener.map((rest): Listener => ({ name: own, ...rest, addresses: [own, ...rest.addresses] })))),
  );
const message = fc
  .record({
    causeBy: cause,
    sentFrom: fc.constantFrom("", "a", "b", "stranger"),
    sendTo: fc.uniqueArray(address, { minLength: 1, maxLength: 3 }),
  })
  .map((fields) => createMessage("x", { ...fields, id: "m" }));

/** The rule as it is told, role by role and address by address. */
function hears(role: Listener, { sendTo, sentFrom, causeBy }: Message): boolean {
  return sendTo.some((to) => {
    if (to === "<all>") return role.name !== sentFrom && (role.observeAll || role.watch.includes(causeBy));
    if (to === "<self>") return role.name === sentFrom;
    return to !== "<none>" && role.addresses.includes(to);
  });
}

describe("Directory", () => {
  test("property: it routes as the rule says, in hire order, and names exactly the addresses that nobody has", () => {
    fc.assert(
      fc.property(town, message, (roles, sent) => {
        const directory = new Directory();
        for (const role of roles) directory.add(role);
        const { to, dead } = directory.route(sent);
        expect(to).toEqual(roles.filter((role) => hears(role, sent)).map((role) => role.name));
        const known = new Set(roles.flatMap((role) => role.addresses));
        const expected = sent.sendTo.filter((at) => {
          if (at === "<all>" || at === "<none>") return false;
          return at === "<self>" ? !roles.some((role) => role.name === sent.sentFrom) : !known.has(at);
        });
        expect(dead).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test("E4 finding one watcher among a hundred thousand roles looks at that one", () => {
    const directory = new Directory();
    let looked = 0;
    for (let i = 0; i < 100_000; i += 1)
      directory.add({ name: `p${i}`, addresses: [`p${i}`], watch: [i === 77_777 ? "News" : `n${i}`], observeAll: false });
    const heard = directory.route(createMessage("x", { causeBy: "News" })).to;
    for (const one of heard) looked += one === "p77777" ? 1 : 0;
    expect({ heard, looked }).toEqual({ heard: ["p77777"], looked: 1 });
    const started = performance.now();
    for (let i = 0; i < 20_000; i += 1) directory.route(createMessage("x", { causeBy: "News", id: "m", timestamp: 0 }));
    // A walk over all roles would take minutes here; the bound is generous because the machine is shared.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("a role that passes a broadcast on in another's name does not hear it", () => {
    const directory = new Directory();
    for (const own of ["a", "b", "c"]) directory.add({ name: own, addresses: [own], watch: ["X"], observeAll: false });
    expect(directory.route(createMessage("x", { causeBy: "X", sentFrom: "a" }), "b").to).toEqual(["c"]);
    expect(directory.route(createMessage("x", { causeBy: "X", sentFrom: "a", sendTo: "b" }), "b").to).toEqual(["b"]);
  });

  test("names that JavaScript's objects have already are names like others", () => {
    const directory = new Directory();
    for (const own of ["constructor", "__proto__", "toString"])
      directory.add({ name: own, addresses: [own], watch: [own], observeAll: false });
    expect(directory.route(createMessage("x", { sendTo: "__proto__" })).to).toEqual(["__proto__"]);
    expect(directory.route(createMessage("x", { causeBy: "constructor" })).to).toEqual(["constructor"]);
    expect(directory.route(createMessage("x", { sendTo: "hasOwnProperty" })).dead).toEqual(["hasOwnProperty"]);
  });
});
