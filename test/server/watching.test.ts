import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import {
  type Clock,
  defineAction,
  defineRole,
  JournalError,
  memoryJournal,
  type RunEvent,
  type RunNotice,
  Team,
  TimeoutError,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { EventStream } from "../../src/server/event-stream.ts";
import { type RecordWatch, RunFeeds } from "../../src/server/run-feed.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { tries } from "../long.ts";
import { all, atOnce, door, openDoor, request, served, settled, shouters, waiters } from "./served-team.ts";

/** A team that says as many words as its idea says. */
function counters(): Team {
  const Count = defineAction({
    name: "Count",
    run: async (ctx) => {
      for (let n = 0; n < Number(ctx.text); n += 1) await ctx.step(`count ${n}`, {}, () => Promise.resolve("n".repeat(n)));
      return "done";
    },
  });
  return new Team({ name: "counters", roles: [defineRole({ name: "Cora", actions: [Count] })] });
}

/** Cuts the body of every answer after some bytes. */
function cutting(fetch: (request: Request) => Promise<Response>, cuts: readonly number[]): (request: Request) => Promise<Response> {
  const left = [...cuts];
  return async (asked) => {
    const response = await fetch(asked);
    const cut = left.shift();
    if (cut === undefined || response.body === null) return response;
    const reader = response.body.getReader();
    let bytes = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(sink) {
        const { done, value } = await reader.read();
        if (done) return sink.close();
        const part = value.subarray(0, cut - bytes);
        bytes += part.length;
        if (part.length > 0) sink.enqueue(part);
        if (bytes < cut) return;
        await reader.cancel();
        sink.error(new TypeError("The connection was cut."));
      },
      cancel: () => reader.cancel(),
    });
    return new Response(body, response);
  };
}

const seqs = (events: readonly RunEvent[]): readonly number[] => events.map(({ seq }) => seq);

