import type { Observed, RunEvent } from "./event.ts";

/** Every type of event. The type makes the record complete. */
export const EVENT_TYPES: Readonly<Record<RunEvent["type"], true>> = {
  "run.started": true,
  message: true,
  "act.started": true,
  "act.resumed": true,
  "step.started": true,
  "step.ended": true,
  "act.ended": true,
  "act.failed": true,
  "round.ended": true,
  "clock.advanced": true,
  "role.hired": true,
  "role.retired": true,
  "run.resumed": true,
  "run.settled": true,
  "run.ended": true,
  "run.erased": true,
};

/** Every type of event and notice. The type makes the record complete. */
export const OBSERVED_TYPES: Readonly<Record<Observed["type"], true>> = {
  ...EVENT_TYPES,
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
