import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { EffectDoor } from "../../src/role/context.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { ChatModel, ChatOptions } from "../../src/model/chat-model.ts";
import { defineRole } from "../../src/role/role.ts";
import { resourcesOf, workOf } from "./work.ts";

/** For one environment in which one role asks its model once. One that gets by with less lowers these; one that needs more says why. */
const MOST_PROMISES = 100;
/** Options, messages and schemas are checked where they are given. */
const MOST_BLOCKS = 2_200;
const TIMERS = 2;
const MACROTASKS = 1;

const Plan = z.object({ title: z.string(), tags: z.array(z.string()) });
const plan = defineAction({ name: "Plan", output: Plan, prompt: ({ text }) => text });

function modelThatKeeps(given: ChatOptions[]): ChatModel {
  return {
    id: "scripted",
    price: { input: 0, output: 0 },
    streams: false,
    chat: (_request, o) => {
      given.push(o);
      const usage = { inputTokens: 1, outputTokens: 1 };
      return Promise.resolve({ content: '{"title":"x","tags":["a","b"]}', toolCalls: [], finishReason: "stop", usage });
    },
    stream: () => {
      throw new Error("It does not stream.");
    },
  };
}

async function asked(times: number, actions: readonly Action[] = [plan], options: ChatOptions[] = []): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const environment = new Environment({ seed: "scale", model: modelThatKeeps(options) }).addRole(defineRole({ name: "One", actions }));
    environment.publishMessage("go");
    const { status, messages } = await environment.run();
    expect(status).toBe("finished");
    expect(messages).toHaveLength(2);
  }
}

afterEach(() => vi.unstubAllGlobals());

describe("one question to a model in a world of its own", () => {
  it("takes so many promises, timers and macrotasks, and no random bytes", async () => {
    await asked(3);
    const made = await resourcesOf(() => asked(20));
    expect((made.get("PROMISE") ?? 0) / 20).toBeGreaterThan(10);
    expect((made.get("PROMISE") ?? 0) / 20).toBeLessThan(MOST_PROMISES);
    expect((made.get("Timeout") ?? 0) / 20).toBeLessThan(TIMERS + 0.5);
    expect((made.get("Immediate") ?? 0) / 20).toBeLessThan(MACROTASKS + 0.5);
    expect(made.get("RANDOMBYTESREQUEST") ?? 0).toBeLessThan(5);
  });

  it("takes so many blocks of code", async () => {
    await asked(3);
    const blocks = (await workOf(() => asked(50))) / 50;
    expect(blocks).toBeGreaterThan(300);
    expect(blocks).toBeLessThan(MOST_BLOCKS);
  });

  it("makes one controller at most, and joins no signals: each is garbage for long", async () => {
    let controllers = 0;
    const any = vi.spyOn(AbortSignal, "any");
    class Counted extends AbortController {
      constructor() {
        super();
        controllers += 1;
      }
    }
    vi.stubGlobal("AbortController", Counted);
    await asked(10);
    expect(controllers).toBeLessThanOrEqual(10);
    expect(any).not.toHaveBeenCalled();
    any.mockRestore();
  });

  it("gives all models and all effects objects of one shape, whose parts are made when they are read", async () => {
    const options: ChatOptions[] = [];
    await asked(2, [plan], options);
    const doors: EffectDoor[] = [];
    const step = defineAction({
      name: "Step",
      run: (ctx) => ctx.step("look", {}, async (door) => void doors.push(door)).then(() => "seen"),
    });
    await asked(2, [step]);
    expect([options.length, doors.length]).toEqual([2, 2]);
    const getter = (object: object, key: string): unknown => Object.getOwnPropertyDescriptor(object, key)?.get;
    for (const [pair, keys] of [
      [options, ["signal"]],
      [doors, ["key", "signal"]],
    ] as const) {
      for (const key of keys) {
        expect(getter(pair[0] as object, key), key).toBeTypeOf("function");
        expect(getter(pair[0] as object, key), key).toBe(getter(pair[1] as object, key));
      }
    }
  });
});
