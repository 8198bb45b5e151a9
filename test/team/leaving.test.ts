import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, contents, listener } from "../runtime/town.ts";

function teamOf(options: TeamOptions): Team {
  return new Team({ seed: "s", journal: memoryJournal(), ...options });
}

/** A role that waits outside of steps, after it has begun, until it is let go. */
function slow(name: string, sendTo: string, more: Parameters<typeof answering>[2] = {}): Slow {
  let [go, begun] = [(): void => {}, (): void => {}];
  const mayGo = new Promise<void>((resolve) => (go = resolve));
  const atWork = new Promise<void>((resolve) => (begun = resolve));
  const react: Parameters<typeof answering>[1] = async (rc) => {
    begun();
    await mayGo;
    return rc.message("done", { sendTo });
  };
  return { role: answering(name, react, more), atWork, go };
}

interface Slow {
  readonly role: Role;
  readonly atWork: Promise<void>;
  readonly go: () => void;
}

/** Resolves when the run has recorded an event of a type. */
function recorded(run: Run, type: RunEvent["type"]): Promise<void> {
  return new Promise((resolve) => void run.on(type, () => resolve()));
}

describe.each(["rounds", "eager"] as const)("under %s", (scheduler) => {
  test("a run whose asking role is retired while others work does not end as waiting, and says what became of the question", async () => {
    const asks = answering("Ann", async (rc) => rc.message(await rc.human.ask("Good?")));
    const bob = slow("Bob", "<all>");
    const team = teamOf({ roles: [asks, bob.role], scheduler });
    const run = team.run("idea", { id: "r" });
    let key = "";
    run.on("step.started", (event) => void (key = `${event.act} ${event.key}`));
    await Promise.all([recorded(run, "step.started"), bob.atWork]);
    await nextMacrotask();
    expect(key).not.toBe("");
    await run.retire("Ann");
    bob.go();
    const result = await run.result;
    expect([result.status, result.questions, contents(result.outputs)]).toEqual(["finished", [], ["done"]]);
    expect((await team.replay("r").result).error).toBeUndefined();
  });

  test("a message that reaches a role after it was retired is told as a dead letter", async () => {
    const bob = slow("Bob", "Cid");
    const team = teamOf({ roles: [bob.role, listener("Cid", { watch: [] })], scheduler });
    const run = team.run("idea", { id: "r" });
    const dead: string[] = [];
    run.on("message.dead", ({ message, address }) => void dead.push(`${message.content} for ${address}`));
    await bob.atWork;
    await run.retire("Cid");
    bob.go();
    expect((await run.result).deadLetters).toHaveLength(1);
    expect(dead).toEqual(["done for Cid"]);
  });
});

test("a question to a name that a role got later is asked again as it was", async () => {
  const asks = answering("Ann", async (rc) => rc.message(await rc.human.ask("Good?", { to: "Bob" })));
  const team = teamOf({ roles: [asks], human: () => Promise.resolve("yes") });
  const run = team.run("idea", { id: "r" });
  await run.result;
  await run.hire(listener("Bob"));
  const { error, outputs } = await team.replay("r").result;
  expect([error, contents(outputs)]).toEqual([undefined, ["yes"]]);
  const { status } = await team.resume("r", { add: ["more"] }).result;
  expect(status).toBe("failed");
});
