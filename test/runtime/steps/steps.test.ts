import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../../src/role/context.ts";
import { NotJsonError, StepError } from "../../../src/kernel/errors.ts";
import type { Said } from "../../../src/role/role.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { answering } from "../town.ts";
import { appendingBy, eventsOf } from "../../team/recorded.ts";
import { goneOn, lived } from "../one-role.ts";

const value =
  <T>(result: T) =>
  (): Promise<T> =>
    Promise.resolve(result);

describe("the result of a step", () => {
  test("is the JSON round trip, live too", async () => {
    let got: unknown;
    const { result } = await lived(async (rc) => {
      got = await rc.step("a", {}, value({ when: new Date(0), gone: undefined, list: [undefined, 1], deep: { b: 1, a: 2 } }));
    });
    expect(result.status).toBe("finished");
    expect(got).toEqual({ when: "1970-01-01T00:00:00.000Z", list: [null, 1], deep: { a: 2, b: 1 } });
    expect(Object.keys(got as object)).not.toContain("gone");
  });

  test.each<[string, unknown]>([
    ["a map", new Map([[1, 2]])],
    ["a function", () => 1],
    ["not a number", Number.NaN],
    ["an error as a value", new Error("x")],
  ])("what is no JSON is a failed step at once: %s", async (_what, wrong) => {
    let caught: unknown;
    const { steps } = await lived(async (rc) => {
      caught = await rc.step("a", {}, value(wrong)).catch((error: unknown) => error);
    });
    expect(caught).toMatchObject({ code: "NOT_JSON" });
    expect(caught).toBeInstanceOf(StepError);
    expect(steps).toMatchObject([{ type: "step.started" }, { type: "step.ended", ok: false, error: { code: "NOT_JSON" } }]);
  });

  test("ActivationSteps.D6 is the caller's own: changing it changes no record", async () => {
    const react = async (rc: RoleContext): Promise<Said> => {
      const list = await rc.step("list", {}, value([1, { a: 1 }] as unknown[]));
      list.push(2);
      (list[1] as { a: number }).a = 9;
      await rc.step("other", {}, value(0));
      return rc.message(JSON.stringify(list));
    };
    const { events, result } = await lived(react);
    expect(events.find((event) => event.type === "step.ended" && event.ok)).toMatchObject({ value: [1, { a: 1 }] });
    const resumed = await goneOn(
      react,
      events.slice(
        0,
        events.findIndex((event) => event.type === "act.ended"),
      ),
    );
    expect(resumed.output?.content).toBe(result.output?.content);
  });

  test("a request that is no JSON is refused before anything happens", async () => {
    let called = 0;
    const { result, steps } = await lived(async (rc) => {
      await rc.step("a", { f: () => 1 }, async () => (called += 1));
    });
    expect(result.error).toBeInstanceOf(NotJsonError);
    expect([called, steps.length]).toEqual([0, 0]);
  });
});

describe("ActivationSteps.D1 the address of a step", () => {
  async function keys(react: (rc: RoleContext) => Promise<void>): Promise<string[]> {
    return (await lived(react)).steps.filter((event) => event.type === "step.started").map((event) => event.key);
  }

  test("is its kind, name and request, in any order of their keys; and how often that was asked before", async () => {
    const [a, b, c, d, e] = await keys(async (rc) => {
      await rc.step("x", { p: 1, q: 2 }, value(1));
      await rc.step("x", { q: 2, p: 1 }, value(1));
      await rc.step("y", { p: 1, q: 2 }, value(1));
      await rc.step("x", { p: 2, q: 2 }, value(1));
      await rc.human.ask("x").catch(() => {});
    });
    expect(a).toMatch(/^[0-9a-f]{32}\.0$/);
    expect(b).toBe(a?.replace(".0", ".1"));
    expect(new Set([a, c, d, e]).size).toBe(4);
  });

  test("is the same in another activation, another run, and under another seed", async () => {
    const react = async (rc: RoleContext): Promise<void> => void (await rc.step("x", {}, value(1)));
    const one = (await lived(react)).steps[0]?.key;
    const other = (await lived(react, { seed: "another", name: "other team" })).steps[0]?.key;
    expect(one).toBe(other);
  });

  test("occurrences are counted at the call, not when an answer comes", async () => {
    const { steps } = await lived(async (rc) => {
      const gates: (() => void)[] = [];
      let allBegan = (): void => {};
      const began = new Promise<void>((resolve) => (allBegan = resolve));
      const effect = (i: number) => (): Promise<number> =>
        new Promise<number>((resolve) => {
          gates[i] = () => resolve(i);
          if (gates.length === 3) allBegan();
        });
      const waiting = [0, 1, 2].map((i) => rc.step("same", {}, effect(i)));
      await began;
      for (const open of gates.toReversed()) open();
      expect(await Promise.all(waiting)).toEqual([0, 1, 2]);
    });
    const ended = steps.filter((event) => event.type === "step.ended").map((event) => [event.key.split(".")[1], event.value]);
    expect(ended).toEqual([
      ["2", 2],
      ["1", 1],
      ["0", 0],
    ]);
  });
});

