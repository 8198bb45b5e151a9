import { describe, expect, it } from "vitest";
import { Brain, MessagesMemory, type Mind, Net, type NetState } from "../../src/agent/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { countedSignal } from "../kernel/counted-signal.ts";

/** A brain with one state, which goes on for ever unless it says otherwise. */
function brainOf(run: NetState["run"], nextState: NetState["nextState"] = () => Promise.resolve("only")): Brain {
  return new Brain({
    model: scriptedModel([]),
    maxSteps: 5,
    net: new Net({ name: "one", start: "only", states: { only: { run, nextState } } }),
  });
}

describe("a run of a brain", () => {
  it("BrainRun.R1 does nothing before it is asked for a piece, and nothing further until it is asked again", async () => {
    const { controller, listeners } = countedSignal();
    const did: string[] = [];
    const brain = brainOf(async function* () {
      did.push("began");
      yield "a";
      did.push("went on");
      yield "b";
    });
    const pieces = brain.run(new MessagesMemory(), { signal: controller.signal, tell: ({ type }) => did.push(type) });
    await nextMacrotask();
    expect([did, listeners()]).toEqual([[], 0]);
    expect(await pieces.next()).toEqual({ done: false, value: "a" });
    await nextMacrotask();
    expect(did).toEqual(["step.started", "began"]);
    expect((await pieces.next()).value).toBe("b");
    expect(did).toEqual(["step.started", "began", "went on"]);
  });

  it("ends what a state has begun when whoever reads leaves, and says so by the signal of the run", async () => {
    let seen: AbortSignal | undefined;
    let isLeft = false;
    const brain = brainOf(async function* (_memory, mind: Mind) {
      seen = mind.signal;
      try {
        yield "a";
        yield "b";
      } finally {
        isLeft = true;
      }
    });
    for await (const piece of brain.run(new MessagesMemory())) if (piece === "a") break;
    await nextMacrotask();
    expect([isLeft, seen?.aborted]).toEqual([true, true]);
  });

  const owing = ["a piece", "an end", "an error", "the next state"].flatMap((what) => [
    { what, how: "through" as const },
    { what, how: "pieces" as const },
  ]);
  it.each(owing)(
    "BrainRun.R2 lets go when it is stopped while a state owes it $what, whose coming changes nothing ($how)",
    async ({ what, how }) => {
      const stop = new AbortController();
      const told: string[] = [];
      let come = (): void => {};
      let returned = 0;
      const owed = new Promise<void>((resolve) => {
        come = resolve;
      });
      const memory = new MessagesMemory();
      const state = async (): Promise<IteratorResult<string>> => {
        if (what !== "the next state") await owed;
        if (what === "an error") throw new Error("too late");
        return what === "a piece" ? { done: false, value: "late" } : { done: true, value: undefined };
      };
      const brain = brainOf(
        () => ({
          [Symbol.asyncIterator]: () => ({
            next: state,
            return: () => {
              returned++;
              return Promise.resolve({ done: true as const, value: undefined });
            },
          }),
        }),
        async () => {
          told.push("asked for the next state");
          await owed;
          return "only";
        },
      );
      const run = brain.begin(memory, { signal: stop.signal, tell: ({ type }) => told.push(type) });
      const ended = how === "through" ? run.through((text) => told.push(text)) : run.pieces.next();
      await nextMacrotask();
      const before = [...told];
      stop.abort();
      await expect(ended).rejects.toMatchObject({ code: "ABORTED" });
      come();
      await nextMacrotask();
      expect(told).toEqual(before);
      expect(memory.chat.messages).toEqual([]);
      expect(returned).toBe(what === "the next state" ? 0 : 1);
    },
  );
});
