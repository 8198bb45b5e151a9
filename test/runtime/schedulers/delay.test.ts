import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../../src/runtime/environment-options.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";
import { eventsOf } from "../../team/recorded.ts";
import { answering, contents, listener } from "../town.ts";

/** Sends a word for each of these delays, when it is told to go. */
function sender(name: string, delays: readonly number[]): Role {
  return defineRole({
    name,
    step: (_state, _message, out) => {
      for (const ticks of delays) out.after(ticks, `${name} ${ticks}`, { sendTo: "Ear" });
    },
  });
}

/** The messages that the role Ear hears, with the round in which it hears it. */
async function heard(roles: readonly Role[], options: EnvironmentOptions = {}, rounds = 100) {
  const log: string[] = [];
  const environment = new Environment({ seed: 1, ...options });
  const ear = defineRole({
    name: "Ear",
    watch: [],
    step: (_state, message) => void log.push(`${environment.state.tick}: ${message.content}`),
  });
  environment.addRoles([...roles, ear]);
  environment.publishMessage(createMessage("go"));
  const result = await environment.run({ rounds });
  return { log, result, environment };
}

describe("a delayed message", () => {
  test("ScheduledRun.S5 arrives in its round; when nothing else is left to do, the clock jumps there", async () => {
    const { log, result, environment } = await heard([sender("Ann", [0, 1, 2, 40, 3, 2.5])]);
    expect(log).toEqual(["1: Ann 0", "1: Ann 1", "2: Ann 2", "3: Ann 3", "3: Ann 2.5", "40: Ann 40"].toSorted(byTick(["Ann 2.5"])));
    expect([result.status, result.rounds, environment.isIdle]).toEqual(["finished", 41, true]);
  });

  test("stands among those that arrive with it in the order in which their senders were hired", async () => {
    const late = defineRole({
      name: "Bob",
      step: (_state, message, out) =>
        void (message.content === "go" ? out.say("again", { sendTo: "<self>" }) : out.say("Bob now", { sendTo: "Ear" })),
    });
    const { log } = await heard([late, sender("Ann", [2])]);
    expect(log).toEqual(["2: Bob now", "2: Ann 2"]);
    const { log: other } = await heard([sender("Ann", [2]), late]);
    expect(other).toEqual(["2: Ann 2", "2: Bob now"]);
  });

  test("waits at a limit of rounds, which counts the rounds that the clock jumps over, and keeps the run from being idle", async () => {
    const { log, result, environment } = await heard([sender("Ann", [10])], {}, 4);
    expect([log, result.status, result.rounds, environment.isIdle]).toEqual([[], "rounds", 4, false]);
    expect(contents(result.messages)).toEqual(["go", "Ann 10"]);
    expect((await environment.run({ rounds: 3 })).rounds).toBe(7);
    const last = await environment.run({ rounds: 10 });
    expect([log, last.status, last.rounds]).toEqual([["10: Ann 10"], "finished", 11]);
  });

  test("waits for activations where there are no rounds", async () => {
    const talk = defineRole({
      name: "Talk",
      step: (_state, message, out) => {
        const left = message.content === "go" ? 6 : Number(message.content);
        if (left > 0) out.say(`${left - 1}`, { sendTo: "<self>" });
      },
    });
    const { log } = await heard([sender("Ann", [0, 3, 50]), talk], { scheduler: "eager" });
    expect(log).toEqual(["2: Ann 0", "4: Ann 3", "50: Ann 50"]);
  });

  test("is an output, a dead letter, and part of the history when it arrives", async () => {
    const ann = defineRole({
      name: "Ann",
      step: (_state, message, out) => {
        if (message.content === "go") for (const sendTo of ["<all>", "Nobody"]) out.after(5, "late", { sendTo, causeBy: "Late" });
      },
    });
    const environment = new Environment({ seed: 1 }).addRole(ann);
    environment.publishMessage("go");
    const early = await environment.run({ rounds: 2 });
    expect([early.outputs.length, early.deadLetters.length, environment.history.size]).toEqual([0, 0, 1]);
    const late = await environment.run();
    expect([late.outputs.length, late.deadLetters.length, environment.history.size]).toEqual([1, 1, 3]);
  });

  test("Delivery.D2 finds no room in a mailbox that is full when it arrives: the run fails", async () => {
    const { result, log } = await heard([sender("Ann", [3, 3])], { mailbox: { limit: 1 } });
    expect([result.status, result.error?.code, log]).toEqual(["failed", "MAILBOX_FULL", []]);
    const dropping = await heard([sender("Ann", [3, 3.5, 4])], { mailbox: { limit: 1, overflow: "drop-oldest" } });
    expect([dropping.result.status, dropping.log, dropping.result.dropped]).toEqual(["finished", ["3: Ann 3", "4: Ann 4"], 1]);
  });

  test("for a role that was retired meanwhile is a dead letter", async () => {
    const environment = new Environment({ seed: 1 }).addRoles([sender("Ann", [5]), listener("Ear", { watch: [] })]);
    environment.publishMessage("go");
    await environment.run({ rounds: 1 });
    environment.engine.team.retire("Ear");
    expect((await environment.run()).deadLetters.map(({ reason }) => reason)).toEqual([{ kind: "retired", role: "Ear" }]);
  });

  test("with a wrong delay fails the activation", async () => {
    const bad = defineRole({ name: "Bad", step: (_state, _message, out) => void out.after(-1, "past") });
    const environment = new Environment({ seed: 1 }).addRole(bad);
    environment.publishMessage("go");
    expect((await environment.run()).error).toMatchObject({ code: "DELAY_INVALID" });
  });
});

