import { beforeAll, describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { UserRequirement } from "../../src/message/address.ts";
import type { Message } from "../../src/message/message.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { afterRounds } from "../../src/runtime/stop-condition.ts";
import { listener } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { type Company, expectPaidOnce, expectSameEnd, expectSameSaid, heldBy, isRepeated, live, type Lived } from "./lives.ts";
import { publishers } from "./publishers.ts";
import { rolesOf, type TeamSketch } from "./random-team.ts";
import { idea, sixRoles, teamOf } from "./six-roles.ts";
import { Outside, shuffled, stillClock } from "./outside.ts";
import { cutsOf } from "../long.ts";

describe("a run that is killed anywhere goes on as if it had not been", () => {
  const company: Company = { roles: (outside) => sixRoles(outside, { pipelines: 3, steps: 2, laps: 2 }) };
  let uncut: Lived;

  beforeAll(async () => {
    uncut = await live(company, [], shuffled("uncut"));
  });

  test("the run has everything in it that can be recorded", () => {
    const types = uncut.events.map((event) =>
      event.type === "act.failed" ? `${event.role} failed, step ${event.stepFailed}` : event.type,
    );
    expect(new Set(types)).toEqual(
      new Set([
        "run.started",
        "message",
        "act.started",
        "step.started",
        "step.ended",
        "act.ended",
        "Miner failed, step true",
        "Judge failed, step false",
        "round.ended",
        "run.ended",
      ]),
    );
    expect(uncut.result).toMatchObject({ status: "finished", uncertain: 0 });
    expect(uncut.result.output?.content).toMatch(/^the person says yes/);
    expect(uncut.result.cost.known).toBeGreaterThan(0);
  });

  test(
    "at every event: the same canonical events, the same messages, and nothing recorded happens or is paid again",
    { tags: "numbers" },
    async () => {
      for (const cut of cutsOf(uncut.events.length)) {
        const kept = uncut.events.slice(0, cut);
        const life = await expectSameEnd(company, uncut, kept);
        const { uncertain, cost } = life.result;
        expect(cost.known - uncertain, `cut after ${cut} events`).toBe(uncut.result.cost.known);
        expect(uncertain, `cut after ${cut} events`).toBeLessThanOrEqual(heldBy(kept));
        expect(uncertain > 0, `cut after ${cut} events`).toBe(heldBy(kept) > 0);
      }
    },
  );

  test("a repeatable effect happens once in every activation that had not ended, recorded or not", { tags: "numbers" }, async () => {
    const clerks = uncut.events.filter((event) => event.type === "act.ended" && event.role === "Clerk").length;
    for (const cut of cutsOf(uncut.events.length - 1).filter((place) => place > 1)) {
      const kept = uncut.events.slice(0, cut);
      const { begun } = await live(company, kept);
      const writes = [...begun].reduce((sum, [label, times]) => sum + (isRepeated(label) ? times : 0), 0);
      expect(writes, `cut after ${cut} events`).toBe(clerks - (fold(kept).roles.get("Clerk")?.n ?? 0));
    }
  });
});

describe("publishers, killed anywhere", () => {
  const rounds: Company = { roles: publishers };
  const eager: Company = { roles: publishers, options: { scheduler: "eager" } };

  test("do what they claim to do", async () => {
    const { events, result, begun } = await live(rounds);
    const failed = events.flatMap((event) => (event.type === "act.failed" ? [[event.act, event.stepFailed, event.then]] : []));
    expect(failed).toEqual([
      ["Critic#0~1", true, "retry"],
      ["Critic#0~2", false, "retry"],
    ]);
    expect(begun.get("warm up {}"), "twice: kept after the failed step, not after the answer at fault; and the second edition").toBe(6);
    const ended = events.filter((event) => event.type === "act.ended");
    for (const change of ["joins", "plan", "state"] as const) expect(ended.some((event) => event[change] !== undefined)).toBe(true);
    expect(events.some((event) => event.type === "step.started" && event.in !== undefined)).toBe(true);
    expect(result).toMatchObject({ status: "finished", deadLetters: [1, 2].map(() => ({ message: { content: "to nobody" } })) });
    const published = result.messages.flatMap(({ causeBy, content }) => (causeBy === "Publish" ? [content.split(":")[0]] : []));
    expect(published).toEqual(["edition 1", "edition 2"]);
    expect([...begun.keys()].flatMap((label) => /deeper, after \d/.exec(label) ?? [])).toEqual(["deeper, after 0", "deeper, after 2"]);
    expect(fold(events).roles.get("Clerk")?.memory.size).toBe(4);
  });

  test("under rounds, at every event", { tags: "numbers" }, async () => {
    const uncut = await live(rounds, [], shuffled("uncut"));
    for (const cut of cutsOf(uncut.events.length)) await expectSameEnd(rounds, uncut, uncut.events.slice(0, cut));
  });

  test("under eager, at every event: the same is said, remembered and kept, in whatever order", { tags: "numbers" }, async () => {
    const uncut = await live(eager, [], shuffled("uncut"));
    for (const cut of cutsOf(uncut.events.length)) await expectSameSaid(eager, uncut, uncut.events.slice(0, cut), shuffled(cut));
  });

  test("every eight events, until it is done", async () => {
    const uncut = await live(rounds);
    let kept: readonly RunEvent[] = [];
    for (let killed = 0; killed < 100; killed += 1) {
      const life = await live(rounds, kept, shuffled(killed));
      expectPaidOnce(uncut, kept, life);
      const { events, canonical: text } = life;
      if (events.length <= kept.length + 8) return expect(text).toBe(uncut.canonical);
      kept = events.slice(0, kept.length + 8);
    }
    return expect.unreachable("it never came to its end");
  });
});

describe("how much of its mail an activation took is recorded before its first step", () => {
  /** The listener is slow and fails at first, so that the second message comes before it is done with the first. */
  const roles = (outside: Outside): Role[] => [
    defineRole({
      name: "Caller",
      react: (rc) => [
        rc.message("call", { sendTo: "Listener" }),
        ...(rc.news[0]?.sentFrom === "" ? [rc.message("more", { sendTo: "<self>" })] : []),
      ],
    }),
    defineRole({
      name: "Listener",
      watch: [],
      react: async (rc) => {
        const slow = new Outside(() => 9);
        await slow.step(rc, "listen", { heard: rc.news.map((message) => message.id) }, () => null);
        const note = await outside.step(rc, "note", { heard: rc.news.length }, (before) => {
          if (before === 0) throw new Error("the pencil broke");
          return "noted";
        });
        return rc.message(note);
      },
      onFailure: retry(1),
    }),
  ];

  test("so after a kill it has no more of it, and asks nothing else", { tags: "numbers" }, async () => {
    const company: Company = { roles, options: { scheduler: "eager" } };
    const uncut = await live(company);
    const taken = ({ events }: Lived): string[] =>
      events.flatMap((event) => (event.type === "act.ended" ? [`${event.role} ${event.take}`] : [])).toSorted();
    const steps = ({ events }: Lived): string[] =>
      events.flatMap((event) => (event.type === "step.started" ? [`${event.act} ${event.key}`] : []));
    expect(taken(uncut)).toEqual(["Caller 1", "Caller 1", "Listener 1", "Listener 1"]);
    for (const cut of cutsOf(uncut.events.length)) {
      const life = await live(company, uncut.events.slice(0, cut));
      expect(new Set(steps(life)), `cut after ${cut} events`).toEqual(new Set(steps(uncut)));
      expect(taken(life)).toEqual(taken(uncut));
    }
  });
});

describe("a failure is the same after a kill", () => {
  async function expectSameAtEveryEvent(sketch: TeamSketch): Promise<Lived> {
    const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
    const uncut = await live(company);
    for (const cut of cutsOf(uncut.events.length)) await expectSameEnd(company, uncut, uncut.events.slice(0, cut));
    return uncut;
  }

  test("a role that gave up its messages, twice", { tags: "numbers" }, async () => {
    const gaveUp = { hearsIdea: true, work: ["flaky"], tells: ["<all>"], policy: "skip" } as const;
    const caller = { hearsIdea: true, work: ["step"], tells: ["R0"], policy: "skip" } as const;
    const { result } = await expectSameAtEveryEvent({ roles: [gaveUp, caller], depth: 1 });
    expect(result.status).toBe("finished");
    expect(result.deadLetters.map(({ reason }) => reason)).toMatchObject([1, 2].map(() => ({ kind: "failed", role: "R0" })));
  });

  test("a step that failed inside one which handled that", { tags: "numbers" }, async () => {
    const doubter = { hearsIdea: true, work: ["handled inside", "doubted"], tells: ["<all>"], policy: retry(20) } as const;
    const { result } = await expectSameAtEveryEvent({ roles: [doubter], depth: 1 });
    expect(result.status).toBe("finished");
  });
});

describe("the clock and the randomness of an activation are recorded with it", () => {
  /** Time goes on while nobody lives, and with every look at it. */
  function later(lives: number): Clock {
    let now = lives * 1_000_000;
    return { ...stillClock, now: () => (now += 7) };
  }

  test("questions that tell the time are not asked again after a kill", async () => {
    const roles = (outside: Outside): Role[] => [
      defineRole({
        name: "Watch",
        react: async (rc) => {
          const one = await outside.step(rc, "one", { at: rc.now() }, () => rc.random());
          const two = await outside.step(rc, "two", { at: rc.now(), one }, () => rc.id());
          return rc.message(`${two} ${await rc.ask(`at ${rc.now()}`)} ${rc.now()}`);
        },
      }),
    ];
    const uncut = await live({ roles, options: { clock: later(0) } });
    for (let cut = 3; cut <= uncut.events.length; cut += 1) {
      const kept = uncut.events.slice(0, cut);
      const life = await live({ roles, options: { clock: later(1) } }, kept);
      const steps = (type: RunEvent["type"], events: readonly RunEvent[]): number => events.filter((event) => event.type === type).length;
      expect([...life.begun.values()].reduce((sum, times) => sum + times, 0)).toBe(3 - steps("step.ended", kept));
      expect(steps("step.ended", life.events)).toBe(3);
      expect(life.result.messages).toHaveLength(2);
    }
  });

  test.each(["rounds", "eager"] as const)(
    "%s: a stop condition stops a run that was killed where the uncut one stopped",
    async (scheduler) => {
      const roles = [listener("A", { watch: [UserRequirement, "B"], react: again }), listener("B", { watch: ["A"], react: again })];
      const stopped = async (kept: readonly RunEvent[]): Promise<{ result: RunResult; events: readonly RunEvent[] }> => {
        const journal = await journalWith("run", kept);
        const run = teamOf(new Outside(), roles, { journal, scheduler }).run(idea, { id: "run", stopWhen: afterRounds(3) });
        return { result: await run.result, events: await eventsOf(journal, "run") };
      };
      const uncut = await stopped([]);
      expect(uncut.result).toMatchObject({ status: "stopped", rounds: 3 });
      for (let cut = 0; cut < uncut.events.length; cut += 1) {
        const life = await stopped(uncut.events.slice(0, cut));
        expect(canonical(life.events), `cut after ${cut} events`).toBe(canonical(uncut.events));
      }
    },
  );
});

function again(rc: RoleContext): Message {
  return rc.message("again");
}
