import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/action/context.ts";
import { randomStream } from "../../src/kernel/random.ts";
import type { StepDoor } from "../../src/kernel/step.ts";
import { canonical } from "../../src/run/canonical.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../environment/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { Deck } from "./deck.ts";

const PIPELINES = 8;
const STAGES = 3;

/** Eight pipelines of three steps each, side by side, in one activation; every third step asks one inside. */
function pipelines(deck: Deck, ran: string[]): (rc: RoleContext) => Promise<void> {
  const effect = (name: string) => async (door: StepDoor) => {
    ran.push(name);
    await deck.wait();
    if (name.endsWith("1")) await door.step({ kind: "step", name: `in ${name}`, request: {} }, () => deck.wait());
    return name;
  };
  return async (rc) => {
    const order: string[] = [];
    const pipeline = async (p: number): Promise<void> => {
      for (let stage = 0; stage < STAGES; stage += 1) order.push(await rc.step(`p${p}.${stage}`, {}, effect(`p${p}.${stage}`)));
    };
    await Promise.all(Array.from({ length: PIPELINES }, (_, p) => pipeline(p)));
    rc.state["order"] = order;
  };
}

async function lived(luck: number): Promise<RunEvent[]> {
  const deck = new Deck(randomStream("pipelines", luck));
  const journal = memoryJournal();
  const team = new Team({ seed: "s", journal, roles: [answering("Ann", pipelines(deck, []))] });
  expect((await deck.until(team.run("go", { id: "r" }).result)).status).toBe("finished");
  return eventsOf(journal, "r");
}

function asked(events: readonly RunEvent[]): string[] {
  const started = events.filter((event) => event.type === "step.started" && event.in === undefined);
  return started.map((event) => (event.type === "step.started" ? `${event.asked} ${event.name}` : ""));
}

function finished(events: readonly RunEvent[]): string {
  return events.flatMap((event) => (event.type === "step.ended" ? [JSON.stringify(event.value)] : [])).join();
}

describe("D2 eight pipelines side by side", () => {
  test("ask in the same order in all repetitions, although they are answered in another each time", async () => {
    const runs: RunEvent[][] = [];
    for (let luck = 0; luck < 12; luck += 1) runs.push(await lived(luck));
    const orders = new Set(runs.map((events) => asked(events).join()));
    expect(orders.size).toBe(1);
    expect([...orders][0]?.split(",")).toHaveLength(PIPELINES * STAGES);
    expect(new Set(runs.map(finished)).size).toBeGreaterThan(6);
    expect(new Set(runs.map(canonical)).size).toBe(1);
  });

  test("cut anywhere they go on without asking anything a second time, and end alike", async () => {
    const whole = await lived(0);
    for (let length = 2; length < whole.length; length += 3) {
      const prefix = whole.slice(0, length);
      const deck = new Deck(randomStream("again", length));
      const ran: string[] = [];
      const journal = await journalWith("r", prefix);
      const team = new Team({ seed: "s", journal, roles: [answering("Ann", pipelines(deck, ran))] });
      expect((await deck.until(team.resume("r").result)).status).toBe("finished");
      expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(whole));
      const answered = prefix.filter((event) => event.type === "step.ended" && JSON.stringify(event.value).startsWith('"p')).length;
      expect(ran.length).toBe(PIPELINES * STAGES - answered);
    }
  });
});
