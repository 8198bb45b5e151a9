import { describe, expect, test } from "vitest";
import { Action, defineAction } from "../../src/role/action.ts";
import { UsageError } from "../../src/kernel/errors.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole, Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, listener, remembered, town } from "./town.ts";

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.code;
    throw error;
  }
  return "nothing thrown";
}

describe("hiring", () => {
  test("one definition under many names: each has its own memory, state, ids and random stream", async () => {
    const person = defineRole({
      name: "Person",
      react: (rc) => {
        rc.state["draw"] = rc.random();
        return rc.message(`I am ${rc.name}`);
      },
    });
    const environment = new Environment({ seed: 1 });
    for (const name of ["p0", "p1", "p2"]) environment.addRole(person, { name });
    environment.publishMessage(createMessage("go", { sendTo: ["p0", "p2"] }));
    const result = await environment.run();
    expect(contents(result.outputs)).toEqual(["I am p0", "I am p2"]);
    expect(result.outputs.map(({ id, sentFrom }) => [id, sentFrom])).toEqual([
      ["p0#0.0", "p0"],
      ["p2#0.0", "p2"],
    ]);
    expect(environment.getRole("p1")?.state).toEqual({});
    expect(environment.getRole("p0")?.state["draw"]).not.toBe(environment.getRole("p2")?.state["draw"]);
  });

  test("a role hired by another name is reached by that one, by its profile, and not by the definition's name", () => {
    const environment = new Environment().addRole(listener("Ann", { profile: "Smith" }), { name: "Bea" });
    expect(environment.publishMessage(createMessage("x", { sendTo: "Bea" })).recipients).toEqual(["Bea"]);
    expect(environment.publishMessage(createMessage("x", { sendTo: "Smith" })).recipients).toEqual(["Bea"]);
    expect(environment.publishMessage(createMessage("x", { sendTo: "Ann" })).recipients).toEqual([]);
  });

  test("Roster.N1 two roles of one name are refused, and the first stays as it was", async () => {
    const environment = town([listener("Ann")]);
    expect(codeOf(() => environment.addRole(listener("Ann")))).toBe("ROLE_DUPLICATE");
    expect(codeOf(() => new Team({ roles: [listener("Ann"), listener("Ann")] }))).toBe("ROLE_DUPLICATE");
    environment.publishMessage("hello");
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["hello"]);
    expect(environment.roleNames).toEqual(["Ann"]);
  });

  test.each(["", "  ", "<all>", "<none>", "<self>"])("a name that cannot be an address is refused, own or given: %j", (name) => {
    const role = listener("Ann");
    expect(codeOf(() => new Environment().addRole(role, { name }))).toBe("ROLE_INVALID");
    expect(codeOf(() => new Team().hire(role, { name }))).toBe("ROLE_INVALID");
    expect(
      codeOf(() => {
        class Odd extends Role {
          override readonly name = name;
        }
        new Environment().addRole(new Odd());
      }),
    ).toBe("ROLE_INVALID");
  });

  test("HiredRoles.H1 a role that was refused leaves no trace", async () => {
    const environment = town([defineRole({ name: "Ann", actions: [defineAction({ name: "Work", run: () => "ann's" })] })]);
    const other = defineRole({ name: "Bob", actions: [defineAction({ name: "Rest" }), defineAction({ name: "Work" })] });
    expect(codeOf(() => environment.addRole(other))).toBe("ACTION_DUPLICATE");
    expect(environment.getRole("Bob")).toBeUndefined();
    expect(JSON.stringify(environment.toJSON())).not.toContain("Bob");
    environment.addRole(answering("Bob", (rc) => rc.message(`state ${JSON.stringify(rc.state)}`)));
    environment.publishMessage(createMessage("hello", { sendTo: "Bob" }));
    expect((await environment.run()).output?.content).toBe("state {}");
  });
});

describe("names of actions", () => {
  test("Roster.N2 HiredRoles.H3 two different actions of one name are refused, in one role, one environment, one team", () => {
    const one = defineAction({ name: "Work", run: () => "one" });
    const two = defineAction({ name: "Work", run: () => "two" });
    const role = (name: string, ...actions: Action[]): Role => defineRole({ name, actions });
    expect(codeOf(() => town([role("Ann", one, two)]))).toBe("ACTION_DUPLICATE");
    expect(codeOf(() => town([role("Ann", one), role("Bob", two)]))).toBe("ACTION_DUPLICATE");
    expect(codeOf(() => new Team({ roles: [role("Ann", one), role("Bob", two)] }))).toBe("ACTION_DUPLICATE");
  });

  test("an instance called otherwise than its class is refused, for watching the class would find nothing", () => {
    class Work extends Action {
      override readonly name = "Labour";
    }
    expect(codeOf(() => town([defineRole({ name: "Ann", actions: [new Work()] })]))).toBe("ACTION_NAME");
  });

  test("unless the class says so: then watching the class hears the instance", async () => {
    class Work extends Action {
      static readonly actionName: string = "Labour";
      override readonly name: string = "Labour";
      override run(): string {
        return "sweat";
      }
    }
    const environment = town([defineRole({ name: "Ann", actions: [new Work()] }), listener("Bob", { watch: [Work] })]);
    environment.publishMessage("go");
    await environment.run();
    expect(remembered(environment, "Bob")).toEqual(["sweat"]);
  });
});

describe("properties that are read from outside", () => {
  test("an environment is plain JSON", async () => {
    const environment = town([listener("Ann")]);
    environment.publishMessage("hello");
    await environment.run();
    const json = environment.toJSON();
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    expect(json).toMatchObject({ seed: "town", round: 1, roles: [{ name: "Ann", memory: { messages: [{ content: "hello" }] } }] });
  });
});
