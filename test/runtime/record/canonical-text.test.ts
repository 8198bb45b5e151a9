import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { answering, listener } from "../town.ts";
import { eventsOf } from "../../team/recorded.ts";

async function lived(id: string, idea = createMessage("go")): Promise<RunEvent[]> {
  const journal = memoryJournal();
  const ann = answering("Ann", async (rc) => {
    const [a, b] = await Promise.all([rc.step("a", {}, () => Promise.resolve("A")), rc.step("b", { q: 1 }, () => Promise.resolve("B"))]);
    rc.state["ab"] = `${a}${b}`;
    return rc.message(`${a}${b}`, { sendTo: "Bob" });
  });
  await new Team({ seed: "s", journal, roles: [listener("Bob", { watch: [] }), ann] }).run(idea, { id }).result;
  return eventsOf(journal, id);
}

describe("canonical", () => {
  test("leaves out what two equal runs do not share: run id, times, the random ids of messages from outside", async () => {
    const [one, other] = [await lived("one"), await lived("other")];
    expect(one).not.toEqual(other);
    expect(canonical(one)).toBe(canonical(other));
    expect(canonical(one)).not.toContain('"one"');
    expect(canonical(one)).toContain('"outside#1"');
  });

  test("does not care about the order in which steps and roles of one round were recorded", async () => {
    const events = await lived("r");
    const swapped = [...events];
    const first = swapped.findIndex((event) => event.type === "step.ended");
    [swapped[first], swapped[first + 1]] = [swapped[first + 1] as RunEvent, swapped[first] as RunEvent];
    expect(swapped[first]?.type).toBe("step.ended");
    expect(canonical(swapped)).toBe(canonical(events));
  });

  test("tells apart what differs: a word, an answer, a request, a state, a recipient", async () => {
    const events = await lived("r");
    const text = canonical(events);
    const twisted: [string, string][] = [
      ['"content":"AB"', '"content":"AX"'],
      ['"value":"A"', '"value":"X"'],
      ['"q":1', '"q":2'],
      ['"ab":"AB"', '"ab":"XX"'],
      ['"to":["Bob"]', '"to":[]'],
    ];
    for (const [from, to] of twisted) {
      const json = JSON.stringify(events);
      expect(json).toContain(from);
      expect(canonical(JSON.parse(json.replace(from, to)) as RunEvent[])).not.toBe(text);
    }
  });

  test("is lines of JSON, from the start to the end of the run", async () => {
    const lines = canonical(await lived("r"))
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map((line) => line.type)).toEqual(["run.started", "message", "step", "step", "act.ended", "act.ended", "run.ended"]);
    expect(lines.at(-1)).toEqual({ type: "run.ended", status: "finished" });
  });

  test("shows a run that has not ended as open, with the steps it has", async () => {
    const events = await lived("r");
    const cut = events.slice(0, events.findIndex((event) => event.type === "step.ended") + 1);
    const lines = canonical(cut)
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; name?: string; ok?: boolean });
    expect(lines.at(-1)).toEqual({ type: "open" });
    expect(lines.filter((line) => line.type === "step").map(({ name, ok }) => [name, ok])).toEqual([
      ["a", true],
      ["b", undefined],
    ]);
  });
});