/** Stable: a delay that is no whole number stands before a whole one that is later sent. */
function byTick(first: readonly string[]): (a: string, b: string) => number {
  const rank = (text: string): number => Number(text.split(":")[0]) - (first.some((one) => text.endsWith(one)) ? 0.5 : 0);
  return (a, b) => rank(a) - rank(b);
}

describe("a role with actions", () => {
  test("delays a message by publishAfter, counted from its end; the run is replayed, forked and resumed with it", async () => {
    const caller = answering("Caller", async (rc) => {
      await rc.step("work", {}, () => Promise.resolve(1));
      rc.publishAfter(6, rc.message("wake up", { sendTo: "Sleeper" }));
    });
    const journal = memoryJournal();
    const team = (): Team =>
      new Team({ name: "t", seed: 1, journal, clock: simulatedClock(5), roles: [caller, listener("Sleeper", { watch: [] })] });
    const whole = await team().run("go", { id: "r" }).result;
    expect([whole.status, whole.rounds, contents(whole.messages)]).toEqual(["finished", 7, ["go", "wake up"]]);
    const events = await eventsOf(journal, "r");
    expect(events.flatMap((event) => (event.type === "act.ended" ? event.said.map(({ due }) => due) : []))).toEqual([6]);
    expect((await team().replay("r").result).status).toBe("finished");
    expect((await team().run("go", { id: "cut", rounds: 2 }).result).status).toBe("rounds");
    expect((await team().resume("cut", { rounds: 100 }).result).rounds).toBe(7);
    expect(canonical(await eventsOf(journal, "cut"))).toBe(canonical(events));
    const seq = events.findIndex(({ type }) => type === "act.ended");
    const edited = await team().fork("r", { id: "edited", at: seq, change: [{ seq, content: "sleep on" }] }).result;
    expect([edited.status, edited.rounds, contents(edited.messages)]).toEqual(["finished", 7, ["go", "sleep on"]]);
    const dropped = await team().fork("r", { id: "dropped", at: seq, change: [{ seq, drop: true }] }).result;
    expect([dropped.status, dropped.rounds, contents(dropped.messages)]).toEqual(["finished", 1, ["go"]]);
  });
});
