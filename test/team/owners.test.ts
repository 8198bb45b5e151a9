import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedProcesses, type SimulatedProcess } from "../simulated-processes.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "./recorded.ts";

/** A role whose one step is done by `effect`; it never repeats an answered step. */
function caller(effect: () => Promise<string>): Role {
  return defineRole({ name: "Ann", actions: [defineAction({ name: "Call", run: (ctx) => ctx.step("call", {}, effect) })] });
}

const forEver = (): Promise<string> => new Promise<string>(() => undefined);

function world(): { start(): SimulatedProcess; events(): Promise<RunEvent[]> } {
  const journal = memoryJournal();
  const host = simulatedProcesses(journal);
  return { start: () => host.start(), events: () => eventsOf(journal, "r") };
}

/** A run that is in its one call, in a process of its own. */
async function calling(
  process: SimulatedProcess,
  effect: (() => Promise<string>) | undefined = forEver,
  onOwned: "take" | "follow" = "follow",
): Promise<Run> {
  let called = (): void => {};
  const isCalled = new Promise<void>((resolve) => (called = resolve));
  const role = caller(() => {
    called();
    return effect();
  });
  const run = new Team({ journal: process.journal, roles: [role] }).run("go", { id: "r", onOwned });
  await Promise.race([isCalled, run.result]);
  return run;
}

const causes = (events: readonly RunEvent[]): unknown[] => events.flatMap((event) => (event.type === "run.resumed" ? [event.cause] : []));

describe("a run that is taken from a process that lives", () => {
  test("continues in the other; the first ends as moved, records nothing and starts no further effect", async () => {
    const { start, events } = world();
    const [first, second] = [start(), start()];
    let further = 0;
    const twice = defineRole({
      name: "Ann",
      actions: [
        defineAction({
          name: "Call",
          run: async (ctx) => {
            await ctx.step("call", {}, forEver).catch(() => undefined);
            return ctx.step("more", {}, () => Promise.resolve(String((further += 1))));
          },
        }),
      ],
    });
    const run = new Team({ journal: first.journal, roles: [twice] }).run("go", { id: "r" });
    const told: string[] = [];
    run.on("step.started", ({ name }) => told.push(name));
    const seen: string[] = [];
    const iterated = (async () => {
      for await (const { type } of run) seen.push(type);
    })();
    await run.started;
    while (told.length === 0) await new Promise((resolve) => void setImmediate(resolve));
    const other = await calling(second, () => Promise.resolve("done"), "take");
    const [{ status, error }, { status: latter }] = await Promise.all([run.result, other.result]);
    await iterated;
    expect([status, error?.code, latter]).toEqual(["moved", "MOVED", "finished"]);
    expect(further).toBe(0);
    expect(causes(await events())).toEqual(["moved"]);
    expect((await events()).filter(({ type }) => type === "run.ended").length).toBe(1);
    expect(seen.slice(0, 3)).toEqual(["run.started", "message", "act.started"]);
  });

  test("RunLog.W6 ends as moved also where the journal does not tell its owner: by its next append", async () => {
    const { start, events } = world();
    const { journal } = start();
    const silent: Journal = { ...journal, claim: (runId) => journal.claim(runId) };
    let letGo: (word: string) => void = () => undefined;
    const word = new Promise<string>((resolve) => (letGo = resolve));
    const run = await calling({ journal: silent, kill() {} }, () => word);
    await (
      await calling(start(), () => Promise.resolve("done"), "take")
    ).result;
    letGo("too late");
    expect(await run.result).toMatchObject({ status: "moved", error: { code: "MOVED" } });
    expect(causes(await events())).toEqual(["moved"]);
  });

  test("twenty times without an answer ends as stuck; nothing is dropped, and it continues when it is resumed", async () => {
    const { start, events } = world();
    await calling(start());
    for (let n = 1; n <= 20; n += 1) {
      const run = new Team({ journal: start().journal, roles: [caller(forEver)] }).resume("r", { onOwned: "take" });
      await run.started;
      if (n === 20)
        expect(await run.result).toMatchObject({ status: "failed", error: { code: "RUN_STUCK", data: { takes: 20 } }, deadLetters: [] });
    }
    const { status } = await (await calling(start(), () => Promise.resolve("done"))).result;
    expect([status, causes(await events()).at(-1)]).toEqual(["finished", undefined]);
  });

  test("an answer between two takes is progress", async () => {
    const { start, events } = world();
    for (let life = 0; life < 25; life += 1) {
      let stopped = (): void => {};
      const isStopped = new Promise<void>((resolve) => (stopped = resolve));
      const effect = async (n: number): Promise<string> => {
        if (n <= life) return "done";
        stopped();
        return forEver();
      };
      const calls = defineAction({
        name: "Call",
        run: async (ctx) => {
          for (let n = 0; n < 25; n += 1) await ctx.step("call", { n }, () => effect(n));
        },
      });
      const roles = [defineRole({ name: "Ann", actions: [calls] })];
      const run = new Team({ journal: start().journal, roles }).run("go", { id: "r", onOwned: "take" });
      await Promise.race([isStopped, run.result]);
      if (life === 24) expect((await run.result).status).toBe("finished");
    }
    expect(causes(await events())).toEqual(Array.from({ length: 24 }, () => "moved"));
  });
});

