import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import type { StepOut } from "../../../src/role/step-role.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../../src/runtime/environment-options.ts";
import type { Scheduler } from "../../../src/runtime/schedulers/scheduler.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";
import { answering, town } from "../town.ts";

type Says = Readonly<Record<string, (out: StepOut, heard: readonly string[]) => void>>;

/** Roles that say what they are told to, and a trace of who read what, and when: `name tick: texts`. */
async function traced(says: Says, options: EnvironmentOptions, sendTo: readonly string[] = Object.keys(says), rounds = 20) {
  const trace: string[] = [];
  const roles = Object.entries(says).map(([name, say]) =>
    defineRole({
      name,
      watch: [],
      steps(_state, messages, out) {
        const heard = messages.map(({ content }) => content);
        trace.push(`${name} ${Math.round(out.tick * 1000) / 1000}: ${heard.join(" ")}`);
        say(out, heard);
      },
    }),
  );
  const environment = new Environment({ seed: 5, ...options }).addRoles(roles);
  environment.publishMessage(createMessage("go", { sendTo }));
  const result = await environment.run({ rounds });
  return { trace, result, environment };
}

const quiet = (): void => undefined;

/** Says a text to these roles once, when it is told to go. */
function tells(...sendTo: readonly string[]) {
  return (out: StepOut, heard: readonly string[]): void => {
    if (heard.includes("go")) out.say(out.name.toLowerCase(), { sendTo });
  };
}

/** Ann tells Cid and Dan before they act, Cid tells Ann after. Dan has no mail of his own. */
const four: Says = { Ann: tells("Cid", "Dan"), Bob: quiet, Cid: tells("Ann", "Bob"), Dan: quiet };
const three = ["Ann", "Bob", "Cid"];

