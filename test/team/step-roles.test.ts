import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { StepRoleOptions } from "../../src/role/step-role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { createMessage } from "../../src/message/message.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "../runtime/town.ts";
import { appendingBy, eventsOf, journalWith } from "./recorded.ts";

const Count = z.object({ count: z.number().default(0) });

/** Counts what it hears, and says the count to itself until it is `last`. */
function counter(last: number, by = 1): Role {
  return defineRole({
    name: "Ann",
    state: Count,
    step(state, _message, out) {
      const count = state.count + by;
      out.say(`${count} with ${out.random()}`, { sendTo: count < last ? "<self>" : "<all>" });
      return { count };
    },
  });
}

function teamOf(role: Role, journal: Journal, options: TeamOptions = {}): Team {
  return new Team({ seed: "s", clock: simulatedClock(), journal, roles: [role], ...options });
}

async function lived(role: Role, options: TeamOptions = {}): Promise<{ journal: Journal; events: RunEvent[]; result: RunResult }> {
  const journal = memoryJournal();
  const result = await teamOf(role, journal, options).run("go", { id: "r" }).result;
  return { journal, events: await eventsOf(journal, "r"), result };
}

describe("a run of plain functions", () => {
  test.each(["rounds", "eager"] as const)(
    "that is stopped from within a function under %s has not had that activation",
    async (scheduler) => {
      const journal = memoryJournal();
      let stop: (() => void) | undefined;
      const role = (): Role =>
        defineRole({
          name: "Ann",
          state: Count,
          step(state, _message, out) {
            out.say(`heard ${state.count}`, { sendTo: state.count < 3 ? "<self>" : "<all>" });
            if (state.count === 2) stop?.();
            return { count: state.count + 1 };
          },
        });
      const run = teamOf(role(), journal, { scheduler }).run("go", { id: "r" });
      stop = () => run.stop();
      const stopped = await run.result;
      expect([stopped.status, stopped.messages.map(({ content }) => content)]).toEqual(["stopped", ["go", "heard 0", "heard 1"]]);
      stop = undefined;
      const result = await teamOf(role(), journal, { scheduler }).resume("r").result;
      expect([result.status, result.output?.content]).toEqual(["finished", "heard 3"]);
    },
  );

  test("is not continued by a role that reacts, unless forced to", async () => {
    const { journal } = await lived(counter(3));
    const other = answering("Ann", () => undefined, { state: Count as never });
    const refused = await teamOf(other, journal).resume("r").result;
    expect(refused.error?.code).toBe("TEAM_CHANGED");
  });

  test("writes down no secret, and continues with what was written", async () => {
    const secret = "hunter2-hunter2";
    const role = defineRole({
      name: "Ann",
      state: z.object({ words: z.array(z.string()).default([]) }),
      step(state, message, out) {
        out.say(`${message.content} ${secret}`, { sendTo: state.words.length < 1 ? "<self>" : "<all>" });
        return { words: [...state.words, message.content, secret] };
      },
    });
    const { events, result } = await lived(role, { secrets: [secret] });
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(result.output?.content).toBe("go [secret] [secret]");
    const journal = await journalWith("r", events);
    expect((await teamOf(role, journal, { secrets: [secret] }).replay("r").result).error).toBeUndefined();
  });
});

describe("a function that the process dies of", () => {
  /** Each life ends when the function has met the bomb: nothing is written any more, and the next life has what was. */
  async function lives(
    onFailure: NonNullable<StepRoleOptions["onFailure"]>,
    words = ["a", "bomb", "b"],
  ): Promise<{ deaths: number; result: RunResult; events: RunEvent[] }> {
    let events: RunEvent[] = [];
    for (let deaths = 0; deaths < 20; deaths += 1) {
      const inner = await journalWith("r", events);
      let die = (): void => {};
      const death = new Promise<"died">((resolve) => (die = () => resolve("died")));
      let isDead = false;
      const journal = appendingBy(inner, (...args) => (isDead ? new Promise(() => {}) : inner.append(...args)));
      const role = defineRole({
        name: "Bob",
        watch: ["UserRequirement"],
        onFailure,
        step(state, message) {
          if (message.content === "bomb") {
            isDead = true;
            die();
          }
          return { ...state, [message.content]: true };
        },
      });
      const team = teamOf(role, journal);
      const speaker = answering("Ann", (rc) => {
        for (const word of words) rc.publish(rc.message(word, { causeBy: "UserRequirement", sendTo: "Bob" }));
      });
      team.hire(speaker);
      const result = await Promise.race([death, team.run(createMessage("go", { id: "go", sendTo: "Ann" }), { id: "r" }).result]);
      events = await eventsOf(inner, "r");
      if (result !== "died") return { deaths, result, events };
    }
    return expect.unreachable("it died for ever");
  }

  test("is found by a trace before it, and loses the message at fault alone", async () => {
    const { deaths, result, events } = await lives("skip");
    expect(result.status).toBe("finished");
    expect(deaths).toBeGreaterThanOrEqual(3);
    expect(result.deadLetters).toMatchObject([{ message: { content: "bomb" }, reason: { kind: "failed", error: { code: "POISONED" } } }]);
    const bob = events.flatMap((event) => ("role" in event && event.role === "Bob" ? [event] : []));
    expect(new Set(bob.map(({ type }) => type))).toEqual(new Set(["act.started", "act.failed", "act.ended"]));
    expect(
      Object.assign({}, ...bob.flatMap((event) => (event.type === "act.ended" && event.state !== undefined ? [event.state.set] : []))),
    ).toEqual({
      a: true,
      b: true,
    });
  });
});