describe("a run that is given back", () => {
  test("ends as moved and records no end; the next owner knows that it was drained", async () => {
    const { start, events } = world();
    const run = await calling(start());
    run.drain();
    expect(await run.result).toMatchObject({ status: "moved", error: { code: "MOVED", data: { isDrained: true } } });
    expect((await events()).at(-1)?.type).toBe("step.started");
    const { status } = await (await calling(start(), () => Promise.resolve("done"))).result;
    expect([status, causes(await events())]).toEqual(["finished", ["drained"]]);
  });
});

describe("what a process prepares for a run that it has become the owner of", () => {
  test("comes before anything of the run; where it fails, the record stays, and the next owner is told of the one before", async () => {
    const { start, events } = world();
    const [first, second, third] = [start(), start(), start()];
    await calling(first);
    first.kill();
    const before = await events();
    const roles = [caller(() => Promise.resolve("done"))];
    const team = new Team({ journal: second.journal, roles });
    const { status, error } = await team.resume("r", { prepare: () => Promise.reject(new Error("no folder")) }).result;
    expect([status, error?.message, await events()]).toEqual(["failed", expect.stringContaining("no folder"), before]);
    let seen = 0;
    const run = new Team({ journal: third.journal, roles }).resume("r", { prepare: async () => void (seen = (await events()).length) });
    expect([(await run.result).status, seen, causes(await events())]).toEqual(["finished", before.length, ["died"]]);
  });
});

