import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run of 100 roles that wait for 150 times and signals, over 100 days of a simulated clock, by real processes on a real disk.
 */

const CHILD = fileURLToPath(new URL("waits-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of each process until its death: some die at their first, some at their fortieth. */
const DEATHS = Array.from({ length: 20 }, (_, nth) => 1 + ((nth * 17) % 40));

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;

function only<T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type);
}

function count<T>(all: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

test("waits of days come to their end once each, through 20 kills", { tags: ["kill", "long"], timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(scratch, "waits-"));
  const [store, time] = [join(folder, "runs.db"), join(folder, "time")];
  writeFileSync(time, "0");
  let killed = 0;
  for (const killAt of DEATHS) if ((await start({ store, time, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
  const { stdout, stderr } = await start({ store, time }, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  expect([JSON.parse(stdout), killed]).toEqual([{ status: "finished" }, DEATHS.length]);

  const journal = sqlite({ path: store });
  const events = await eventsOf(journal, "r");
  await journal.close();
  const starts = new Map(only(events, "step.started").map((event) => [`${event.act} ${event.key}`, event]));
  const waits = only(events, "step.ended").filter(
    (event) => starts.get(`${event.act} ${event.key}`)?.name === "wait" && event.retry !== true,
  );
  expect(waits).toHaveLength(150);
  expect(new Set(count(waits.map(({ act, key }) => `${act} ${key}`)).values())).toEqual(new Set([1]));
  // No sleep ends before its time, and no wait for a signal ends by time.
  for (const { act, key, value, at, byDeadline } of waits) {
    const { deadline = 0, request } = starts.get(`${act} ${key}`) ?? {};
    const isSleep = (request as { readonly wait?: string }).wait === "";
    expect([byDeadline ?? false, value === null, !isSleep || at >= deadline]).toEqual([isSleep, isSleep, true]);
  }
  const taken = waits.flatMap(({ value }) => (value as { readonly signal?: string } | null)?.signal ?? []);
  const sent = only(events, "message").flatMap(({ message }) => (message.id.startsWith("signal-") ? [message.id] : []));
  expect(new Set(taken)).toEqual(new Set(Array.from({ length: 100 }, (_, nth) => `signal-${nth}`)));
  expect([taken.length, sent.length, new Set(sent).size]).toEqual([100, 100, 100]);
  const said = only(events, "act.ended").flatMap(({ said: messages }) => messages.map(({ message }) => message.content));
  expect(new Set(said)).toEqual(new Set(Array.from({ length: 100 }, (_, nth) => `${nth}: "value ${nth}"`)));
  expect(said).toHaveLength(100);
  figure(`killed ${killed} processes of 150 waits; ${events.length} events`);
});
