import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/action/action.ts";
import { onlyAction } from "../../src/role/only-action.ts";
import { defineRole, Role, type RoleOptions } from "../../src/role/role.ts";
import { roleSpec } from "../../src/role/role-spec.ts";

const say = defineAction({ name: "Say", run: () => "said" });
const ask = defineAction({ name: "Ask", run: () => "asked" });

function onlyOf(options: Partial<RoleOptions>): string | undefined {
  return onlyAction(roleSpec(defineRole({ name: "Ann", actions: [say], ...options })))?.name;
}

class Plain extends Role {
  override readonly actions = [say];
}

class Thoughtful extends Plain {
  override think() {
    return undefined;
  }
}

describe("the only action of a role", () => {
  it("is its one action, where nothing else is its own", () => {
    expect(onlyOf({})).toBe("Say");
    expect(onlyOf({ reactMode: "by_order", memoryLimit: 3, watch: ["Ask"] })).toBe("Say");
    expect(onlyAction(roleSpec(new Plain()))).toBe(say);
  });

  it.each<[string, Partial<RoleOptions>]>([
    ["has none", { actions: [] }],
    ["has two", { actions: [say, ask] }],
    ["plans", { reactMode: "plan_and_act" }],
    ["is an agent", { reactMode: "agent" }],
    ["chooses by cause", { reactions: [{ on: "Ask", do: say }] }],
    ["observes in its own way", { observe: ({ inbox }) => inbox }],
    ["thinks in its own way", { think: () => say }],
    ["acts in its own way", { act: () => undefined }],
    ["reacts in its own way", { react: () => undefined }],
  ])("is none where a role %s", (_, options) => {
    expect(onlyOf(options)).toBeUndefined();
  });

  it("is none where a class has changed a part of its life", () => {
    expect(onlyAction(roleSpec(new Thoughtful()))).toBeUndefined();
  });
});
