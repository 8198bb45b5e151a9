import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";

const Count = defineAction({
  name: "Count",
  state: z.object({ count: z.number() }),
  run: (ctx) => {
    ctx.state.count += 1;
    return `${ctx.state.count}`;
  },
});

describe("an action that says which state it needs", () => {
  test("works on the state of its role, whatever else that holds", async () => {
    const state = z.object({ count: z.number().default(4), names: z.array(z.string()).default([]) });
    const ann = defineRole({ name: "Ann", state, actions: [Count] });
    const environment = new Environment().addRole(ann);
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("5");
    expect(environment.getRole("Ann")?.state).toEqual({ count: 5, names: [] });
  });

  const wanting = defineAction({ name: "Want", state: z.object({ count: z.number().default(0) }), run: () => "x" });

  test.each<[string, () => unknown]>([
    ["has none", () => defineRole({ name: "Ann", actions: [Count] })],
    ["has none, though the action has a default", () => defineRole({ name: "Ann", actions: [wanting] })],
    ["has another type there", () => defineRole({ name: "Ann", state: z.object({ count: z.string().default("") }), actions: [Count] })],
    ["reacts by it", () => defineRole({ name: "Ann", reactions: [{ on: "News", do: Count }] })],
  ])("cannot be hired with a role that %s", (_what, role) => {
    for (const hire of [() => new Team({ roles: [role() as never] }), () => new Environment().addRole(role() as never)]) {
      expect(hire).toThrow(expect.objectContaining({ name: "UsageError", code: "STATE_INVALID", message: expect.stringContaining("Ann") }));
    }
  });
});