describe("the order of activation under", () => {
  test("rounds: what is said in a round is read in the next one", async () => {
    const { trace } = await traced(four, { scheduler: "rounds" }, three);
    expect(trace).toEqual(["Ann 0: go", "Bob 0: go", "Cid 0: go", "Ann 1: cid", "Bob 1: cid", "Cid 1: ann", "Dan 1: ann"]);
  });

  test("live: those with mail at the beginning act in hire order and read what came meanwhile", async () => {
    const { trace } = await traced(four, { scheduler: "live" }, three);
    expect(trace).toEqual(["Ann 0: go", "Bob 0: go", "Cid 0: go ann", "Ann 1: cid", "Bob 1: cid", "Dan 1: ann"]);
  });

  test("sequential: each acts when its turn comes, also on mail of this round", async () => {
    const { trace } = await traced(four, { scheduler: "sequential" }, three);
    expect(trace).toEqual(["Ann 0: go", "Bob 0: go", "Cid 0: go ann", "Dan 0: ann", "Ann 1: cid", "Bob 1: cid"]);
  });

  test("shuffled: as sequential, in another order in each round", async () => {
    const names = ["Ann", "Bob", "Cid", "Dan", "Eve"];
    const tick = (out: StepOut): void => void (out.round < 30 && out.say("tick", { sendTo: out.name }));
    const { trace } = await traced(Object.fromEntries(names.map((name) => [name, tick])), { scheduler: "shuffled" }, names, 40);
    const orders = Array.from({ length: 31 }, (_, round) =>
      trace.flatMap((line) => (line.split(" ")[1] === `${round}:` ? [line.slice(0, 3)] : [])),
    );
    for (const order of orders) expect(order.toSorted()).toEqual(names);
    expect(new Set(orders.map(String)).size).toBeGreaterThan(20);
  });

  test("single: one random role at a time, and no rounds", async () => {
    const names = ["Ann", "Bob", "Cid"];
    const tick = (out: StepOut): void => void (out.tick < 300 && out.say("tick", { sendTo: out.name }));
    const { trace, result } = await traced(Object.fromEntries(names.map((name) => [name, tick])), { scheduler: "single" }, names, 500);
    expect(trace.map((line) => line.split(" ")[1])).toEqual(trace.map((_, place) => `${place}:`));
    for (const name of names) expect(Math.abs(trace.filter((line) => line.startsWith(name)).length - trace.length / 3)).toBeLessThan(40);
    expect(result.status).toBe("finished");
  });

  test("events: the earliest delayed message comes next, and time stands still while roles act", async () => {
    const { trace, environment } = await traced(
      {
        Ann: (out, heard) => {
          if (heard.includes("go")) for (const delay of [2.5, 0.25, 7]) out.after(delay, `after ${delay}`, { sendTo: "Bob" });
        },
        Bob: (out, heard) => {
          if (heard.includes("after 0.25")) out.say("now", { sendTo: "Cid" });
          if (heard.includes("after 2.5")) out.after(1, "one later", { sendTo: "Cid" });
        },
        Cid: quiet,
      },
      { scheduler: "events" },
      ["Ann"],
    );
    expect(trace).toEqual([
      "Ann 0: go",
      "Bob 0.25: after 0.25",
      "Cid 0.25: now",
      "Bob 2.5: after 2.5",
      "Cid 3.5: one later",
      "Bob 7: after 7",
    ]);
    expect([environment.state.tick, environment.isIdle]).toEqual([7, true]);
  });

  test("staged: stage after stage in one round, each with the words before it; who is in none comes last, a stranger is told", async () => {
    const scheduler = { name: "staged", stages: [["Cid"], ["worker", "Ghost"]] } as const;
    const said: string[] = [];
    const role = (name: string, profile: string, sendTo: readonly string[]): Role =>
      defineRole({
        name,
        profile,
        watch: [],
        steps(_state, messages, out) {
          said.push(`${name} ${out.round}: ${messages.map(({ content }) => content).join(" ")}`);
          if (messages.some(({ content }) => content === "go")) out.say(name.toLowerCase(), { sendTo });
        },
      });
    const environment = new Environment({ scheduler, seed: 1 });
    const warnings: string[] = [];
    environment.on("warning", ({ text }) => warnings.push(text));
    environment.addRoles([
      role("Ann", "worker", ["Cid", "Bob"]),
      role("Bob", "worker", []),
      role("Cid", "", ["Ann"]),
      role("Dan", "", ["Cid"]),
    ]);
    environment.publishMessage(createMessage("go", { sendTo: ["Ann", "Cid", "Dan"] }));
    const { rounds, status } = await environment.run();
    expect(said).toEqual(["Cid 0: go", "Ann 0: go cid", "Dan 0: go", "Cid 1: ann dan", "Bob 1: ann"]);
    expect([rounds, status]).toEqual([2, "finished"]);
    expect(warnings).toEqual([expect.stringMatching(/^A stage names Ghost, and no role has that name or profile\./)]);
  });
});

describe("poisson", () => {
  const names = Array.from({ length: 20 }, (_, place) => `P${place}`);
  const ticking: Says = Object.fromEntries(names.map((name) => [name, (out) => void out.say("tick", { sendTo: out.name })]));

  test("lets each role act at the times of a process of its rate", async () => {
    const { trace, environment } = await traced(ticking, { scheduler: { name: "poisson", rate: 2 } }, names, 120);
    const time = environment.state.tick;
    const expected = 2 * names.length * time;
    // Four standard errors of a count.
    expect(Math.abs(trace.length - expected)).toBeLessThan(4 * Math.sqrt(expected));
    const times = trace.map((line) => Number(line.split(/[ :]/)[1]));
    const gaps = times.slice(1).map((at, place) => at - (times[place] as number));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
    // The standard deviation of an exponential time is its mean.
    expect(deviation / mean).toBeGreaterThan(0.9);
    expect(deviation / mean).toBeLessThan(1.1);
  });

  test("stops at the time of a delayed message that is due before", async () => {
    const { trace } = await traced(
      { Ann: (out, heard) => void (heard.includes("go") && out.after(0.001, "soon", { sendTo: "Bob" })), Bob: quiet },
      { scheduler: { name: "poisson", rate: 0.01 } },
      ["Ann"],
    );
    const [at, later] = trace.map((line) => Number(line.split(/[ :]/)[1]));
    expect([trace.map((line) => line.replace(/ [\d.]+:/, ""))]).toEqual([["Ann go", "Bob soon"]]);
    expect(later).toBeGreaterThan(at as number);
  });
});

