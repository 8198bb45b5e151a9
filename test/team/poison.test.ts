import { describe, expect, test } from "vitest";
import { retry, type FailurePolicy } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { defineAction } from "../../src/role/action.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { RoleContext } from "../../src/role/context.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

const Word = defineAction({ name: "Word", run: () => undefined });

/** Says each of the words as a message of its own. */
function speaker(words: readonly string[]): Role {
  return answering("Speaker", (rc) => {
    for (const word of words) rc.publish(rc.message(word, { causeBy: Word }));
  });
}

type React = (rc: RoleContext, die: () => Promise<never>) => Promise<void> | void;

interface Life {
  readonly deaths: number;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  /** Told in the last life. */
  readonly warnings: readonly string[];
}

/** Lets a run continue until it ends, in a new process after each death: what was durable then is all that the next one has. */
async function lives(
  cast: (die: () => Promise<never>) => Role[],
  o: Pick<TeamOptions, "onFailure" | "poisonAfter" | "scheduler"> = {},
): Promise<Life> {
  const shared = memoryJournal();
  const host = simulatedProcesses(shared);
  for (let deaths = 0; deaths < 50; deaths += 1) {
    const { journal, kill } = host.start();
    let died = (): void => {};
    const death = new Promise<"died">((resolve) => (died = () => resolve("died")));
    const die = (): Promise<never> => {
      died();
      return new Promise(() => {});
    };
    const team = new Team({ seed: "s", journal, roles: cast(die), clock: simulatedClock(), ...o });
    const run = team.run("go", { id: "r" });
    const warnings: string[] = [];
    run.on("warning", ({ role, text }) => warnings.push(`${role}: ${text}`));
    const result = await Promise.race([death, run.result]);
    if (result !== "died") return { deaths, result, events: await eventsOf(shared, "r"), warnings };
    kill();
  }
  return expect.unreachable("it died for ever");
}

function hearer(name: string, react: React, die: () => Promise<never>): Role {
  return defineRole({ name, watch: [Word], actions: [defineAction({ name: `${name} hears`, run: (ctx) => react(ctx, die) })] });
}

/** Dies of one word, and keeps what it has heard of the others. */
function dyingOf(word: string, heard: string[]): React {
  return async (rc, die) => {
    for (const { content } of rc.news) if (content === word) await die();
    heard.push(...rc.news.map(({ content }) => content));
  };
}

const dead = ({ result }: Life): string[] => result.deadLetters.map(({ message }) => message.content);

describe("an action that kills the process", () => {
  test("ends with its message in the dead letters, and its company continues by policy", async () => {
    const life = await lives((die) => [speaker(["bomb"]), hearer("Bob", dyingOf("bomb", []), die)], { onFailure: "skip" });
    expect([life.result.status, dead(life), life.deaths]).toEqual(["finished", ["bomb"], 4]);
    expect(life.result.deadLetters[0]?.reason).toMatchObject({ kind: "failed", role: "Bob", error: { code: "POISONED" } });
    expect(life.warnings).toEqual([expect.stringMatching(/^Bob: Bob failed and its messages became dead letters: .* died 3 times/)]);
  });

  test.each([1, 2, 5])("is told after %i deaths under one activation that has begun", async (poisonAfter) => {
    const react: React = async (rc, die) => {
      await rc.step("look", {}, () => die());
    };
    const life = await lives((die) => [speaker(["bomb"]), hearer("Bob", react, die)], { onFailure: "skip", poisonAfter });
    expect([life.deaths, dead(life)]).toEqual([poisonAfter, ["bomb"]]);
  });

  test("loses only the message at fault: the others are tried one by one", async () => {
    const heard: string[] = [];
    const cast = (die: () => Promise<never>): Role[] => [speaker(["a", "b", "bomb", "c"]), hearer("Bob", dyingOf("bomb", heard), die)];
    const life = await lives(cast, { onFailure: "skip" });
    expect([life.result.status, dead(life)]).toEqual(["finished", ["bomb"]]);
    expect(heard).toEqual(["a", "b", "c"]);
  });

  test("is told from those at work beside it, who lose nothing", async () => {
    const innocent: React = async (rc) => {
      await rc.step("work", {}, () => Promise.resolve(rc.name));
    };
    const cast = (die: () => Promise<never>): Role[] => [
      speaker(["x", "bomb"]),
      hearer("Ann", innocent, die),
      hearer("Bob", dyingOf("bomb", []), die),
      hearer("Cid", innocent, die),
    ];
    const life = await lives(cast, { onFailure: "skip" });
    expect([life.result.status, dead(life)]).toEqual(["finished", ["bomb"]]);
    const read = (name: string): number =>
      life.events.reduce((sum, event) => (event.type === "act.ended" && event.role === name ? sum + event.take : sum), 0);
    expect(["Ann", "Bob", "Cid"].map(read)).toEqual([2, 1, 2]);
  });

  test("that gets an answer between its deaths is no poison", async () => {
    const react: React = async (rc, die) => {
      for (let n = 0; n < 8; n += 1) {
        let isNew = false;
        await rc.step("part", { n }, () => Promise.resolve((isNew = true)));
        // An answer counts when it is durable, which nothing waits for.
        await nextMacrotask();
        if (isNew && n < 7) await die();
      }
    };
    const life = await lives((die) => [speaker(["long"]), hearer("Bob", react, die)], { onFailure: "skip" });
    expect([life.result.status, dead(life), life.deaths]).toEqual(["finished", [], 7]);
  });
});

describe("a message that fails again and again", () => {
  test.each<[string, FailurePolicy, number]>([
    ["skip", "skip", 1],
    ["retry twice, then skip", retry(2, "skip"), 3],
  ])("is found among others and is the only one that is lost: %s", async (_name, onFailure, tries) => {
    const heard: string[] = [];
    const attempts: string[] = [];
    const failing: React = (rc) => {
      const words = rc.news.map(({ content }) => content);
      attempts.push(words.join("+"));
      if (words.includes("bad")) throw new Error("bad word");
      heard.push(...words);
    };
    const { result } = await lives((die) => [speaker(["a", "bad", "b"]), hearer("Bob", failing, die)], { onFailure });
    expect(result.status).toBe("finished");
    expect(result.deadLetters.map(({ message }) => message.content)).toEqual(["bad"]);
    expect(heard).toEqual(["a", "b"]);
    const all = Array.from({ length: tries }, () => "a+bad+b");
    expect(attempts).toEqual([...all, "a", ...Array.from({ length: tries }, () => "bad"), "b"]);
  });
});
