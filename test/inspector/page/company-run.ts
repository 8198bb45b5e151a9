import { createMessage } from "../../../src/message/message.ts";
import type { RunEvent, RunEventBody } from "../../../src/runtime/record/event.ts";

const criteria = [
  { id: "A1", given: "nothing", when: "two numbers are given", then: "their sum is printed" },
  { id: "A2", given: "nothing", when: "a word is given", then: "there is an error" },
];
const order = { kind: "order", name: "adder", criteria };

export const verdicts = [
  { id: "A1", priority: "P0", outcome: "proven", by: "command", evidence: "exit code 0; stdout: 3\\u{a}" },
  { id: "A2", priority: "P1", outcome: "failed", by: "command", evidence: "exit code 0" },
];

const delivery = {
  kind: "delivery",
  name: "adder",
  isDone: false,
  verification: { verdicts, suites: [{ language: "javascript", kind: "passed", passed: 2, total: 2 }], faults: [] },
  complaints: [
    { id: "R1", text: "It has no help.", state: "unproven" },
    { id: "R2", text: "It was slow.", state: "answered" },
  ],
  reason: "The same failures stay.",
};

export interface Line {
  readonly from?: string;
  readonly to: readonly string[];
  readonly content: string;
  readonly speech?: string;
  readonly payload?: unknown;
  readonly parents?: readonly string[];
  /** A file that the activation writes before it says this. */
  readonly writes?: string;
}

/** The record of a run in which each line is an activation of its own. The n-th message has the id `m<n>`; the first one comes from outside. */
export function runOfLines(lines: readonly Line[], id = "lines"): readonly RunEvent[] {
  const names = [...new Set(lines.flatMap(({ from, to }) => [...(from === undefined ? [] : [from]), ...to]))];
  const events: RunEvent[] = [];
  const add = (body: RunEventBody): void => {
    events.push({ v: 1, runId: id, seq: events.length, time: 1_700_000_000_000 + events.length * 1_000, ...body });
  };
  const hired = names.map((name) => ({ name, fingerprint: name, traits: { card: { name, profile: name } }, state: {} }));
  add({ type: "run.started", team: "Lines", roles: hired, seed: "1", scheduler: "eager" });
  const mail = new Map<string, number>();
  const acted = new Map<string, number>();
  for (const [nth, { from, to, content, speech, payload, parents = nth === 0 ? [] : [`m${nth - 1}`], writes }] of lines.entries()) {
    const fields = { id: `m${nth}`, sendTo: to, parents, timestamp: 0, instructContent: payload, speech };
    const deliver = (): void => to.forEach((name) => mail.set(name, (mail.get(name) ?? 0) + 1));
    const sent = { message: createMessage(content, { ...fields, causeBy: "Work", sentFrom: from }), to };
    if (from === undefined) {
      add({ type: "message", ...sent });
      deliver();
      continue;
    }
    const n = acted.get(from) ?? 0;
    acted.set(from, n + 1);
    const act = `${from}#${n}~1`;
    const take = mail.get(from) ?? 0;
    mail.set(from, 0);
    add({ type: "act.started", act, role: from, n, attempt: 1, take, at: 0 });
    if (writes !== undefined) {
      const step = { act, key: "write", try: 1 } as const;
      add({
        type: "step.started",
        ...step,
        kind: "step",
        name: "write file",
        asked: 0,
        hold: 0,
        request: { path: writes, content: "x\n" },
      });
      add({ type: "step.ended", ...step, ok: true, value: null, cost: 0, basis: "none", at: 0 });
    }
    add({ type: "act.ended", act, role: from, round: 0, take, said: [sent], memory: [], working: [] });
    deliver();
  }
  add({ type: "run.ended", status: "stopped" });
  return events;
}

const report = (...disputes: readonly object[]) => ({ status: "disputed", summary: "see there", disputes });

/** A company that hands back two checks and two tests, and does not finish. */
export function disputedRun(id = "disputed"): readonly RunEvent[] {
  return runOfLines(
    [
      { to: ["Ada"], content: "Add two numbers" },
      { from: "Ada", to: ["Ben"], content: "# Order\n\nBuild **adder**.", speech: "It is small. I doubt A2.", payload: order },
      {
        from: "Ben",
        to: ["Ada"],
        content: "Two checks are wrong.",
        payload: report({ criterion: "A1", why: "A1: a sum has no comma" }, { criterion: "A2", why: "A2: a word is fine" }),
      },
      { from: "Ada", to: ["Ben"], content: "A1 was wrong.", speech: "A1 was wrong. A2 stays.", payload: { ...order, corrected: ["A1"] } },
      { from: "Ben", to: ["Ada"], content: "A test too.", payload: report({ why: "test/a.js contradicts A1" }) },
      { from: "Ada", to: ["Cleo"], content: "QA decides.", payload: { ...order, corrected: ["A1"], disputed: ["test/a.js"] } },
      { from: "Cleo", to: ["Ben"], content: "I mended it.", payload: { ...order, corrected: ["A1"] }, writes: "test/a.js" },
      { from: "Ben", to: ["Ada"], content: "And this.", payload: report({ why: "test/b.js contradicts A2" }), parents: ["m6"] },
      { from: "Ben", to: ["Dora"], content: "Done so far.", speech: "I did what I could.", parents: ["m6"] },
      { from: "Dora", to: [], content: "# adder: not done", speech: "A2 fails.", payload: delivery },
    ],
    id,
  );
}
