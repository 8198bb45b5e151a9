import type { Json } from "../../src/kernel/json.ts";
import { Progress } from "../../src/cli/screen/progress.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import type { Observed, RunEventBody, RunNotice } from "../../src/runtime/record/event.ts";

/** The roles of the recorded run, and what each is. */
export const PROFILES: ReadonlyMap<string, string> = new Map([
  ["Alice", "Product Manager"],
  ["Alex", "Engineer"],
  ["Edward", "QA Engineer"],
]);

/** Events and notices with the envelope an observer sees. */
export function recorded(bodies: readonly (RunEventBody | RunNotice)[]): readonly Observed[] {
  let seq = 0;
  return bodies.map((body) => {
    const isNotice = ["role.", "model.", "action.", "warning"].some((start) => body.type.startsWith(start));
    return isNotice ? (body as RunNotice) : ({ v: 1, runId: "run", seq: seq++, time: 0, ...body } as Observed);
  });
}

export function started(): RunEventBody {
  const roles = [...PROFILES.keys()].map((name) => ({ name, fingerprint: "f", traits: {}, state: {} }));
  return { type: "run.started", team: "software company", roles, seed: "s", scheduler: "rounds", budget: 3_000_000 };
}

export function asks(role: string, topic: string, o: { key?: string; try?: number } = {}): RunEventBody {
  const messages: Json = [
    { role: "system", content: "# not the question" },
    { role: "user", content: `# ${topic}\n\nDo it.` },
  ];
  const { key = "k", try: attempt = 1 } = o;
  return {
    type: "step.started",
    act: `${role}#0~1`,
    key,
    kind: "model",
    name: "gpt-5-mini",
    asked: 0,
    try: attempt,
    hold: 10,
    request: { messages },
  };
}

export function answered(
  role: string,
  o: { key?: string; cost?: number | null; tokens?: readonly [number, number]; retry?: true; basis?: "usage" | "hold" | "none" } = {},
): RunEventBody {
  const { key = "k", cost = 1_200, tokens = [1_000, 200], retry, basis = "usage" } = o;
  const usage = { inputTokens: tokens[0], outputTokens: tokens[1] };
  const error = { name: "ModelError", code: "MODEL_SERVER", message: "Expected an answer, got 503." };
  const again = retry === undefined ? { ok: true } : { ok: false, retry, error };
  return { type: "step.ended", act: `${role}#0~1`, key, try: 1, ...again, cost, basis, usage, at: 0 };
}

/** A piece of what a model says. */
export function tells(role: string, text: string, o: { key?: string; try?: number } = {}): RunNotice {
  return { type: "model.delta", role, act: `${role}#0~1`, step: o.key ?? "k", try: o.try ?? 1, at: 0, text };
}

/** The news that what it said counts no more. */
export function takesBack(role: string, o: { key?: string; try?: number } = {}): RunNotice {
  return { type: "model.void", role, act: `${role}#0~1`, step: o.key ?? "k", try: o.try ?? 1 };
}

export function does(role: string, name: string, request: Json, kind = "step"): RunEventBody {
  return { type: "step.started", act: `${role}#0~1`, key: `${name}`, kind, name, asked: 0, try: 1, hold: 0, request };
}

export function says(role: string, ...messages: readonly Message[]): RunEventBody {
  const said = messages.map((message) => ({ message, to: [] }));
  return { type: "act.ended", act: `${role}#0~1`, role, round: 0, take: 1, said, memory: [], working: [] };
}

export function fails(role: string, message: string, then: "retry" | "dead" | "stop" = "stop"): RunEventBody {
  return {
    type: "act.failed",
    act: `${role}#0~1`,
    role,
    round: 0,
    take: 1,
    error: { name: "Error", code: "X", message },
    stepFailed: false,
    then,
  };
}

export function word(causeBy: string, instructContent?: unknown): Message {
  return createMessage("content", { id: causeBy, causeBy, timestamp: 0, ...(instructContent === undefined ? {} : { instructContent }) });
}

/** A run in the middle of its second round: one role is through, one is being answered, one has nothing to do yet. */
export const middleOfARun: readonly Observed[] = recorded([
  started(),
  { type: "role.active", role: "Alice", news: 1 },
  asks("Alice", "WritePrd"),
  tells("Alice", "x".repeat(400)),
  answered("Alice", { tokens: [1_000, 200], cost: 1_200 }),
  does("Alice", "write file", { path: "docs/prd/game.md", content: "..." }),
  { type: "role.idle", role: "Alice" },
  says("Alice", word("WritePrd")),
  { type: "round.ended", round: 0 },
  { type: "role.active", role: "Alex", news: 1 },
  asks("Alex", "WriteCode: src/game.js"),
  answered("Alex", { retry: true, cost: 500, tokens: [0, 0], basis: "hold" }),
  asks("Alex", "WriteCode: src/game.js", { try: 2 }),
  tells("Alex", "x".repeat(5_000), { try: 2 }),
]);

export function progressOf(observed: readonly Observed[]): Progress {
  const progress = new Progress();
  for (const one of observed) progress.add(one);
  return progress;
}
