import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { AbortedError, ModelError } from "../../src/kernel/errors.ts";
import { usd } from "../../src/model/money.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf } from "../team/recorded.ts";

const never = (): Promise<never> => new Promise(() => {});

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await nextMacrotask();
}

describe("a run that is stopped", () => {
  test("while an effect waits that knows nothing of signals: it ends at once", async () => {
    const run = new Team({ roles: [answering("Ann", async (rc) => void (await rc.step("deaf", {}, never)))] }).run("go");
    await settled();
    run.stop();
    expect((await run.result).status).toBe("stopped");
  });

  test("while an action waits for something that is no step at all", async () => {
    const run = new Team({ roles: [answering("Ann", never)] }).run("go");
    await settled();
    run.stop();
    expect((await run.result).status).toBe("stopped");
  });

  test("from within an effect", async () => {
    const journal = memoryJournal();
    const run: Run = new Team({ journal, roles: [answering("Ann", (rc) => rc.step("s", {}, async () => run.stop()))] }).run("go", {
      id: "r",
    });
    expect((await run.result).status).toBe("stopped");
    expect((await eventsOf(journal, "r")).some((event) => event.type === "act.ended" || event.type === "act.failed")).toBe(false);
  });

  test("by a listener of its very first event", async () => {
    const run: Run = new Team({ roles: [answering("Ann", (rc) => rc.message("said?"))] }).run("go");
    run.on("run.started", () => run.stop());
    const result = await run.result;
    expect(result.status).toBe("stopped");
    expect(contents(result.messages)).toEqual(["go"]);
  });

  test("while an activation only waits for steps that nobody awaits: it stays open, and goes on", async () => {
    const journal = memoryJournal();
    let answer: (() => Promise<unknown>) | undefined = never;
    const ann = answering("Ann", (rc) => {
      void rc.step("forgotten", {}, () => answer?.() ?? Promise.resolve(1));
      return rc.message("done");
    });
    const team = new Team({ journal, roles: [ann] });
    const run = team.run("go", { id: "r" });
    await settled();
    run.stop();
    expect(contents((await run.result).messages)).toEqual(["go"]);
    answer = undefined;
    expect(contents((await team.resume("r").result).messages)).toEqual(["go", "done"]);
  });

  test("between an attempt that failed and the next: the next is lived when the run goes on", async () => {
    const journal = memoryJournal();
    let attempts = 0;
    const ann = answering("Ann", async (rc) => {
      attempts += 1;
      if (attempts === 1) throw new Error("once");
      await rc.step("s", {}, () => Promise.resolve(1));
      return rc.message(`attempt ${attempts}`);
    });
    const team = new Team({ journal, roles: [ann], onFailure: retry(3) });
    const run = team.run("go", { id: "r" });
    run.on("act.failed", () => run.stop());
    expect((await run.result).status).toBe("stopped");
    const result = await team.resume("r").result;
    expect(result.status).toBe("finished");
    const attemptsRecorded = (await eventsOf(journal, "r")).flatMap((event) => (event.type === "act.ended" ? [event.act] : []));
    expect(attemptsRecorded).toEqual(["Ann#0~2"]);
  });

  test("while calls wait for money: nobody is charged for a call that was never made", async () => {
    const model = scriptedModel(never, { price: { input: 0, output: 10 } });
    const dear = (name: string) => answering(name, async (rc) => void (await rc.ask("?", { maxTokens: 60_000 })));
    const run = new Team({ roles: ["a", "b", "c"].map(dear), model, budget: usd(1) }).run("go");
    await settled();
    expect(model.calls).toHaveLength(1);
    run.stop();
    const result = await run.result;
    expect(result.status).toBe("stopped");
    expect(result.cost.known).toBe(600_000);
    expect(model.calls).toHaveLength(1);
  });

  test("a thousand times at any moment: what goes on ends as if nothing had been", async () => {
    for (let moment = 0; moment < 40; moment += 1) {
      const journal = memoryJournal();
      const called: string[] = [];
      const ann = answering("Ann", async (rc) => {
        for (const name of ["a", "b", "c"]) await rc.step(name, {}, async () => called.push(name));
        return rc.message("x", { sendTo: "Bob" });
      });
      const team = new Team({ seed: "s", journal, roles: [ann, listener("Bob", { watch: [] })] });
      const run = team.run("go", { id: "r" });
      for (let i = 0; i < moment; i += 1) await (moment % 2 === 0 ? nextMacrotask() : Promise.resolve());
      run.stop();
      await run.result;
      const result = await team.run("go", { id: "r" }).result;
      expect(contents(result.messages)).toEqual(["go", "x"]);
      const repeated = called.length - new Set(called).size;
      expect(repeated).toBeLessThanOrEqual(1);
    }
  });
});

describe("code that catches control errors", () => {
  test("a stop that is swallowed does not become an answer", async () => {
    const journal = memoryJournal();
    const run: Run = new Team({
      journal,
      roles: [
        answering("Ann", async (rc) => {
          const answer = await rc.step("deaf", {}, never).catch(() => "made up");
          rc.state["answer"] = answer;
          return rc.message(String(answer));
        }),
      ],
    }).run("go", { id: "r" });
    await settled();
    run.stop();
    expect(contents((await run.result).messages)).toEqual(["go"]);
    expect((await eventsOf(journal, "r")).map((event) => event.type)).not.toContain("act.ended");
  });

  test("an action that throws an interruption of its own making suspends, and fails nobody", async () => {
    const ann = answering("Ann", () => {
      throw new AbortedError("I stop myself");
    });
    const result = await new Team({ roles: [ann, answering("Bob", (rc) => rc.message("fine"))] }).run("go").result;
    expect(result).toMatchObject({ status: "stopped", error: { code: "ABORTED" } });
    expect(contents(result.messages)).toEqual(["go", "fine"]);
  });

  test("a model's error that is swallowed is no failure of the run", async () => {
    const model = scriptedModel([new ModelError("MODEL_REFUSED", "no")]);
    const ann = answering("Ann", async (rc) => rc.message(await rc.ask("?").catch((error: unknown) => (error as ModelError).code)));
    expect((await new Team({ roles: [ann], model }).run("go").result).output?.content).toBe("MODEL_REFUSED");
  });
});

describe("an answer that comes too late", () => {
  test("after the stop: nothing of it is recorded", async () => {
    const journal = memoryJournal();
    let answer: (text: string) => void = () => {};
    const late = new Promise<string>((resolve) => (answer = resolve));
    const run = new Team({ journal, roles: [answering("Ann", async (rc) => void (await rc.step("late", {}, () => late)))] }).run("go", {
      id: "r",
    });
    await settled();
    run.stop();
    await run.result;
    const before = await eventsOf(journal, "r");
    answer("too late");
    await settled();
    expect(await eventsOf(journal, "r")).toEqual(before);
  });
});
