import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/kernel/clock.ts";
import {
  CellProcess,
  type CellProcessOptions,
  type ProcessAnswer,
  type WireRequest,
} from "../../../src/research/experiment/cell-process.ts";
import { type CellUse, UseSum } from "../../../src/research/experiment/cell-use.ts";
import type { CellReply } from "../../../src/research/experiment/experiment.ts";
import { simulatedClock } from "../../../src/testing/index.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { ProcessSlot } from "../../../src/research/experiment/process-slot.ts";

const request = {} as WireRequest;
const options: CellProcessOptions = {
  ...{ module: "file:///home/ada/none.mjs", name: "none", plan: "", timeLimit: 1_000, memory: 100, node: process.execPath },
  ...{ clock: systemClock, signal: new AbortController().signal },
};
const fresh: Partial<CellUse> = { calls: 2, microUsd: 30 };
const reply: CellReply = { end: { kind: "failed", use: new UseSum().use, code: "X", message: "its own" }, usesConcurrency: false };
const ended: ProcessAnswer = { kind: "ended", reply };

function gone(why: "died" | "late" | "memory"): ProcessAnswer {
  return { kind: "gone", why, text: `it was ${why}` };
}

/** Lets processes answer so, one list of answers for each process. Returns the processes that were started. */
function answering(...lists: readonly (readonly ProcessAnswer[])[]): { readonly ran: number[]; readonly closed: boolean[] } {
  const started = { ran: [] as number[], closed: [] as boolean[] };
  vi.spyOn(CellProcess, "start").mockImplementation(async () => {
    const place = started.ran.push(0) - 1;
    const answers = [...(lists[place] ?? [])];
    started.closed.push(false);
    return {
      run: async (_request: WireRequest, onUse: (use: Partial<CellUse>) => void): Promise<ProcessAnswer> => {
        started.ran[place] = (started.ran[place] ?? 0) + 1;
        onUse(fresh);
        return answers.shift() ?? gone("died");
      },
      close: () => void (started.closed[place] = true),
    } as CellProcess;
  });
  return started;
}

afterEach(() => void vi.restoreAllMocks());

describe("the processes of one worker", () => {
  it(
    "CellProcess.P1 may take a minute to start where a run may take less, and are given up after it",
    { tags: ["science", "long"] },
    async () => {
      const module = join(scratchFolder(), "loading.mjs");
      writeFileSync(module, "setInterval(() => undefined, 1_000); await new Promise(() => undefined);");
      const clock = simulatedClock();
      const running = new ProcessSlot({ ...options, module: pathToFileURL(module).href, timeLimit: 1, memory: 1_000, clock }, 2).run(
        request,
      );
      let error: unknown;
      running.catch((thrown: unknown) => (error = thrown));
      await vi.waitUntil(() => clock.advance(1_000).then(() => error !== undefined), { timeout: 60_000, interval: 10 });
      expect(error).toMatchObject({
        code: "EXPERIMENT_UNREADABLE",
        message: expect.stringContaining("it took more than 60000 ms, in each of 2"),
      });
    },
  );

  it("ProcessSlot.S1 run cells one after another, until one is gone: the next try has another process", async () => {
    const started = answering([ended, ended, gone("died")], [ended, ended]);
    const slot = new ProcessSlot(options);
    for (let cell = 0; cell < 4; cell += 1) expect((await slot.run(request)).end).toEqual(reply.end);
    expect(started.ran).toEqual([3, 2]);
    slot.close();
    expect(started.closed).toEqual([false, true]);
  });

  it("ProcessSlot.S2 ProcessSlot.S3 are as many as the tries of a cell whose processes die, and what they used is reported", async () => {
    const started = answering();
    const { end } = await new ProcessSlot(options, 4).run(request);
    expect(started.ran).toEqual([1, 1, 1, 1]);
    expect(end).toMatchObject({
      code: "EXPERIMENT_DIED",
      message: expect.stringContaining("it was died"),
      use: { calls: 8, microUsd: 120 },
    });
  });

  it.each(["late", "memory"] as const)("ProcessSlot.S2 ProcessSlot.S3 do not try a cell again whose end was %s", async (why) => {
    const started = answering([gone("died")], [gone(why)]);
    const { end } = await new ProcessSlot(options, 4).run(request);
    expect(started.ran).toEqual([1, 1]);
    expect(end).toMatchObject({ code: `EXPERIMENT_${why.toUpperCase()}`, use: { calls: 4, microUsd: 60 } });
  });

  it("ProcessSlot.S3 tell what the others had used in the reply of the one that ended well", async () => {
    answering([gone("died")], [gone("died")], [ended, ended]);
    const slot = new ProcessSlot(options);
    expect((await slot.run(request)).lost).toMatchObject({ calls: 4, microUsd: 60 });
    expect((await slot.run(request)).lost).toBeUndefined();
  });
});
