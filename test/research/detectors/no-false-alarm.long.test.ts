// @module-tag science
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { failuresIn } from "../../../src/research/index.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { Announcer } from "../../../src/runtime/observers.ts";

const examples = readdirSync(new URL("../../../examples/", import.meta.url))
  // The example of failures has some.
  .filter((file) => file.endsWith(".ts") && file !== "32-failures.ts")
  .map((file) => file.slice(0, -3));

/** The logs of all runs of an example, from their first event. */
async function logsOf(example: string): Promise<readonly (readonly RunEvent[])[]> {
  const logs = new Map<Announcer, RunEvent[]>();
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(Announcer.prototype, "observes").mockReturnValue(true);
  const { observe } = Announcer.prototype;
  vi.spyOn(Announcer.prototype, "observe").mockImplementation(function (this: Announcer, event, taken) {
    const log = logs.get(this) ?? [];
    log.push(event);
    logs.set(this, log);
    observe.call(this, event, taken);
  });
  await import(`../../../examples/${example}.ts`);
  vi.restoreAllMocks();
  return [...logs.values()].filter(([first]) => first?.seq === 0);
}

it.each(examples)("%s has no failure of coordination", async (example) => {
  const logs = await logsOf(example);
  const found = logs.flatMap((log) => failuresIn(log));
  expect(found.map(({ text }) => text)).toEqual([]);
});
