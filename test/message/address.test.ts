import { describe, expect, expectTypeOf, test } from "vitest";
import { type Addressable, addressOf, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import { createMessage } from "../../src/message/message.ts";

class WriteCode {
  readonly name: string = "WriteCode";
  declare readonly "~says"?: { code: string };
}

class WriteTest extends WriteCode {
  static readonly actionName = "WriteUnitTest";
  override readonly name = "WriteUnitTest";
}

describe("addressOf", () => {
  test("a string is the name itself", () => {
    for (const name of ["WriteCode", "", "Alice the second", ROUTE_TO_ALL, "__proto__"]) expect(addressOf(name)).toBe(name);
  });

  test("an action or a role goes by its name", () => {
    expect(addressOf({ name: "Alice" })).toBe("Alice");
    expect(addressOf(new WriteCode())).toBe("WriteCode");
    expect(addressOf(UserRequirement)).toBe("UserRequirement");
  });

  test("a class goes by its static actionName, else by its own name", () => {
    expect(addressOf(WriteCode)).toBe("WriteCode");
    expect(addressOf(WriteTest)).toBe("WriteUnitTest");
  });

  test("a class and its instances have one address", () => {
    expect(addressOf(new WriteCode())).toBe(addressOf(WriteCode));
    expect(addressOf(new WriteTest())).toBe(addressOf(WriteTest));
  });

  test("a subclass that states no name of its own inherits the stated one, as its instances do", () => {
    class Quieter extends WriteTest {}
    expect(addressOf(Quieter)).toBe("WriteUnitTest");
    expect(addressOf(new Quieter())).toBe("WriteUnitTest");
  });

  test("[MetaGPT: a callable instance has no __name__ and breaks routing] an object that can be called is known by its name", () => {
    const callable: Addressable = Object.defineProperty(() => "called", "name", { value: "Callable" });
    expect(addressOf(callable)).toBe("Callable");
  });

  test("the reserved routes are no names a class could have", () => {
    for (const route of [ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE]) expect(route).toMatch(/^<\w+>$/);
    expect(new Set([ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE]).size).toBe(3);
  });

  test("UserRequirement cannot be renamed", () => {
    expect(Object.isFrozen(UserRequirement)).toBe(true);
  });

  test("routing fields take names, objects and classes alike", () => {
    const message = createMessage("x", { causeBy: WriteTest, sentFrom: { name: "Alice" }, sendTo: ["Bob", new WriteCode(), WriteTest] });
    expect(message).toMatchObject({ causeBy: "WriteUnitTest", sentFrom: "Alice", sendTo: ["Bob", "WriteCode", "WriteUnitTest"] });
    expect(createMessage("x", { sendTo: WriteCode }).sendTo).toEqual(["WriteCode"]);
    expect(createMessage("x", { sendTo: new Set(["Bob", "Bob", { name: "Bob" }]) }).sendTo).toEqual(["Bob"]);
  });

  test("the type of an action names its message", () => {
    expectTypeOf(WriteCode).toExtend<{ readonly name: string; readonly prototype: Addressable<{ code: string }> }>();
  });
});
