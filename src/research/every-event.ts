import type { RunEvent } from "../index.ts";

/** The type makes the record complete. The runtime has a list of its own, which this room, on the public interface alone, cannot load. */
const types: Readonly<Record<RunEvent["type"], true>> = {
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

/** Every type of event. */
export const EVENT_TYPES: readonly RunEvent["type"][] = Object.keys(types) as readonly RunEvent["type"][];