describe("messages that arrive together stand", () => {
  const says: Says = {
    Zoe: tells("Ear"),
    Ann: (out, heard) => void (heard.includes("go") && ["ann 1", "ann 2"].forEach((text) => out.say(text, { sendTo: "Ear" }))),
    Mia: tells("Ear"),
    Ear: quiet,
  };
  const heardBy = async (options: EnvironmentOptions): Promise<string> =>
    (await traced(says, options, ["Zoe", "Ann", "Mia"])).trace.at(-1) ?? "";

  test.each([
    [{}, "Ear 1: zoe ann 1 ann 2 mia"],
    [{ delivery: "hire" }, "Ear 1: zoe ann 1 ann 2 mia"],
    [{ delivery: "sender" }, "Ear 1: ann 1 ann 2 mia zoe"],
  ] as const)("in the order of %o", async (options, expected) => {
    expect(await heardBy(options)).toBe(expected);
  });

  test("in a drawn order, which the seed and the round determine, at every concurrency", async () => {
    const orders = await Promise.all(
      Array.from({ length: 24 }, (_, seed) =>
        Promise.all([1, 64].map((concurrency) => heardBy({ delivery: "shuffled", seed, concurrency }))),
      ),
    );
    for (const [one, many] of orders) expect(one).toBe(many);
    expect(new Set(orders.flat()).size).toBeGreaterThan(8);
  });

  test("as they were recorded: a run with another order is refused, and one without goes on with its own", async () => {
    const journal = memoryJournal();
    const roles = ["Ann", "Bob"].map((name) =>
      answering(name, (rc) => rc.message("again", { sendTo: "<all>" }), { watch: ["UserRequirement", "Ann", "Bob"] }),
    );
    const team = (options: object): Team => new Team({ journal, roles, seed: 1, ...options });
    await team({ delivery: "sender" }).run("go", { id: "r", rounds: 2 }).result;
    expect((await eventsOf(journal, "r"))[0]).toMatchObject({ type: "run.started", arrival: "sender" });
    expect((await team({ delivery: "shuffled" }).resume("r", { rounds: 4 }).result).error).toMatchObject({ code: "DELIVERY_DIFFERS" });
    expect((await team({ delivery: "shuffled" }).fork("r", { id: "f" }).result).error).toMatchObject({ code: "DELIVERY_DIFFERS" });
    expect((await team({}).resume("r", { rounds: 4 }).result).status).toBe("rounds");
  });
});

describe("a fork with another seed", () => {
  test("keeps the drawn order of the past that it shares, also a fork of a fork", async () => {
    const journal = memoryJournal();
    const names = ["Ann", "Bob", "Cid", "Dan"];
    const roles = names.map((name) =>
      defineRole({
        name,
        watch: ["UserRequirement"],
        step: (_state, message, out) => {
          if (message.content !== "stop") out.say(`${out.name} ${out.round}`, { sendTo: out.round < 8 ? names : "<none>" });
        },
      }),
    );
    const team = (seed: number): Team =>
      new Team({ journal, roles, seed, delivery: "shuffled", mailbox: { limit: 3, overflow: "drop-oldest" } });
    await team(1).run("go", { id: "one" }).result;
    const at = (await eventsOf(journal, "one")).findIndex((event) => event.type === "round.ended" && event.round === 4);
    const forked = await team(2).fork("one", { id: "two", at, seed: 2 }).result;
    expect(forked.status).toBe("finished");
    const again = await team(3).fork("two", { id: "three", at: at + 9, seed: 3 }).result;
    expect(again.status).toBe("finished");
    const early = await team(4).fork("three", { id: "four", at: at - 5, seed: 4 }).result;
    expect(early.status).toBe("finished");
    const waiting = async (id: string, to: number): Promise<unknown> =>
      [...fold((await eventsOf(journal, id)).slice(0, to + 1)).roles.values()].map((role) => role.news().map((message) => message.id));
    expect(await waiting("two", at)).toEqual(await waiting("one", at));
    expect(await waiting("three", at)).toEqual(await waiting("one", at));
    expect(await waiting("three", at + 9)).toEqual(await waiting("two", at + 9));
    expect(await waiting("four", at - 5)).toEqual(await waiting("one", at - 5));
    for (const id of ["two", "three", "four"]) expect((await team(1).replay(id).result).error).toBeUndefined();
    const [started] = await eventsOf(journal, "three");
    expect(started).toMatchObject({
      pastSeeds: [
        { to: at, seed: "1" },
        { to: at + 9, seed: "2" },
      ],
    });
    expect((await eventsOf(journal, "four"))[0]).toMatchObject({ pastSeeds: [{ to: at - 5, seed: "1" }] });
  });
});

