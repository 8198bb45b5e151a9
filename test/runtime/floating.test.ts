import { describe, expect, test } from "vitest";
import { z } from "zod";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { silentLogger } from "../../src/kernel/emit.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { defineAction } from "../../src/role/action.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { unhandledIn } from "../unhandled.ts";
import { lived } from "./one-role.ts";

const fails = (): Promise<never> => Promise.reject(new Error("declined"));
const works = (): Promise<number> => Promise.resolve(1);
const failingModel = (): TeamOptions => ({ model: scriptedModel(() => fails()), human: fails });

/** A call of a model that the program makes itself. */
const secondModel = (): Promise<unknown> => scriptedModel(() => fails()).chat({ messages: [{ role: "user", content: "hello" }] });

/** Work that an activation can start, and its name in the error. */
const doors: readonly (readonly [string, (rc: RoleContext) => Promise<unknown>])[] = [
  ['step "charge"', (rc) => rc.step("charge", {}, fails)],
  ['step "charge"', (rc) => rc.steps.step({ kind: "step", name: "charge", request: {} }, fails)],
  ['ask("hello")', (rc) => rc.ask("hello")],
  ['ask("hello")', (rc) => rc.ask("hello", { schema: z.object({}) })],
  ["human.ask", (rc) => rc.human.ask("well?")],
  ["model.chat", (rc) => rc.model.chat({ messages: [{ role: "user", content: "hello" }] }, { signal: rc.signal })],
  ["model.chat", () => secondModel()],
];

