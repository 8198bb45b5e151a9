import { describe, expect, it, vi } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { OnlyAction } from "../../src/role/only-action.ts";
import { defineRole, Role, type RoleOptions } from "../../src/role/role.ts";
import { roleSpec } from "../../src/role/role-spec.ts";
import { town } from "../runtime/town.ts";

const say = defineAction({ name: "Say", run: () => "said" });
const ask = defineAction({ name: "Ask", run: () => "asked" });

function onlyOf(options: Partial<RoleOptions>): string | undefined {
  return new OnlyAction(roleSpec(defineRole({ name: "Ann", actions: [say], ...options }))).now?.name;
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
    expect(new OnlyAction(roleSpec(new Plain())).now).toBe(say);
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
    expect(new OnlyAction(roleSpec(new Thoughtful())).now).toBeUndefined();
  });

  it("is none any more once a part of its life is replaced, and is it again once that is back", () => {
    const plain = new Plain();
    const only = new OnlyAction(roleSpec(plain));
    const own = vi.spyOn(plain, "act");
    expect(only.now).toBeUndefined();
    own.mockRestore();
    expect(only.now).toBe(say);
  });

  it("is none where every role acts in another way than by default", () => {
    const all = vi.spyOn(Role.prototype, "react");
    expect(new OnlyAction(roleSpec(new Plain())).now).toBeUndefined();
    all.mockRestore();
  });
});

describe("a part of a role that is replaced after it was hired", () => {
  it("is what the role does from then on", async () => {
    const plain = new Plain();
    const environment = town([plain]);
    const own = vi.spyOn(plain, "act");
    environment.publishMessage("go");
    await environment.run();
    expect(own).toHaveBeenCalledTimes(1);
  });
});