describe("a scheduler is refused", () => {
  const own: Scheduler = { name: "own", delivers: "turn", select: () => [] };
  test.each<[string, unknown, string, RegExp]>([
    [
      "an unknown name",
      "random",
      "SCHEDULER_UNKNOWN",
      /"rounds", "eager", "live", "sequential", "shuffled", "single", "events", "messages", \{ name: "poisson", rate \}/,
    ],
    ["poisson without a rate", "poisson", "SCHEDULER_UNKNOWN", /\{ name: "poisson", rate \}/],
    ["a rate of 0", { name: "poisson", rate: 0 }, "SCHEDULER_INVALID", /a number above 0, got 0/],
    ["a rate that is a text", { name: "poisson", rate: "2" }, "SCHEDULER_INVALID", /a number above 0/],
    ["another member", { name: "poisson", rate: 1, speed: 2 }, "OPTION_UNKNOWN", /speed/],
    ["no stages", { name: "staged", stages: [] }, "SCHEDULER_INVALID", /lists of names or profiles/],
    ["stages left out", { name: "staged" }, "SCHEDULER_INVALID", /lists of names or profiles/],
    ["an empty stage", { name: "staged", stages: [["Ann"], []] }, "SCHEDULER_INVALID", /one or more of each/],
    [
      "a name in two stages",
      { name: "staged", stages: [["Ann"], ["Bob", "Ann"]] },
      "SCHEDULER_INVALID",
      /every name once, got "?Ann twice/,
    ],
    ["a name of this package", { ...own, name: "poisson" }, "SCHEDULER_UNKNOWN", /Give it another name/],
    ["an unknown clock", { ...own, clock: "sun" }, "SCHEDULER_INVALID", /a clock "rounds", "activations" or "time"/],
    ["time with rounds", { ...own, delivers: "round", clock: "time" }, "SCHEDULER_INVALID", /the clock "rounds" with delivers "round"/],
    ["unknown turns", { ...own, turns: "fast" }, "SCHEDULER_INVALID", /turns "concurrent", "serial" or "sweep"/],
    ["a sweep without rounds", { ...own, turns: "sweep" }, "SCHEDULER_INVALID", /delivers "turn" and the clock "rounds"/],
    ["half a stage", { ...own, delivers: "round", stages: 0.5 }, "SCHEDULER_INVALID", /a whole number of stages/],
    ["a wait without time", { ...own, wait: () => 1 }, "SCHEDULER_INVALID", /a function wait with the clock "time"/],
  ])("with %s", (_what, scheduler, code, text) => {
    expect(() => new Environment({ scheduler: scheduler as Scheduler })).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(text) }),
    );
  });

  test("that waits a time that is none, when it does", async () => {
    const scheduler: Scheduler = { name: "own", delivers: "turn", clock: "time", turns: "serial", wait: () => -1, select: () => [0] };
    const environment = town([answering("Ann", () => undefined)], { scheduler });
    environment.publishMessage("go");
    expect((await environment.run()).error).toMatchObject({ code: "SCHEDULER_CHOICE" });
  });
});