describe("HandedOut.P1 HandedOut.P2 work that is not awaited and fails", () => {
  test.each(doors)("%s fails its activation by its name: alone, before other work, and with what follows from it", async (name, start) => {
    const programs: readonly ((rc: RoleContext) => unknown)[] = [
      (rc) => void start(rc),
      (rc) => {
        void start(rc);
        return rc.step("other", {}, works);
      },
      (rc) => void start(rc).then((value) => value),
      (rc) => void start(rc).finally(() => {}),
    ];
    const unhandled = await unhandledIn(async () => {
      for (const program of programs) {
        const { result, events } = await lived((rc) => Promise.resolve(program(rc)).then(() => rc.message("paid")), failingModel());
        expect(result).toMatchObject({ status: "failed", error: { code: "STEP_NOT_AWAITED", data: { step: name } } });
        expect(result.error?.message).toContain(name);
        expect(events.filter(({ type }) => type === "act.failed")).toHaveLength(1);
      }
    });
    expect(unhandled).toEqual([]);
  });

  test.each(doors)("HandedOut.P3 %s, awaited by what is not awaited, does too", async (_name, start) => {
    const programs: readonly ((rc: RoleContext) => unknown)[] = [
      async (rc) => void (await start(rc)),
      async (rc) => start(rc),
      (rc) => new Promise((resolve) => resolve(start(rc))),
      (rc) => Promise.all([start(rc), start(rc)]),
      async (rc) => void (await Promise.all([start(rc), rc.step("other", {}, works)])),
    ];
    const unhandled = await unhandledIn(async () => {
      for (const program of programs) {
        const { result } = await lived((rc) => {
          void program(rc);
          return rc.message("paid");
        }, failingModel());
        expect(result).toMatchObject({ status: "failed", error: { code: "STEP_NOT_AWAITED" } });
      }
    });
    expect(unhandled).toEqual([]);
  });

  test("HandedOut.P3 what may have lost a race and fails after the body has ended is named in a warning", async () => {
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const later = (): Promise<never> => nextMacrotask().then(nextMacrotask).then(fails);
    const unhandled = await unhandledIn(async () => {
      for (const combine of [Promise.race, Promise.any, Promise.all] as const) {
        const { result } = await lived(
          (rc) => {
            void combine.call(Promise, [rc.step("slow", combine.name, later)]);
            return rc.message("paid");
          },
          { logger: { ...silentLogger, warn } },
        );
        expect(result.status).toBe("finished");
      }
    });
    expect(warnings.filter((text) => text.includes('step "slow" failed'))).toHaveLength(3);
    expect(unhandled).toEqual([]);
  });

  test.each(doors)("%s with a handler, or awaited later, is the handler's", async (_name, start) => {
    const programs: readonly ((rc: RoleContext) => unknown)[] = [
      (rc) => void start(rc).catch(() => {}),
      (rc) => void start(rc).then(undefined, () => {}),
      (rc) => void Promise.allSettled([start(rc)]),
      async (rc) => {
        const later = start(rc);
        await rc.step("other", {}, works);
        await expect(later).rejects.toThrow("declined");
      },
      (rc) => Promise.any([rc.step("good", {}, works), start(rc)]),
    ];
    for (const program of programs) {
      const { result } = await lived((rc) => Promise.resolve(program(rc)).then(() => rc.message("paid")), failingModel());
      expect(result.status).toBe("finished");
    }
  });

  test("HandedOut.P4 a function that is not awaited and asks for more after the body has ended is named in a warning", async () => {
    const called: string[] = [];
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const unhandled = await unhandledIn(async () => {
      const { result } = await lived(
        (rc) => {
          void (async () => {
            for (const name of ["first", "second"]) await rc.step(name, {}, async () => called.push(name));
          })();
          return rc.message("paid");
        },
        { logger: { ...silentLogger, warn } },
      );
      expect(result.status).toBe("finished");
    });
    expect(called).toEqual(["first"]);
    expect(warnings.filter((text) => text.includes('step "second"'))).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });

  test("inside a step it fails that step, so that the record has it; a race inside a step stays one", async () => {
    const asked: readonly ((door: Parameters<Parameters<RoleContext["step"]>[2]>[0]) => Promise<unknown>)[] = [
      (door) => door.step({ kind: "step", name: "inner", request: {} }, fails),
      (door) => door.ask("hello"),
      (door) => door.human.ask("well?"),
      () => secondModel(),
    ];
    const unhandled = await unhandledIn(async () => {
      for (const start of asked) {
        const { result, steps } = await lived(async (rc) => {
          await rc.step("outer", {}, async (door) => void start(door));
        }, failingModel());
        expect(result).toMatchObject({ status: "failed", error: { code: "STEP_NOT_AWAITED" } });
        expect(steps.at(-1)).toMatchObject({ type: "step.ended", ok: false, error: { code: "STEP_NOT_AWAITED" } });
      }
    });
    expect(unhandled).toEqual([]);
    const later = (): Promise<never> => nextMacrotask().then(nextMacrotask).then(fails);
    const slow: typeof asked = [
      (door) => door.step({ kind: "step", name: "inner", request: {} }, later),
      (door) => door.ask("hello", { model: scriptedModel(later) }),
    ];
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const unnoticed = await unhandledIn(async () => {
      for (const start of slow) {
        const live = (rc: RoleContext): Promise<void> =>
          rc.step("outer", {}, async (door) => void (async () => void (await start(door)))());
        const { result } = await lived(live, { logger: { ...silentLogger, warn } });
        expect(result.status).toBe("finished");
      }
    });
    expect(unnoticed).toEqual([]);
    expect(warnings.filter((text) => text.includes(" failed in "))).toHaveLength(2);
    const race = await lived(async (rc) => {
      const first = await rc.step("outer", {}, (door) =>
        Promise.any([1, 2].map((n) => door.step({ kind: "step", name: "part", request: n }, async () => (n === 1 ? n : fails())))),
      );
      return rc.message(String(first));
    });
    expect(race.result.status).toBe("finished");
  });

  test("is handled by the policy, and a replay fails as the record does", async () => {
    let tries = 0;
    const charge = defineAction({
      name: "Charge",
      run: (ctx) => {
        void ctx.step("charge", {}, () => ((tries += 1) === 1 ? fails() : works()));
        return "paid";
      },
    });
    const journal = memoryJournal();
    const team = (onFailure: TeamOptions["onFailure"] = "stop"): Team =>
      new Team({ journal, seed: "s", onFailure, roles: [defineRole({ name: "Cleo", actions: [charge] })] });
    expect((await team(retry(1)).run("go", { id: "again" }).result).status).toBe("finished");
    tries = 0;
    expect(await team("skip").run("go", { id: "dead" }).result).toMatchObject({
      status: "finished",
      deadLetters: [{ reason: { error: { code: "STEP_NOT_AWAITED" } } }],
    });
    tries = 0;
    await team().run("go", { id: "failed" }).result;
    expect(await team().replay("failed").result).toMatchObject({ status: "failed", error: { code: "STEP_NOT_AWAITED" } });
  });
});