describe("ActivationSteps.D2 release", () => {
  test("answers are handed out in the order asked, whichever is there first", async () => {
    const order: string[] = [];
    await lived(async (rc) => {
      let openSlow = (): void => {};
      const slow = rc.step("slow", {}, () => new Promise<void>((resolve) => (openSlow = resolve))).then(() => order.push("slow"));
      const fast = rc.step("fast", {}, value(1)).then(() => order.push("fast"));
      for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(order).toEqual([]);
      openSlow();
      await Promise.all([slow, fast]);
    });
    expect(order).toEqual(["slow", "fast"]);
  });

  test("a step that follows from one answer is asked before the next answer is returned", async () => {
    const order: string[] = [];
    await lived(async (rc) => {
      const branch = async (name: string): Promise<void> => {
        for (let i = 0; i < 3; i += 1) {
          order.push(`${name}${i} asked`);
          await rc.step(name, i, value(i));
          order.push(`${name}${i} got`);
        }
      };
      await Promise.all([branch("a"), branch("b")]);
    });
    expect(order).toEqual([
      ..."a0 asked,b0 asked,a0 got,a1 asked,b0 got,b1 asked,a1 got,a2 asked,b1 got,b2 asked,a2 got,b2 got".split(","),
    ]);
  });

  test("races belong into one step: between steps the first asked wins", async () => {
    const { result } = await lived(async (rc) => {
      const between = await Promise.race([
        rc.step("slow", {}, () => new Promise((resolve) => setImmediate(resolve, "slow"))),
        rc.step("fast", {}, value("fast")),
      ]);
      const inside = await rc.step("race", {}, () =>
        Promise.race([new Promise((resolve) => setImmediate(resolve, "slow")), Promise.resolve("fast")]),
      );
      return rc.message(`${String(between)} ${String(inside)}`);
    });
    expect(result.output?.content).toBe("slow fast");
  });
});

describe("ActivationSteps.D3 ActivationSteps.D5 the life of a step", () => {
  test("its start is durable before the effect begins", async () => {
    const journal = memoryJournal();
    const seen: string[] = [];
    const ann = answering("Ann", async (rc) => {
      await rc.step("effect", {}, async () => {
        for await (const event of journal.read("r", 0)) seen.push(event.type);
      });
    });
    await new Team({ journal, roles: [ann] }).run("go", { id: "r" }).result;
    expect(seen.slice(-2)).toEqual(["act.started", "step.started"]);
  });

  test("an effect does not begin when the run was stopped while its start was written", async () => {
    const journal = memoryJournal();
    let begun = 0;
    const ann = answering("Ann", async (rc) => {
      await rc.step("effect", {}, () => Promise.resolve((begun += 1)));
    });
    let stop = (): void => {};
    const stopping = appendingBy(journal, (...args) => {
      if (args[3].some((event) => event.type === "step.started")) stop();
      return journal.append(...args);
    });
    const run = new Team({ journal: stopping, roles: [ann] }).run("go", { id: "r" });
    stop = () => run.stop();
    const { status } = await run.result;
    expect([status, begun]).toEqual(["stopped", 0]);
  });

  test("ActivationSteps.D7 its answer is durable before anybody has it", async () => {
    const journal = memoryJournal();
    const ends: number[] = [];
    const ann = answering("Ann", async (rc) => {
      const told = async (): Promise<void> => {
        const events = await eventsOf(journal, "r");
        ends.push(events.filter((event) => event.type === "step.ended").length);
      };
      await rc.step("outer", {}, async (door) => {
        await door.step({ kind: "step", name: "inner", request: {} }, value(1));
        await told();
      });
      await told();
      await rc.step("failing", {}, () => Promise.reject(new Error("no"))).catch(told);
    });
    await new Team({ journal, roles: [ann] }).run("go", { id: "r" }).result;
    expect(ends).toEqual([1, 2, 3]);
  });

  test("RoleTurn.T1 steps that nobody awaits are awaited and recorded before the activation ends", async () => {
    const { events, result } = await lived((rc) => {
      void rc.step("floating", {}, () => new Promise((resolve) => setImmediate(resolve, 1)));
      void rc.step("failing", {}, () => Promise.reject(new Error("nobody cares"))).catch(() => {});
      return rc.message("done");
    });
    expect(result.status).toBe("finished");
    const types = events.map((event) => event.type);
    expect(types.filter((type) => type === "step.ended")).toHaveLength(2);
    expect(types.lastIndexOf("step.ended")).toBeLessThan(types.indexOf("act.ended"));
  });

  test("a fail-fast Promise.all starts nothing new: its other branches are cut at their next step", async () => {
    const called: string[] = [];
    const { result, steps } = await lived(async (rc) => {
      const branch = async (): Promise<void> => {
        for (let i = 0; i < 20; i += 1) await rc.step("branch", i, async () => called.push(`b${i}`));
      };
      await Promise.all([branch(), rc.step("bad", {}, () => Promise.reject(new Error("no")))]);
    });
    expect(result.status).toBe("failed");
    expect(called).toEqual(["b0", "b1"]);
    expect(steps.filter((event) => event.type === "step.ended")).toHaveLength(3);
  });

  test("ActivationSteps.D4 a control error is sticky: once one came, nothing new is asked, and the activation stays open", async () => {
    let called = 0;
    const { events } = await lived(async (rc) => {
      await rc.human.ask("anybody?").catch(() => {});
      await rc.step("after", {}, async () => (called += 1)).catch(() => {});
      return rc.message("never said");
    });
    expect(called).toBe(0);
    expect(events.map((event) => event.type).filter((type) => type.startsWith("act."))).toEqual(["act.started"]);
  });
});
