import type { RunEvent, RunNotice } from "./event.ts";

/** Every type of event, in the order of a run. The schema of events has exactly these. */
export const EVENT_TYPES = [
  "run.started",
  "message",
  "act.started",
  "act.resumed",
  "step.started",
  "step.ended",
  "act.ended",
  "act.failed",
  "round.ended",
  "clock.advanced",
  "role.hired",
  "role.retired",
  "run.resumed",
  "run.settled",
  "run.ended",
  "run.erased",
] as const;

/** Every type of notice. The type makes the record complete. */
const NOTICES: Readonly<Record<RunNotice["type"], true>> = {
  "role.active": true,
  "role.idle": true,
  "action.started": true,
  "model.delta": true,
  "model.void": true,
  "tool.progress": true,
  "model.priced": true,
  "message.dead": true,
  "message.dropped": true,
  "message.fault": true,
  "message.output": true,
  "message.unheard": true,
  warning: true,
};

/** Every type of event and notice. */
export const OBSERVED_TYPES: readonly string[] = [...EVENT_TYPES, ...Object.keys(NOTICES)];

const events: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(type: unknown): type is RunEvent["type"] {
  return typeof type === "string" && events.has(type);
}
