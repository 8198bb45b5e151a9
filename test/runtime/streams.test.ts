import { describe, expect, test } from "vitest";
import { namedStream, type RandomStream } from "../../src/kernel/random.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { StepOut } from "../../src/role/step-role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Scheduler } from "../../src/runtime/schedulers/scheduler.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "../team/recorded.ts";
import { contents, town } from "./town.ts";

interface Chance {
  random(): number;
  stream(name: string): RandomStream;
}

/** A draw of an activation: from two streams, or from the second one alone. */
type Draw = (chance: Chance) => string;

const b: Draw = ({ stream }) => `${stream("b")()}`;
const bAfterOthers: Draw = (chance) => {
  chance.random();
  const a = chance.stream("a");
  a();
  a.split("b")();
  return b(chance);
};

/** A role of each kind, each of which draws as often as the message says. */
const kinds: Readonly<Record<string, (draw: Draw) => Role>> = {
  "a role": (draw) =>
    defineRole({
      name: "Ann",
      react: (rc) => rc.message(`${rc.news.at(-1)?.content} ${draw({ random: () => rc.random(), stream: (name) => rc.stream(name) })}`),
    }),
  "an action": (draw) => {
    const Draws = defineAction({ name: "Draws", run: (ctx) => `${ctx.text} ${draw(ctx)}` });
    return defineRole({ name: "Ann", watch: ["UserRequirement"], actions: [Draws] });
  },
  "a step role": (draw) =>
    defineRole({
      name: "Ann",
      step: (_state, message, out) =>
        void out.say(`${message.content} ${draw({ random: () => out.random(), stream: (name) => out.stream(name) })}`),
    }),
};

async function drawnBy(role: Role, seed = "s", concurrency = 1): Promise<readonly string[]> {
  const environment = town([role], { seed, concurrency });
  environment.publishMessage("go");
  await environment.run();
  environment.publishMessage("go");
  const { outputs, error } = await environment.run();
  if (error !== undefined) throw error;
  return contents(outputs).map((text) => text.replace("go ", ""));
}

describe.each(Object.entries(kinds))("Drafts.D1 StepOutbox.S2 the streams of %s", (_kind, roleOf) => {
  test("are functions of the seed, its name, how often it has acted, and their own names", async () => {
    const expected = [0, 1].map((n) => `${namedStream("s", "role", "Ann", n).split("b")()}`);
    expect(await drawnBy(roleOf(b))).toEqual(expected);
    expect(await drawnBy(roleOf(bAfterOthers), "s", 64)).toEqual(expected);
    expect(await drawnBy(roleOf(b), "t")).not.toEqual(expected);
  });

  test("have different names in one activation", async () => {
    const twice: Draw = ({ stream }) => `${stream("b")()} ${stream("b")()}`;
    await expect(drawnBy(roleOf(twice))).rejects.toThrow('Expected each name of a stream of role Ann 0 once, got "b" again.');
  });

  test("are the same when the run is gone on with, replayed or tried again", async () => {
    const journal = memoryJournal();
    let failures = 1;
    const flaky: Draw = (chance) => {
      const drawn = bAfterOthers(chance);
      if (failures > 0) throw new Error(`bad, for ${(failures -= 1)} more`);
      return drawn;
    };
    const team = new Team({ journal, roles: [roleOf(flaky)], seed: "s" });
    expect((await team.run("go", { id: "r" }).result).status).toBe("failed");
    const { outputs } = await team.resume("r").result;
    expect(contents(outputs)).toEqual([`go ${namedStream("s", "role", "Ann", 0).split("b")()}`]);
    failures = 1;
    const again: RunEvent[] = [];
    const replay = team.replay("r");
    for await (const event of replay) again.push(event);
    expect((await replay.result).error).toBeUndefined();
    expect(canonical(again)).toBe(canonical(await eventsOf(journal, "r")));
  });
});

test("StepOutbox.S2 a step role has streams for each message that it takes, and one that takes them together for all", async () => {
  const drawn: number[] = [];
  const draws = (out: StepOut): void => void drawn.push(out.stream("b")());
  const environment = town(
    [
      defineRole({ name: "Ann", step: (_state, _message, out) => draws(out) }),
      defineRole({ name: "Bob", steps: (_state, _messages, out) => draws(out) }),
    ],
    { seed: "s" },
  );
  for (const text of ["go", "and go", "and go on"]) environment.publishMessage(text);
  expect((await environment.run()).error).toBeUndefined();
  const others = [1, 2].map((place) => namedStream("s", "role", "Ann", 0, place, "b")());
  expect(drawn).toEqual([namedStream("s", "role", "Ann", 0, "b")(), ...others, namedStream("s", "role", "Bob", 0, "b")()]);
});

test("a scheduler has streams for each choice, which its other numbers do not change", async () => {
  const drawn: number[] = [];
  const scheduler: Scheduler = {
    name: "drawing",
    delivers: "turn",
    select({ random, stream }) {
      random();
      drawn.push(stream("a")());
      expect(() => stream("a")).toThrow(expect.objectContaining({ code: "STREAM_TAKEN" }));
      return [0];
    },
  };
  const environment = town(
    ["Ann", "Bob"].map((name) => defineRole({ name, observeAll: true, step: () => {} })),
    { seed: "s", scheduler },
  );
  environment.publishMessage("go");
  await environment.run();
  expect(drawn).toEqual([0, 1].map((n) => namedStream("s", "scheduler", n, "a")()));
});

test("an environment has streams of its own", () => {
  const world = new Environment({ seed: "s" });
  expect(world.stream("start")()).toBe(namedStream("s", "environment", "start")());
  expect(() => world.stream("start")).toThrow(expect.objectContaining({ code: "STREAM_TAKEN" }));
  expect(() => world.stream(1 as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
});