describe("what a process concludes for a run before it gives it up", () => {
  /** Concludes a run, and tells what others find meanwhile. */
  function concluding(others: SimulatedProcess): { readonly told: unknown[]; conclude(o: { readonly error: unknown }): Promise<void> } {
    const told: unknown[] = [];
    return {
      told,
      async conclude({ error }) {
        const last = (await eventsOf(others.journal, "r")).at(-1)?.type;
        const claimed = await others.journal.claim("r").then(
          () => "claimed",
          ({ code }: { code: string }) => code,
        );
        told.push([(error as { code?: string } | undefined)?.code, last, claimed]);
      },
    };
  }

  test("comes before its end is recorded, and while no other process can have the run", async () => {
    const { start, events } = world();
    const { told, conclude } = concluding(start());
    const team = new Team({ journal: start().journal, roles: [caller(() => Promise.resolve("done"))] });
    expect((await team.run("go", { id: "r", conclude }).result).status).toBe("finished");
    expect([told, (await events()).at(-1)?.type]).toEqual([[[undefined, "round.ended", "RUN_OWNED"]], "run.ended"]);
  });

  test.each([
    ["drained", (run: Run) => run.drain(), "MOVED"],
    ["stopped", (run: Run) => run.stop(), "ABORTED"],
  ] as const)("comes with the reason for a run that is %s", async (_, end, code) => {
    const { start } = world();
    const { told, conclude } = concluding(start());
    const run = new Team({ journal: start().journal, roles: [caller(forEver)] }).run("go", { id: "r", conclude });
    run.on("step.started", () => end(run));
    await run.result;
    expect(told).toEqual([[code, "step.ended", "RUN_OWNED"]]);
  });

  test("comes for a run that its team refuses, and is told of one that was taken", async () => {
    const { start } = world();
    const [first, second] = [start(), start()];
    const errors: unknown[] = [];
    const conclude = async ({ error }: { readonly error: unknown }): Promise<void> => void errors.push(error);
    const run = new Team({ journal: first.journal, roles: [caller(forEver)] }).run("go", { id: "r", conclude });
    await new Promise<void>((resolve) => run.on("step.started", () => resolve()));
    await (
      await calling(second, () => Promise.resolve("done"), "take")
    ).result;
    await run.result;
    await new Team({ journal: second.journal, roles: [caller(forEver), defineRole({ name: "Nell", react: () => undefined })] }).send(
      "r",
      "on",
      {
        onTeamChange: "continue",
      },
    );
    await new Team({ journal: first.journal, roles: [defineRole({ name: "Nell", react: () => undefined })] }).resume("r", { conclude })
      .result;
    expect(errors).toMatchObject([{ code: "MOVED", isDrained: false }, { code: "TEAM_CHANGED" }]);
  });
});

describe("a run that hears of a message between a death and its resume", () => {
  test("records the death", async () => {
    const { start, events } = world();
    const [first, second, third] = [start(), start(), start()];
    await calling(first);
    first.kill();
    const roles = [caller(() => Promise.resolve("done"))];
    await new Team({ journal: second.journal, roles }).send("r", "hurry");
    expect((await new Team({ journal: third.journal, roles }).resume("r").result).status).toBe("finished");
    expect(causes(await events())).toEqual(["died"]);
  });
});

describe("an owner that does not continue a run", () => {
  const other = defineRole({ name: "Nell", watch: ["Nothing"], react: () => undefined });
  const done = (): Role[] => [caller(() => Promise.resolve("done"))];
  const refused: readonly (readonly [string, (journal: Journal) => Team])[] = [
    ["TEAM_CHANGED", (journal) => new Team({ journal, roles: [...done(), other] })],
    ["ROLES_FAILED", (journal) => new Team({ journal, roles: () => Promise.reject(new Error("no place")) })],
    ["DELIVERY_DIFFERS", (journal) => new Team({ journal, roles: done(), delivery: "sender" })],
  ];

  test.each(refused)("Runs.U4 hides no death before it: %s", async (code, teamOf) => {
    const { start, events } = world();
    const first = start();
    await calling(first);
    first.kill();
    expect((await teamOf(start().journal).resume("r").result).error?.code).toBe(code);
    expect((await new Team({ journal: start().journal, roles: done() }).resume("r").result).status).toBe("finished");
    expect(causes(await events())).toEqual(["died"]);
  });

  test("between deaths of one activation does not keep it from being poisoned", async () => {
    const { start, events } = world();
    const ended: unknown[] = [];
    for (let n = 0; n < 4; n += 1) {
      const process = start();
      const run = await calling(process);
      if (n === 3) ended.push((await run.result).error?.code);
      process.kill();
      await new Team({ journal: start().journal, roles: [...done(), other] }).resume("r").result;
    }
    expect([ended, causes(await events())]).toEqual([["POISONED"], ["died", "died", "died"]]);
  });
});
