import { describe, expect, it } from "vitest";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { EventFrames, frameOf } from "../../src/server/event-frames.ts";
import { all, openDoor, request, served, settled, waiters } from "./served-team.ts";

/** A team that takes as many steps as its idea says. */
function counters(): Team {
  const Count = defineAction({
    name: "Count",
    run: async (ctx) => {
      for (let n = 0; n < Number(ctx.text); n += 1) await ctx.step(`count ${n}`, {}, () => Promise.resolve(n));
      return "done";
    },
  });
  return new Team({ name: "counters", roles: [defineRole({ name: "Cora", actions: [Count] })], journal: memoryJournal() });
}

describe("a run that is removed and begun again under its id", () => {
  it("EventStream.S6 ends the stream of a client that has more events, and stops nothing else", async () => {
    const team = counters();
    const { journal } = team;
    const { server, client } = served({ team });
    await client.start({ idea: "9", id: "r" });
    const before = await all(client.events("r"));
    const response = await server.fetch(request("/api/runs/r/events?follow=true"));
    const whole = response.text();
    await settled();
    await journal.remove("r");
    await client.start({ idea: "1", id: "r" });
    // The stream of the first run is over, with a process that does its other work.
    expect(await whole).toContain(`"events":${before.length}`);
    const after = await all(client.events("r"));
    expect(after.length).toBeLessThan(before.length);
    expect(after[0]).toMatchObject({ type: "run.started" });
    await server.close();
  });

  it("EventFrames.F5 has no frame of the run before", async () => {
    const journal = memoryJournal();
    const { runId } = await waiters(openDoor(), journal).run("hello").result;
    const [first, second] = await all(journal.read(runId, 0));
    if (first === undefined || second === undefined) throw new Error("The run has no events.");
    const frames = new EventFrames(journal);
    frames.watch(runId);
    frames.add(first);
    frames.add(second);
    const again = { ...first, time: first.time + 1 };
    frames.add(again);
    expect([frames.get(runId, 0), frames.get(runId, 1)]).toEqual([frameOf(again), undefined]);
  });
});
