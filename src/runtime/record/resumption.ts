import { stepsInFlight } from "./apply-steps.ts";
import type { ResumeCause, RunResumed } from "./event.ts";
import type { FormerOwner } from "./journal.ts";
import type { RunState } from "./run-state.ts";

/** Returns the event with which a recorded run goes on. @param former how the owner before left the run */
export function resumption(state: RunState, former: FormerOwner | undefined): RunResumed {
  return {
    type: "run.resumed",
    ...(state.phase.phase === "running" ? { cause: causeOf(former) } : {}),
    uncertain: uncertainSteps(state),
  };
}

/** Returns the cause of a resume that finds no end in the record. */
function causeOf(former: FormerOwner = "taken"): ResumeCause {
  return former === "none" || former === "released" ? "taken" : former;
}

/** Returns the calls that were in flight when the process died. They may have been paid. */
function uncertainSteps(state: RunState): RunResumed["uncertain"] {
  return stepsInFlight(state)
    .filter(({ record: { started } }) => started.kind !== "human" && started.reused === undefined)
    .map(({ record: { started } }) => ({ act: started.act, key: started.key, hold: started.hold }));
}
