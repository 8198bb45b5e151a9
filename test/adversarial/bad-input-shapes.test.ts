import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { type ActionOptions, defineAction, defineRole, Environment, Role, type RoleOptions, Team } from "../../src/index.ts";
import { Mail, odd, postman } from "./odd-role.ts";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return "nothing was thrown";
}

class Typist extends Role {
  override readonly actions = [Mail];
}

const team = (options: unknown) => () => new Team(odd(options));
const hire = (given: unknown) => () => new Team({ roles: [defineRole({ ...odd<RoleOptions>(given), name: "Ann" })] });

const definitions: readonly (readonly [what: string, make: () => unknown, code: string, message: RegExp])[] = [
  ["options that are null", team(null), "OPTION_INVALID", /options.*got null/],
  ["roles: [null]", team({ roles: [null] }), "ROLE_INVALID", /a role, got null\..*defineRole/],
  ["roles: 7", team({ roles: 7 }), "ROLE_INVALID", /roles.*list.*got 7\./],
  ["roles: a class", team({ roles: [Typist] }), "ROLE_INVALID", /got the class Typist\..*new Typist\(\)/],
  ["roles: a list in a list", team({ roles: [[postman]] }), "ROLE_INVALID", /a role, got \[/],
  ["hire(null)", () => new Team().hire(odd(null)), "ROLE_INVALID", /got null/],
  ["hire(role, a name)", () => new Team().hire(postman, odd("Pam")), "ROLE_INVALID", /got "Pam"\..*\{ name \}/],
  ["addRole(role, a name)", () => new Environment().addRole(postman, odd("Pam")), "ROLE_INVALID", /\{ name \}, got "Pam"/],
  ["addRoles(7)", () => new Environment().addRoles(odd(7)), "ROLE_INVALID", /roles.*list.*got 7/],
  ["defineRole(null)", () => defineRole(odd<RoleOptions>(null)), "ROLE_INVALID", /got null/],
  ["actions: [null]", hire({ actions: [null] }), "ROLE_INVALID", /actions\[0\] of role Ann.*action, got null\..*defineAction/],
  ["actions: a name", hire({ actions: [Mail, "Mail"] }), "ROLE_INVALID", /actions\[1\] of role Ann.*got "Mail"/],
  ["actions: a hole", hire({ actions: Array.from({ length: 1 }) }), "ROLE_INVALID", /actions\[0\] of role Ann.*got undefined/],
  ["watch: a name", hire({ watch: "Mail" }), "ROLE_INVALID", /watch of role Ann.*list.*got "Mail"/],
  ["watch: [null]", hire({ watch: [null] }), "ROLE_INVALID", /watch\[0\] of role Ann.*got null/],
  ["addresses: [7]", hire({ addresses: [7] }), "ROLE_INVALID", /addresses\[0\] of role Ann.*got 7/],
  ["reactions: [null]", hire({ reactions: [null] }), "ROLE_INVALID", /reactions\[0\] of role Ann.*got null.*on.*do/],
  ["reactions: without do", hire({ reactions: [{ on: Mail }] }), "ROLE_INVALID", /reactions\[0\]\.do of role Ann.*got undefined/],
  ["reactions: without on", hire({ reactions: [{ do: Mail }] }), "ROLE_INVALID", /reactions\[0\]\.on of role Ann.*got undefined/],
  ["reactions: on: [7]", hire({ reactions: [{ on: [7], do: Mail }] }), "ROLE_INVALID", /reactions\[0\]\.on\[0\] of role Ann.*got 7/],
  ["think: 7", hire({ think: 7 }), "ROLE_INVALID", /think of role Ann.*function.*got 7/],
  ["react: a text", hire({ react: "hello" }), "ROLE_INVALID", /react of role Ann.*function.*got "hello"/],
  ["planTasks: a list", hire({ planTasks: [] }), "ROLE_INVALID", /planTasks of role Ann.*function.*got \[\]/],
  ["state: no schema", hire({ state: {} }), "ROLE_INVALID", /state of role Ann.*schema.*got \{\}/],
  ["a model's name for a model", hire({ model: "gpt-4o" }), "ROLE_INVALID", /model of role Ann.*got "gpt-4o"/],
  ["profile: 7", hire({ profile: 7 }), "ROLE_INVALID", /profile of role Ann.*text.*got 7/],
  ["a timeout as a text", hire({ timeout: "5" }), "ROLE_INVALID", /timeout of role Ann.*got "5"/],
  ["defineAction(null)", () => defineAction(odd<ActionOptions<z.ZodType, []>>(null)), "ACTION_INVALID", /got null/],
  [
    "run: 7",
    () => defineAction(odd<ActionOptions<z.ZodType, []>>({ name: "Work", run: 7 })),
    "ACTION_INVALID",
    /run of action Work.*function.*got 7/,
  ],
  [
    "needs: 7",
    () => defineAction(odd<ActionOptions<z.ZodType, []>>({ name: "Work", needs: 7 })),
    "ACTION_INVALID",
    /needs of action Work.*list.*got 7/,
  ],
  [
    "output: no schema",
    () => defineAction(odd<ActionOptions<z.ZodType, []>>({ name: "Work", output: {} })),
    "ACTION_INVALID",
    /output of action Work.*schema.*got \{\}/,
  ],
  ["a team's model by its name", team({ model: "gpt-4o" }), "OPTION_INVALID", /model.*got "gpt-4o"/],
  ["a human that is no function", team({ human: "me" }), "OPTION_INVALID", /human.*function.*got "me"/],
  ["a stop condition that is none", () => new Team().run("go", { stopWhen: odd(7) }), "OPTION_INVALID", /stopWhen.*got 7/],
];

describe("definitions that are none", () => {
  test.each(definitions)("%s: a typed error with what was expected, what came and what to do", (_what, make, code, message) => {
    const error = thrownBy(make);
    expect(error).toMatchObject({ code, name: "UsageError" });
    expect((error as Error).message).toMatch(/^Expected /);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toMatch(/\. [A-Z].*\.$/);
  });

  test("a refused argument leaves a team unchanged", async () => {
    const staff = new Team({ roles: [postman] });
    for (const wrong of [null, 7, "Ann", {}, Object.assign(new Typist(), { name: "Ann", actions: [null] })])
      thrownBy(() => staff.hire(odd(wrong)));
    expect(staff.roleNames).toEqual(["Pat"]);
    expect((await staff.run("go").result).status).toBe("finished");
  });

  test("a secret is never told, whatever shape it comes in", () => {
    const error = thrownBy(team({ secrets: "hunter2-hunter2" }));
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect((error as Error).message).not.toContain("hunter2");
  });
});
