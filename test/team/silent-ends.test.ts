import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { Logger } from "../../src/kernel/emit.ts";
import type { Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";

function noting(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = [];
  return { logger: { debug() {}, info() {}, error() {}, warn: (text) => void warnings.push(text) }, warnings };
}

async function warningsOf(roles: readonly Role[], idea: string | Message = "go"): Promise<readonly string[]> {
  const { logger, warnings } = noting();
  const told: string[] = [];
  const run = new Team({ roles, logger }).run(idea);
  run.on("warning", ({ text }) => void told.push(text));
  await run.result;
  expect(told).toEqual(warnings);
  return warnings;
}

const Write = defineAction({ name: "Write", run: () => "a draft" });
const writer = defineRole({ name: "Ann", actions: [Write] });

describe("a run never ends without a reason", () => {
  test("a team without roles refuses an idea", () => {
    expect(() => new Team().run("go")).toThrow(expect.objectContaining({ code: "ROLES_NONE" }));
  });

  test("a role that can only listen", async () => {
    const deaf = defineRole({ name: "Bob" });
    expect(await warningsOf([writer, deaf])).toEqual([expect.stringMatching(/^Bob has no actions/)]);
    const { logger, warnings } = noting();
    const environment = new Environment({ logger }).addRole(deaf);
    environment.publishMessage("go");
    await environment.run();
    await environment.run();
    expect(warnings).toEqual([expect.stringMatching(/^Bob has no actions/)]);
  });

  test("a watch of what nobody can cause", async () => {
    const reader = defineRole({ name: "Bob", watch: ["Wrote"], actions: [defineAction({ name: "Read", run: () => "read" })] });
    expect(await warningsOf([writer, reader])).toEqual([expect.stringMatching(/^Bob watches "Wrote".*can cause: .*Write/)]);
  });
});

describe("the last word of a run", () => {
  test("is what waits for the end of a round that was stopped", async () => {
    const stop = new AbortController();
    const speaks = defineRole({ name: "Ann", react: (rc) => rc.message("said", { sendTo: "Cid" }) });
    const stops = defineRole({ name: "Bob", react: (rc) => rc.step("wait", {}, () => new Promise<never>(() => stop.abort())) });
    const listens = defineRole({ name: "Cid", watch: [], react: () => undefined });
    const environment = new Environment({ concurrency: 1 }).addRoles([speaks, stops, listens]);
    environment.publishMessage("go");
    expect(await environment.run({ signal: stop.signal })).toMatchObject({ status: "stopped", output: { content: "said" } });
  });
});
