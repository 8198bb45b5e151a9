import { describe, expect, test } from "vitest";
import type { EffectDoor, RoleContext } from "../../../src/role/context.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import { goneOn, lived } from "../one-role.ts";
import { answering, town } from "../town.ts";

describe("the door that an effect is given", () => {
  test("asks the model inside its step, which is skipped with its question when its answer is recorded", async () => {
    const effect = async (door: EffectDoor): Promise<string> => `the model says ${await door.ask("Really?", { system: "Be short." })}`;
    const react = async (rc: RoleContext) => rc.message(await rc.step("outer", {}, effect));
    const model = scriptedModel(["yes"]);
    const { events, steps, result } = await lived(react, { model });
    expect(result.output?.content).toBe("the model says yes");
    expect(model.calls[0]?.messages.map(({ content }) => content)).toEqual([expect.stringContaining("Be short."), "Really?"]);
    const [outer, inner] = steps.filter((event) => event.type === "step.started");
    expect([outer, inner]).toMatchObject([{ name: "outer" }, { kind: "model", in: outer?.key }]);
    const cut = events.findIndex((event) => event.type === "act.ended");
    expect((await goneOn(react, events.slice(0, cut))).output?.content).toBe("the model says yes");
  });

  test("with nobody to ask the run waits, and what the step had asked before is not asked again", async () => {
    const model = scriptedModel(["yes"]);
    const asks = answering("Ann", async (rc) => {
      const said = await rc.step("outer", {}, async (door) => `${await door.ask("Really?")} ${await door.human.ask("Ship it?")}`);
      return rc.message(said);
    });
    const environment = town([asks], { model });
    environment.publishMessage("go");
    for (let times = 0; times < 2; times += 1) {
      expect(await environment.run()).toMatchObject({ status: "waiting", error: { data: { question: "Ship it?", role: "Ann" } } });
    }
    expect(model.calls).toHaveLength(1);
  });
});

describe("Asking.N1 Nesting.N1 an effect that asks through the outer context", () => {
  test.each<[string, (rc: RoleContext) => Promise<unknown>]>([
    ["step", (rc) => rc.step("inner", {}, () => Promise.resolve("never"))],
    ["ask", (rc) => rc.ask("Really?")],
    ["human.ask", (rc) => rc.human.ask("Really?")],
  ])("%s is refused at once, with the way that works, and no time passes", async (method, ask) => {
    const clock = simulatedClock();
    const environment = town([answering("Ann", async (rc) => void (await rc.step("outer", {}, () => ask(rc))))], {
      clock,
      model: scriptedModel(["never"]),
      human: () => "never",
    });
    environment.publishMessage("go");
    const before = clock.now();
    const { status, error } = await environment.run();
    expect([status, error?.code, clock.now() - before]).toEqual(["failed", "STEP_NESTED", 0]);
    expect(error?.message).toContain(`door.${method}(`);
  });

  test("a body may ask while an effect is under way, and after it", async () => {
    const ann = answering("Ann", async (rc) => {
      let begun = (): void => {};
      const beginning = new Promise<void>((resolve) => (begun = resolve));
      const first = rc.step("a", {}, (door) => {
        begun();
        return door.step({ kind: "step", name: "in a", request: {} }, () => Promise.resolve("a"));
      });
      await beginning;
      const parts = await Promise.all([first, rc.ask("b?"), rc.step("c", {}, () => Promise.resolve("c"))]);
      return rc.message([...parts, await rc.human.ask("d?")].join());
    });
    const environment = town([ann], { model: scriptedModel(["b"]), human: () => "d" });
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("a,b,c,d");
  });

  test("Nesting.N2 one that asks after it has waited is ended by the limit on its time", async () => {
    const clock = simulatedClock();
    const late = answering(
      "Ann",
      async (rc) => {
        await rc.step("outer", {}, async () => {
          await Promise.resolve();
          return rc.ask("Really?");
        });
      },
      { timeout: 5000 },
    );
    const environment = town([late], { clock, model: scriptedModel(["never"]) });
    environment.publishMessage("go");
    const ended = environment.run();
    await clock.advance(5000);
    const { error } = await ended;
    expect(error).toMatchObject({ code: "TIMEOUT" });
    expect(error?.message).toContain("step port");
  });
});