describe("a watcher of a run", () => {
  it("RunClient.C1 EventStream.S1 loses and doubles no event, wherever the connection is cut", { tags: "numbers" }, async () => {
    const { server, client } = served({ team: counters() });
    const { id } = await client.start({ idea: "30" });
    const whole = await all(client.events(id));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 6 }), async (cuts) => {
        const flaky = createClient({ url: "http://localhost", fetch: cutting(server.fetch, cuts), clock: atOnce });
        expect(await all(flaky.events(id))).toEqual(whole);
      }),
      { numRuns: tries(8, 300) },
    );
  });

  it("EventStream.S4 hears the end only when the run is at rest, and goes on behind the last event it had", async () => {
    const gate = door();
    const { server, client } = served({ team: waiters(gate) });
    const { id } = await client.start({ idea: "slow" });
    const watched = all(client.events(id));
    gate.open();
    const events = await watched;
    expect(events.at(-1)).toMatchObject({ type: "run.ended" });
    expect(seqs(await all(client.events(id, { from: 3 })))).toEqual(seqs(events).slice(3));
    const asked = request(`/api/runs/${id}/events`, { headers: { "last-event-id": String(events.length - 1) } });
    expect(await (await server.fetch(asked)).text()).toBe(`event: end\ndata: {"status":"finished","events":${events.length}}\n\n`);
    expect((await server.fetch(request(`/api/runs/${id}/events`, { headers: { "last-event-id": "x" } }))).status).toBe(400);
  });

  it("EventStream.S6 hears no more of a run that is removed and begun again under its id", async () => {
    const team = counters();
    const { server, client } = served({ team });
    await client.start({ idea: "9", id: "r" });
    const before = await all(client.events("r"));
    const whole = (await server.fetch(request("/api/runs/r/events?follow=true"))).text();
    await settled();
    await team.journal.remove("r");
    await client.start({ idea: "1", id: "r" });
    expect(await whole).toContain(`"events":${before.length}`);
    const after = await all(client.events("r"));
    expect([after.length < before.length, after[0]?.type]).toEqual([true, "run.started"]);
  });

  it("tries again after a long sleep, asks a server that cuts every connection less and less often, and gives up in time", async () => {
    const { server, client } = served({ team: shouters() });
    const { id } = await client.start({ idea: "go" });
    const whole = await all(client.events(id));
    let now = 0;
    const pauses: number[] = [];
    const clock: Clock = {
      now: () => now,
      timer: (ms, fire) => {
        if (ms === 45_000) return () => undefined;
        pauses.push(ms);
        now += ms;
        queueMicrotask(fire);
        return () => undefined;
      },
    };
    let lost = 0;
    const asleep = async (asked: Request): Promise<Response> => {
      lost += 1;
      if (lost > 1) return server.fetch(asked);
      now += 3_600_000;
      throw new TypeError("The connection was lost.");
    };
    expect(await all(createClient({ url: "http://localhost", fetch: asleep, clock }).events(id))).toEqual(whole);
    pauses.length = 0;
    let answers = 0;
    const cut = (): Promise<Response> => {
      answers += 1;
      return answers > 6 ? Promise.reject(new TypeError("The server is gone.")) : Promise.resolve(new Response(""));
    };
    await expect(all(createClient({ url: "http://localhost", fetch: cut, clock }).events(id))).rejects.toBeInstanceOf(TimeoutError);
    expect(pauses.slice(0, 6)).toEqual([100, 200, 400, 800, 1_600, 3_200]);
  });

  it("EventStream.S5 is told why a record cannot be read, after the events before", async () => {
    const journal = memoryJournal();
    const { read } = journal;
    journal.read = async function* (runId, from) {
      for await (const event of read.call(journal, runId, from)) {
        if (event.seq === 2) throw new JournalError("EVENT_NEWER", "Expected events of version 1, got version 2.");
        yield event;
      }
    };
    const team = shouters(journal);
    await team.run("hello", { id: "r" }).result;
    const { client } = served({ team });
    const seen: number[] = [];
    const watching = (async (): Promise<void> => {
      for await (const { seq } of client.events("r")) seen.push(seq);
    })();
    await expect(watching).rejects.toMatchObject({ code: "EVENT_NEWER", message: expect.stringContaining("version 2") as string });
    expect(seen).toEqual([0, 1]);
  });

  it("RunFeeds.F3 has a message, and a role that comes and goes, in a run at rest at once", async () => {
    // The clock stands still, so no heartbeat looks at the record.
    const { client } = served({ team: waiters(openDoor()), clock: simulatedClock() });
    const { id } = await client.start({ idea: "one" });
    const [stop, rest] = [new AbortController(), door()];
    let last = "";
    const watching = (async (): Promise<void> => {
      const onState = ({ status }: { readonly status?: string }): void => (status === undefined ? undefined : rest.open());
      for await (const { type } of client.events(id, { follow: true, signal: stop.signal, onState })) last = type;
    })();
    await rest.passed;
    for (const [change, type] of [
      [() => client.publish(id, "two"), "message"],
      [() => client.hire(id, "Wanda"), "role.hired"],
      [() => client.takeRole(id, "Wanda"), "role.taken"],
      [() => client.retire(id, "Wanda"), "role.retired"],
    ] as const) {
      // The stream waits.
      await settled();
      await change();
      await expect.poll(() => last, { timeout: 60_000 }).toBe(type);
    }
    stop.abort();
    await expect(watching).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("gets a heartbeat every 15 seconds while nothing happens", async () => {
    const clock = simulatedClock();
    const { server, client } = served({ team: waiters(openDoor()), clock });
    const { id } = await client.start({ idea: "one" });
    await all(client.events(id));
    const { body } = await server.fetch(request(`/api/runs/${id}/events?follow=true`));
    let text = "";
    const reading = (async (): Promise<void> => {
      for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) text += part;
    })();
    const beats = (): number => text.split(": still here").length - 1;
    await settled();
    for (const [ms, expected] of [
      [14_999, 0],
      [1, 1],
      [15_000, 2],
    ] as const) {
      await clock.advance(ms);
      await settled();
      expect(beats()).toBe(expected);
    }
    await server.close();
    await reading;
  });

  it("EventStream.S2 RunFeeds.F1 costs the server one piece while it does not read", async () => {
    const gate = door();
    const { server, client } = served({ team: waiters(gate) });
    const { id } = await client.start({ idea: "x".repeat(500_000) });
    const response = await server.fetch(request(`/api/runs/${id}/events`));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const sizes: number[] = [];
    for (;;) {
      const { value } = await reader.read();
      sizes.push(value?.length ?? 0);
      if (sizes.reduce((sum, size) => sum + size, 0) > 500_000) break;
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
    await reader.cancel();
    gate.open();
  });

  it("EventStream.S3 hears no notice before an event that comes before it", async () => {
    const record: RunEvent[] = [];
    const feeds = new RunFeeds(
      {
        ...memoryJournal(),
        read: (_id, from) =>
          (async function* () {
            yield* record.slice(from);
          })(),
      },
      unwatched,
    );
    let notify: ((notice: RunNotice) => void) | undefined;
    feeds.driven("r", {
      on: (type, listener) => {
        if (type === "role.idle") notify = listener;
        return () => undefined;
      },
    });
    const stream = new EventStream(
      { runId: "r", from: 0, follows: true, wantsNotices: true },
      { feeds, clock: systemClock, runs: { summaries: { standing: () => Promise.reject(new Error("driven")) }, isClosing: false } },
      () => undefined,
    );
    const reader = stream.body.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    const first = next();
    await new Promise((resolve) => setImmediate(resolve));
    notify?.({ type: "role.idle", role: "before" } as RunNotice);
    record.push({ runId: "r", seq: 0, type: "run.started" } as RunEvent);
    feeds.changed("r");
    notify?.({ type: "role.idle", role: "after" } as RunNotice);
    expect(await first).toContain("before");
    expect(await first).not.toContain("after");
    expect(await next()).toContain("run.started");
    await reader.cancel();
  });

  it("RunFeeds.F2 RunFeeds.F5 shares what others read at once, and keeps nothing", async () => {
    const journal = memoryJournal();
    const { runId } = await shouters(journal).run("x".repeat(50_000)).result;
    const events = await all(journal.read(runId, 0));
    let reads = 0;
    const counting = { ...journal, read: (id: string, from: number) => ((reads += 1), journal.read(id, from)) } as Journal;
    const feeds = new RunFeeds(counting, unwatched);
    const [one, other] = await Promise.all([feeds.next(runId, 0), feeds.next(runId, 0)]);
    expect([one, reads]).toEqual([other, 1]);
    expect(one.length).toBeLessThan(events.length);
    expect(await feeds.next(runId, events.length)).toEqual([]);
    const [begun, grown] = [feeds.next(runId, 0), (feeds.changed(runId), feeds.next(runId, 0))];
    expect([await begun, await grown, reads]).toEqual([one, one, 4]);
  });

  it.each([
    ["that can watch", true],
    ["that is asked every second", false],
  ])("RunFeeds.F3 RunFeeds.F4 hears of what another process does in a run at rest, from a journal %s", async (_journal, canWatch) => {
    const journal = memoryJournal();
    const { runId } = await shouters(journal).run("hello").result;
    let watches = 0;
    const own = journal.watch?.bind(journal);
    const watch: Journal["watch"] = async function* (id, o) {
      watches += 1;
      yield* own?.(id, o) ?? [];
      watches -= 1;
    };
    Object.assign(journal, { watch: canWatch ? watch : undefined });
    const ticks = new Set<() => void>();
    const clock: Clock = {
      now: () => 0,
      timer: (ms, fire) => {
        if (ms === 1_000) ticks.add(fire);
        if (ms === 100) queueMicrotask(fire);
        return () => ticks.delete(fire);
      },
    };
    const { client } = served({ team: shouters(journal), clock, recover: false });
    const [stop, heard] = [new AbortController(), [] as string[]];
    const { signal } = stop;
    const rested = door();
    const onState = ({ status }: { readonly status?: string }): void => void (status === "finished" && rested.open());
    const following = (async (): Promise<void> => {
      for await (const event of client.events(runId, { follow: true, signal, onState })) heard.push(event.type);
    })().catch(() => undefined);
    await rested.passed;
    expect(watches).toBe(canWatch ? 1 : 0);
    await shouters(journal).send(runId, "again");
    await settled();
    for (const tick of ticks) {
      ticks.delete(tick);
      tick();
    }
    await settled();
    expect(heard.at(-1)).toBe("message");
    stop.abort();
    await following;
    await settled();
    expect([watches, ticks.size]).toEqual([0, 0]);
  });
});

const unwatched: RecordWatch = () => () => undefined;
