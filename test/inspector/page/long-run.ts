import type { RunEvent, RunEventBody } from "../../../src/runtime/record/event.ts";
import { createMessage } from "../../../src/message/message.ts";

/**
 * A run of about so many events, as an eager team would record it: eight roles hand work on, each hop asks a model once, and every eighth hop of
 * a role writes a version of one of twenty files.
 *
 * @param count events, 10 or more
 */
export function longRun(count: number, roleCount = 8): readonly RunEvent[] {
  const names = Array.from({ length: roleCount }, (_, nth) => `Role ${nth}`);
  const events: RunEvent[] = [];
  const add = (body: RunEventBody): void => {
    events.push({ v: 1, runId: `long-${count}`, seq: events.length, time: 1_700_000_000_000 + events.length * 7, ...body });
  };
  const hired = names.map((name) => ({ name, fingerprint: name, traits: { card: { name, profile: name }, watch: ["Work"] }, state: {} }));
  add({ type: "run.started", team: "Long", roles: hired, seed: "1", scheduler: "eager" });
  const first = names[0] ?? "";
  add({ type: "message", message: createMessage("Begin", { id: "begin", timestamp: 0, sendTo: [first] }), to: [first] });
  const acted = new Map<string, number>();
  let [who, id] = [0, "begin"];
  while (events.length < count - MOST_OF_HOP) {
    const role = names[who] ?? "";
    const n = acted.get(role) ?? 0;
    acted.set(role, n + 1);
    who = (who + 1 + (n % 3)) % roleCount;
    const said = `${role}#${n}.0`;
    for (const body of hop(role, n, id, names[who] ?? "")) add(body);
    id = said;
  }
  add({ type: "run.ended", status: "stopped" });
  return events;
}

/** Most events of a hop. */
const MOST_OF_HOP = 6;
const FILES = 20;
const LINES = 40;

/** One activation: it takes a message, asks a model, may write a file, and sends a message to the next role. */
function hop(role: string, n: number, id: string, to: string): readonly RunEventBody[] {
  const act = `${role}#${n}~1`;
  const step = { act, key: "think", try: 1 } as const;
  const fields = { id: `${role}#${n}.0`, causeBy: "Work", sentFrom: role, sendTo: [to], parents: [id], timestamp: n };
  const message = createMessage(`Result ${n} of ${role}`, fields);
  const request = { messages: [{ role: "user", content: `Do part ${n}` }] };
  const answer = { content: `Part ${n} is done` };
  const usage = { inputTokens: 100, outputTokens: 20 };
  return [
    { type: "act.started", act, role, n, attempt: 1, take: 1, at: n },
    { type: "step.started", ...step, kind: "model", name: "model", asked: 0, hold: 90, request },
    { type: "step.ended", ...step, ok: true, value: answer, cost: 50, basis: "usage", usage, at: n },
    ...(n % 8 === 0 ? written(act, n / 8) : []),
    {
      type: "act.ended",
      act,
      role,
      round: 0,
      take: 1,
      said: [{ message, to: [to] }],
      memory: [
        ["+", id],
        ["+", message.id],
      ],
      working: [],
    },
  ];
}

/** The step that writes the n-th text of a role: each differs from the one before in one line. */
function written(act: string, n: number): readonly RunEventBody[] {
  const step = { act, key: "write", try: 1 } as const;
  const lines = Array.from({ length: LINES }, (_, nth) => `line ${nth} as of ${n - ((n - nth) % LINES)}`);
  const request = { path: `src/part-${n % FILES}.ts`, content: `${lines.join("\n")}\n` };
  return [
    { type: "step.started", ...step, kind: "step", name: "write file", asked: 1, hold: 0, request },
    { type: "step.ended", ...step, ok: true, value: null, cost: 0, basis: "none", at: n },
  ];
}
