import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { MicroUsd } from "../../src/model/money.ts";
import { addressOf } from "../../src/message/address.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { eventsOf } from "../team/recorded.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import {
  afterRounds,
  afterSpending,
  allOf,
  anyOf,
  type RunProgress,
  saidBy,
  type StopCondition,
} from "../../src/runtime/stop-condition.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, town } from "./town.ts";

/** Writes to itself for ever. */
function endless(): Role {
  return answering("Ann", async (rc) => rc.message(`turn ${rc.memory.size}`, { sendTo: "<self>" }));
}

const progress: RunProgress = {
  rounds: 3,
  tick: 3,
  spent: 50 as MicroUsd,
  delivered: 1,
  calls: 2,
  unread: 0,
  inbox: () => [],
  messages: [createMessage("x", { causeBy: "Done" })],
  said: (cause) => addressOf(cause) === "Done",
  outputs: [],
  state: () => undefined,
};
const yes: StopCondition = () => true;
const no: StopCondition = () => false;

describe("conditions", () => {
  test.each<[string, StopCondition, boolean]>([
    ["afterRounds(4) after 3", afterRounds(4), false],
    ["afterRounds(3) after 3", afterRounds(3), true],
    ["afterSpending(51) of 50", afterSpending(51 as MicroUsd), false],
    ["afterSpending(50) of 50", afterSpending(50 as MicroUsd), true],
    ["saidBy what was not said", saidBy("Other"), false],
    ["saidBy what was said", saidBy({ name: "Done" }), true],
    ["anyOf none", anyOf(), false],
    ["anyOf one that holds", anyOf(no, yes), true],
    ["anyOf ones that do not", anyOf(no, no), false],
    ["allOf all that hold", allOf(yes, yes), true],
    ["allOf one that does not", allOf(yes, no), false],
  ])("%s", (_what, condition, holds) => {
    expect(condition(progress)).toBe(holds);
  });
});

describe("a run that is to stop", () => {
  test.each(["rounds", "eager"] as const)(
    "%s: stops where the condition holds, and continues when resumed without it",
    async (scheduler) => {
      const team = new Team({ scheduler, roles: [endless()] });
      const run = team.run("go", { id: "r", stopWhen: afterRounds(3), rounds: 50 });
      expect(await run.result).toMatchObject({ status: "stopped", rounds: 3 });
      expect((await run.result).error).toBeUndefined();
      expect(await team.resume("r", { rounds: 5, stopWhen: null }).result).toMatchObject({ status: "rounds", rounds: 5 });
    },
  );

  test("sees what was said and spent", async () => {
    const seen: [string[], number][] = [];
    const ann = answering("Ann", async (rc) => rc.message(await rc.ask("?"), { sendTo: "<self>" }));
    const model = scriptedModel(() => ({ content: "well", usage: { inputTokens: 10, outputTokens: 10 } }), {
      price: { input: 1, output: 1 },
    });
    const stopWhen: StopCondition = ({ messages, spent }) => {
      seen.push([contents(messages), spent]);
      return messages.length > 2;
    };
    await new Team({ roles: [ann], model }).run("go", { stopWhen }).result;
    expect(seen).toEqual([
      [["go", "well"], 20],
      [["go", "well", "well"], 40],
    ]);
  });

  test.each(["rounds", "eager"] as const)("%s: a condition that throws fails the run, with what it has", async (scheduler) => {
    const stopWhen: StopCondition = ({ rounds }) => {
      if (rounds === 2) throw new Error("bad condition");
      return false;
    };
    const result = await new Team({ scheduler, roles: [endless()] }).run("go", { stopWhen }).result;
    expect(result).toMatchObject({ status: "failed", rounds: 2 });
    expect(result.error?.message).toContain("bad condition");
    expect(contents(result.messages)).toContain("go");
  });
});