test("a run goes on only with equal parameters", async () => {
  const journal = memoryJournal();
  const team = (rate: number): Team =>
    new Team({
      journal,
      seed: 1,
      scheduler: { name: "poisson", rate },
      roles: [answering("Ann", (rc) => rc.message("x", { sendTo: "<self>" }))],
    });
  await team(2).run("go", { id: "r", rounds: 3 }).result;
  expect((await eventsOf(journal, "r"))[0]).toMatchObject({ scheduler: "poisson", parameters: { rate: 2 } });
  expect((await team(3).resume("r", { rounds: 5 }).result).error).toMatchObject({ code: "SCHEDULER_DIFFERS" });
  expect((await new Team({ journal, roles: [answering("Ann", () => undefined)] }).resume("r", { rounds: 5 }).result).status).toBe(
    "finished",
  );
});

describe("roles that wait", () => {
  test.each(["sequential", "shuffled", "single", "events"] as const)(
    "act one after the other under %s, whatever the limit",
    async (scheduler) => {
      let running = 0;
      let most = 0;
      const roles = ["Ann", "Bob", "Cid"].map((name) =>
        answering(name, async () => {
          running += 1;
          most = Math.max(most, running);
          await Promise.resolve();
          running -= 1;
        }),
      );
      const environment = town(roles, { scheduler, concurrency: 64 });
      environment.publishMessage("go");
      expect((await environment.run()).status).toBe("finished");
      expect(most).toBe(1);
    },
  );
});

describe("ScheduledRun.S6 a choice follows from the state", () => {
  const says = (name: string, say: (out: StepOut, taken: number) => void): Role =>
    defineRole({ name, watch: [], steps: (_state, messages, out) => say(out, messages.length) });

  test.each(["eager", "live"] as const)(
    "%s: after the death of a process plain functions act one after the other, as before it",
    async (scheduler) => {
      const taken: string[] = [];
      const note = (out: StepOut, count: number): void => void taken.push(`${out.name} ${count}`);
      const roles = [
        says("Ann", (out) => void out.say("and you", { sendTo: "Bob" })),
        says("Bob", note),
        says("Cid", (out, count) => {
          note(out, count);
          out.say("x", { sendTo: "Dan" });
        }),
        says("Dan", note),
      ];
      const journal = memoryJournal();
      const team = new Team({ journal, roles, seed: 1, scheduler });
      await team.run(createMessage("go", { sendTo: ["Ann", "Bob", "Cid", "Dan"] }), { id: "r" }).result;
      const whole = await eventsOf(journal, "r");
      for (let cut = 2; cut < whole.length; cut += 1) {
        const cutJournal = await journalWith("r", whole.slice(0, cut));
        await new Team({ journal: cutJournal, roles, seed: 1, scheduler }).resume("r").result;
        expect(canonical(await eventsOf(cutJournal, "r")), `cut after ${cut} events`).toBe(canonical(whole));
      }
      expect(taken.slice(0, 3)).toEqual(["Bob 2", "Cid 1", "Dan 2"]);
    },
  );

  test("live: where a role is retired, no other one takes its place in the round", async () => {
    const roles = [
      answering("Ann", async (rc) => {
        await rc.step("retire", {}, () => run.retire("Bob"));
        return rc.message("later", { sendTo: "Dan" });
      }),
      says("Bob", () => {}),
      says("Cid", () => {}),
      says("Dan", () => {}),
    ];
    const journal = memoryJournal();
    const run = new Team({ journal, roles, seed: 1, scheduler: "live", concurrency: 1 }).run(
      createMessage("go", { sendTo: ["Ann", "Bob", "Cid"] }),
      { id: "r" },
    );
    expect((await run.result).status).toBe("finished");
    const acts = (await eventsOf(journal, "r")).flatMap((event) => (event.type === "act.ended" ? [`${event.role} ${event.round}`] : []));
    expect(acts).toEqual(["Ann 0", "Cid 0", "Dan 1"]);
  });
});
