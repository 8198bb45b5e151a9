import fc from "fast-check";
import { parseEvent } from "../../../src/runtime/record/parse-event.ts";
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { apply, fold } from "../../../src/runtime/record/apply.ts";
import type { HiredRole, RunEvent, RunEventBody } from "../../../src/runtime/record/event.ts";
import { playerOf, type RunState } from "../../../src/runtime/record/run-state.ts";
import { continuesFrom, restored, snapshotOf, STATE_VERSION } from "../../../src/runtime/snapshot/snapshot.ts";
import { textHash } from "../../../src/kernel/json.ts";
import { formOf } from "../../../src/runtime/record/state-form.ts";
import { tries } from "../../long.ts";
import { eventsOfRun, runSketch } from "../../inspector/view/random-runs.ts";
import { stateText } from "../state-text.ts";

function hired(name: string): HiredRole {
  return { name, fingerprint: name, traits: {}, state: {} };
}

function recorded(bodies: readonly RunEventBody[]): readonly RunEvent[] {
  return bodies.map((body, seq): RunEvent => ({ v: 1, runId: "r", seq, time: 1, ...body }));
}

/** The state as a journal on disk gives it back, and the events after it applied. */
function reopened(state: RunState, last: RunEvent, rest: readonly RunEvent[]): RunState | undefined {
  const found = restored(state.runId, snapshotOf(state, last));
  if (found === undefined || !continuesFrom(found, last)) return undefined;
  for (const event of rest) apply(found.state, event);
  return found.state;
}

describe("a snapshot", () => {
  test("of a recorded run is as this version writes it, and restores the fold: a change of either needs a new STATE_VERSION", async () => {
    const lines = readFileSync(new URL("record.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const events = lines.map((line) => parseEvent(JSON.parse(line)));
    const form = JSON.stringify(formOf(fold(events)), (_, value: unknown) =>
      value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value,
    );
    expect([STATE_VERSION, textHash(form)]).toMatchInlineSnapshot(`
      [
        16,
        "0b0e065f7c98d7578c6b2ca50d1a3b1b991b3ef49445078a4270f36f9d51786c",
      ]
    `);
    expect(stateText(reopened(fold(events), events.at(-1) as RunEvent, []) ?? fold([]))).toBe(stateText(fold(events)));
  });

  test("Snapshot.S2 has a message once, and the beginning of a conversation once", () => {
    const words = "so many words that they are found again";
    const said = { id: "user#1", content: words, role: "user", causeBy: "UserRequirement", sentFrom: "", sendTo: ["Ann", "Ben"] };
    const message = { ...said, parents: [], timestamp: 1, metadata: {} };
    const bodies: RunEventBody[] = [
      { type: "run.started", team: "t", roles: ["Ann", "Ben"].map(hired), seed: "1", scheduler: "rounds" },
      { type: "message", message, to: ["Ann", "Ben"] },
      { type: "act.started", act: "Ann#0~1", role: "Ann", n: 0, attempt: 1, take: 1, at: 1 },
    ];
    const turns = Array.from({ length: 30 }, (_, n) => ({ role: "user", content: `turn ${n} of the conversation` }));
    for (let n = 1; n <= turns.length; n += 1) {
      const call = { act: "Ann#0~1", key: `k${n}`, kind: "model", name: "m", asked: n, try: 1, hold: 0 };
      bodies.push({ type: "step.started", ...call, request: { messages: turns.slice(0, n) } });
      bodies.push({ type: "step.ended", act: call.act, key: call.key, try: 1, ok: true, value: "yes", cost: 0, basis: "none", at: 1 });
    }
    const events = recorded(bodies);
    const { state: text } = snapshotOf(fold(events), events.at(-1) as RunEvent);
    const body = inflateSync(Buffer.from(text.slice(64), "base64")).toString("latin1");
    expect(body.split(words)).toHaveLength(2);
    expect(body.split("turn 0 of the conversation")).toHaveLength(2);
    expect(stateText(reopened(fold(events), events.at(-1) as RunEvent, []) ?? fold([]))).toBe(stateText(fold(events)));
  });

  test("Snapshot.S1 of a team that has changed knows who belonged to it when", () => {
    const bodies: RunEventBody[] = [
      { type: "run.started", team: "t", roles: ["Ann", "Ben"].map(hired), seed: "1", scheduler: "rounds" },
      { type: "role.hired", roles: [hired("Cleo")] },
      { type: "role.taken", role: "Ben", by: "Dot" },
      { type: "role.retired", role: "Ben", keeps: 0 },
      { type: "role.hired", roles: [{ ...hired("Ben"), fingerprint: "other" }] },
      { type: "run.resumed", uncertain: [], roles: [hired("Ann"), { ...hired("Cleo"), traits: { mode: "react" } }, hired("Dan")] },
    ];
    const events = recorded(bodies);
    for (const [place, event] of events.entries()) {
      const state = fold(events.slice(0, place + 1));
      const found = reopened(state, event, []) ?? fold([]);
      expect(stateText(found)).toBe(stateText(state));
      expect(found.roles.get("Ben")?.isHired).toBe(place !== 3);
      expect(playerOf(found, "Ben")).toEqual(place === 2 ? { at: 2, by: "Dot" } : undefined);
    }
  });

  test(
    "property: Snapshot.S1 at every cut of any run it restores the fold, and the later events lead to the same state",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(runSketch, async (sketch) => {
          const events = await eventsOfRun(sketch);
          const whole = stateText(fold(events));
          const state = fold([]);
          for (const [place, event] of events.entries()) {
            apply(state, event);
            const found = reopened(state, event, []);
            if (found === undefined) throw new Error(`no state after event ${place}, ${event.type}`);
            expect(stateText(found)).toBe(stateText(state));
            expect(stateText(reopened(state, event, events.slice(place + 1)) ?? found)).toBe(whole);
          }
        }),
        { numRuns: tries(1, 150) },
      );
    },
  );
});