describe("a run of an environment that is to stop", () => {
  const counting = (name: string) =>
    defineRole({
      name,
      state: z.object({ heard: z.number().default(0) }),
      step: (state, _message, out) => {
        out.say("again", { sendTo: "<self>" });
        return { heard: state.heard + 1 };
      },
    });

  test.each(["rounds", "eager"] as const)("%s: a condition sees the states of roles, and the next run continues", async (scheduler) => {
    const ann = counting("Ann");
    const environment = town([ann], { scheduler });
    environment.publishMessage("go");
    const { status, rounds } = await environment.run({ stopWhen: (run) => (run.state(ann)?.heard ?? 0) >= 3 });
    expect({ status, rounds }).toEqual({ status: "finished", rounds: 3 });
    const seen: unknown[] = [];
    await environment.run({
      stopWhen: ({ state }) => {
        seen.push(state("Ann")?.["heard"], state("Nobody"));
        return seen.length >= 4;
      },
    });
    expect(seen).toEqual([3, undefined, 4, undefined]);
  });

  test("a team's condition sees them too", async () => {
    const ann = counting("Ann");
    const result = await new Team({ roles: [ann] }).run("go", { stopWhen: ({ state }) => state(ann)?.heard === 2 }).result;
    expect(result).toMatchObject({ status: "finished", rounds: 2 });
  });

  test.each(["rounds", "eager"] as const)(
    "%s: a signal stops the run, and the next run continues what was under way",
    async (scheduler) => {
      const controller = new AbortController();
      const ann = answering("Ann", async (rc) => {
        const first = await rc.step("first", {}, () => Promise.resolve(rc.memory.size));
        await rc.step("second", {}, async () => {
          if (!controller.signal.aborted) await new Promise(() => controller.abort());
        });
        return rc.message(`done after ${first}`);
      });
      const environment = town([ann], { scheduler });
      environment.publishMessage("go");
      expect(await environment.run({ signal: controller.signal })).toMatchObject({ status: "stopped", error: { code: "ABORTED" } });
      expect(environment.getRole("Ann")?.inbox).toHaveLength(1);
      expect(await environment.run()).toMatchObject({ status: "finished", output: { content: "done after 1" } });
    },
  );

  test("a signal that has aborted lets nothing begin", async () => {
    const environment = town([endless()]);
    environment.publishMessage("go");
    expect(await environment.run({ signal: AbortSignal.abort() })).toMatchObject({ status: "stopped", rounds: 0 });
  });

  test.each([
    ["a condition that is none", { stopWhen: 3 }, /stopWhen.*function/],
    ["a signal that is none", { signal: "now" }, /signal.*AbortSignal/],
  ])("%s is refused", async (_what, options, text) => {
    await expect(town([]).run(options as object)).rejects.toThrow(text);
  });
});

describe("the end by a condition", () => {
  const isLong = ({ messages }: RunProgress): boolean => messages.length > 2;
  test.each<[string, StopCondition, string, string]>([
    ["a bound", afterRounds(2), "stopped", "afterRounds(2)"],
    ["what is said", saidBy("Ann"), "finished", 'saidBy("Ann")'],
    ["a function", isLong, "finished", "isLong"],
    ["any of them: the first that holds", anyOf(isLong, afterRounds(2)), "finished", "isLong"],
    ["any of them: a bound that holds first", anyOf(afterRounds(1), isLong), "stopped", "afterRounds(1)"],
    ["all of them, one of which is no bound", allOf(afterRounds(2), isLong), "finished", "allOf(afterRounds(2), isLong)"],
    ["bounds alone", allOf(afterRounds(2), afterRounds(1)), "stopped", "allOf(afterRounds(2), afterRounds(1))"],
  ])("by %s", async (_what, stopWhen, status, stoppedBy) => {
    const journal = memoryJournal();
    const team = (): Team => new Team({ roles: [endless()], journal });
    expect(await team().run("go", { id: "r", stopWhen }).result).toMatchObject({ status, stoppedBy });
    expect(fold(await eventsOf(journal, "r")).phase).toMatchObject({ status, stoppedBy });
    const environment = town([endless()]);
    environment.publishMessage("go");
    expect(await environment.run({ stopWhen })).toMatchObject({ status, stoppedBy });
  });

  test("that finished a run is its end: it continues for another condition, or a message", async () => {
    const team = new Team({ roles: [endless()] });
    const stopWhen = ({ rounds }: RunProgress): boolean => rounds >= 2;
    await team.run("go", { id: "r", stopWhen }).result;
    const before = (await eventsOf(team.journal, "r")).length;
    expect(await team.resume("r", { rounds: 9 }).result).toMatchObject({ status: "finished", rounds: 2 });
    expect(await eventsOf(team.journal, "r")).toHaveLength(before);
    expect(await team.resume("r", { stopWhen: afterRounds(4) }).result).toMatchObject({ status: "stopped", rounds: 4 });
    await team.resume("r", { stopWhen: null, rounds: 1 }).result;
    expect(await team.resume("r", { add: ["more"], stopWhen, rounds: 9 }).result).toMatchObject({ status: "finished" });
  });
});

describe("the output of a typed action", () => {
  const Guess = defineAction({ name: "Guess", output: z.object({ city: z.string() }), prompt: (ctx) => ctx.text });
  const run = (reply: string): Run =>
    new Team({ roles: [defineRole({ name: "Ann", actions: [Guess] })], model: scriptedModel([reply]) }).run("?");

  test("is a value of its schema, or the error of the run", async () => {
    expect(await run('{"city":"Oslo"}').outputOf(Guess)).toEqual({ city: "Oslo" });
    await expect(new Team({ roles: [answering("Ann", () => Promise.reject(new Error("no")))] }).run("?").outputOf(Guess)).rejects.toThrow(
      "no",
    );
    await expect(new Team({ roles: [answering("Ann", () => Promise.resolve(undefined))] }).run("?").outputOf(Guess)).rejects.toMatchObject({
      code: "OUTPUT_MISSING",
    });
  });

  test("is nothing that came from outside", async () => {
    const said = createMessage("go", { causeBy: Guess, instructContent: { city: "Rome" } });
    const answered = new Team({
      roles: [defineRole({ name: "Ann", watch: [Guess], actions: [defineAction({ name: "Go", run: () => "gone" })] })],
    }).run(said);
    await expect(answered.outputOf(Guess)).rejects.toMatchObject({ code: "OUTPUT_MISSING" });
  });
});
