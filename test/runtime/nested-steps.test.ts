import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import type { StepDoor } from "../../src/kernel/step.ts";
import { retry } from "../../src/role/failure-policy.ts";
import type { Said } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "./town.ts";
import { journalWith } from "../team/recorded.ts";
import { goneOn, lived } from "./one-role.ts";

const value =
  <T>(result: T) =>
  (): Promise<T> =>
    Promise.resolve(result);

describe("nested steps", () => {
  const twice = async (rc: RoleContext, called: string[]): Promise<number> =>
    rc.step("outer", {}, async (door: StepDoor) => {
      called.push("outer");
      const [a, b] = await Promise.all(
        ["a", "b"].map((name) => door.step({ kind: "step", name, request: {} }, async () => called.push(name))),
      );
      return (a ?? 0) + (b ?? 0);
    });

  test("do not wait for the outer answer, are recorded inside it, in the order asked there", async () => {
    const called: string[] = [];
    const { steps, result } = await lived(async (rc) => rc.message(String(await twice(rc, called))));
    expect(result.status).toBe("finished");
    const [outer, a, b] = steps.filter((event) => event.type === "step.started");
    expect([a, b]).toMatchObject([
      { name: "a", in: outer?.key, asked: 0 },
      { name: "b", in: outer?.key, asked: 1 },
    ]);
    expect(called).toEqual(["outer", "a", "b"]);
  });

  test("are skipped when the outer answer is recorded, and answered when only they are", async () => {
    const react = (called: string[]) => async (rc: RoleContext) => rc.message(String(await twice(rc, called)));
    const { events, result } = await lived(react([]));
    const place = (test_: (event: RunEvent) => boolean): number => events.findIndex(test_) + 1;
    const all = place((event) => event.type === "act.ended") - 1;
    const inner = all - 1;
    const afterAll: string[] = [];
    expect((await goneOn(react(afterAll), events.slice(0, all))).output?.content).toBe(result.output?.content);
    expect(afterAll).toEqual([]);
    const afterInner: string[] = [];
    expect((await goneOn(react(afterInner), events.slice(0, inner))).output?.content).toBe(result.output?.content);
    expect(afterInner).toEqual(["outer"]);
  });

  test("an outer step that was begun runs to its end with what it asks, although the body has ended", async () => {
    const called: string[] = [];
    const { steps } = await lived((rc) => {
      void twice(rc, called);
      return rc.message("done");
    });
    expect(called).toEqual(["outer", "a", "b"]);
    expect(steps.filter((event) => event.type === "step.ended").every((event) => event.ok)).toBe(true);
  });

  test("an inner failure that the outer handles is recorded, and is no failure of the outer", async () => {
    const { steps, result } = await lived(async (rc) => {
      const answer = await rc.step("outer", {}, (door) =>
        door
          .step({ kind: "step", name: "bad", request: {} }, () => Promise.reject(new Error("no")))
          .catch((error: unknown) => (error as Error).name),
      );
      return rc.message(answer as string);
    });
    expect(result.output?.content).toBe("StepError");
    expect(steps.filter((event) => event.type === "step.ended").map((event) => event.ok)).toEqual([false, true]);
  });
});

describe("`again`: recorded, and run again", () => {
  const writing = (called: string[], nested: string[]) => async (rc: RoleContext) => {
    const written = await rc.step(
      "write",
      {},
      async (door) => {
        called.push("write");
        return door.step({ kind: "step", name: "inner", request: {} }, async () => nested.push("inner"));
      },
      { again: true },
    );
    await rc.step("test", {}, value(written));
    return rc.message(`wrote ${written}`);
  };

  test("on resume the write happens again, what it asked is answered, and its answer is the recorded one", async () => {
    const { events } = await lived(writing([], []));
    const called: string[] = [];
    const nested = ["already one"];
    const result = await goneOn(
      writing(called, nested),
      events.slice(
        0,
        events.findIndex((event) => event.type === "act.ended"),
      ),
    );
    expect(result.output?.content).toBe("wrote 1");
    expect([called, nested]).toEqual([["write"], ["already one"]]);
  });

  test("a write that fails when it is repeated fails the activation, and no good answer is paid for again", async () => {
    const paid: string[] = [];
    let disk = "ok";
    const react = async (rc: RoleContext): Promise<Said> => {
      await rc.step("paid", {}, async () => paid.push("paid"));
      await rc.step("write", {}, () => (disk === "full" ? Promise.reject(new Error("disk full")) : Promise.resolve()), { again: true });
      await rc.step("more", {}, async () => paid.push("more"));
      return rc.message("done");
    };
    const { events } = await lived(react);
    const cut = events.slice(
      0,
      events.findIndex((event) => event.type === "act.ended"),
    );
    disk = "full";
    const journal = await journalWith("r", cut);
    const team = new Team({ seed: "s", journal, roles: [answering("Ann", react)] });
    expect(await team.resume("r").result).toMatchObject({ status: "failed", error: { message: "disk full" } });
    disk = "ok";
    expect((await team.resume("r").result).output?.content).toBe("done");
    expect(paid).toEqual(["paid", "more"]);
  });

  test("a retry repeats the write too", async () => {
    const called: string[] = [];
    let attempt = 0;
    const ann = answering(
      "Ann",
      async (rc) => {
        attempt += 1;
        await rc.step("write", {}, async () => called.push("write"), { again: true });
        await rc.step("flaky", {}, () => (attempt === 1 ? Promise.reject(new Error("no")) : Promise.resolve()));
      },
      { onFailure: retry(1) },
    );
    await new Team({ roles: [ann] }).run("go").result;
    expect(called).toEqual(["write", "write"]);
  });
});
