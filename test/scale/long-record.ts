import { type ActEnded, type RunEvent, type RunEventBody, type RunStarted, EVENT_VERSION } from "../../src/runtime/record/event.ts";
import { defineRole, type Role } from "../../src/role/role.ts";

/** The only role of a long run: it has nothing left to do when the run goes on. */
export function worker(): Role {
  return defineRole({ name: "Worker", react: () => undefined });
}

/** The size of a long run. */
export interface LongRun {
  readonly runId: string;
  /** Its first event, of a real team. */
  readonly opening: RunStarted;
  readonly activations: number;
  /** Tool calls of an activation, two events each. */
  readonly steps: number;
}

/** The record of a role that works on one thing after another: it tells itself what comes next. */
export function* longRecord({ runId, opening, activations, steps }: LongRun): Generator<RunEvent, void> {
  let seq = 0;
  const event = (body: RunEventBody): RunEvent => ({ v: EVENT_VERSION, runId, seq, time: 1_000 + seq++, ...body });
  yield event(opening);
  const idea = { id: "user#1", content: "begin", role: "user", causeBy: "UserRequirement", sentFrom: "", sendTo: ["Worker"] };
  yield event({ type: "message", message: { ...idea, parents: [], timestamp: 1_000, metadata: {} }, to: ["Worker"] });
  let before = "user#1";
  for (let n = 0; n < activations; n += 1) {
    const act = `Worker#${n}~1`;
    yield event({ type: "act.started", act, role: "Worker", n, attempt: 1, take: 1, at: 1_000 });
    for (let step = 0; step < steps; step += 1) {
      const key = `${n}-${step}`;
      const request = { tool: "read_file", arguments: { path: `src/part-${step}.ts`, from: step * 40, lines: 40 } };
      const value = { text: `The lines of part ${step}, as they were in turn ${n}. `.repeat(5) };
      const call = { act, key, kind: "tool", name: "read_file", try: 1 };
      yield event({ type: "step.started", ...call, asked: step, hold: 0, request });
      yield event({ type: "step.ended", act, key, try: 1, ok: true, value, cost: 0, basis: "none", at: 1_000 });
    }
    const id = `Worker#${n}.0`;
    yield event(end(act, n, before, id));
    yield event({ type: "round.ended", round: n });
    before = id;
  }
}

function end(act: string, n: number, before: string, id: string): ActEnded {
  const message = {
    ...{ id, content: `Turn ${n} is done. Part ${n % 32} still lacks a test for the empty list; see to it next.`, role: "assistant" },
    ...{ causeBy: "Worker", sentFrom: "Worker", sendTo: ["Worker"], parents: [before], timestamp: 1_000, metadata: {} },
  };
  const memory = [before, id].map((each): readonly ["+", string] => ["+", each]);
  return { type: "act.ended", act, role: "Worker", round: n, take: 1, at: 1_000, said: [{ message, to: ["Worker"] }], memory, working: [] };
}
