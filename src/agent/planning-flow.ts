import { checkKnownOptions } from "../kernel/known-options.ts";
import { EventLog } from "./event-log.ts";
import { FlowDrive } from "./flow-drive.ts";
import { type FlowEvent, flowEventKinds, type FlowResult } from "./flow-events.ts";
import { type FlowParts, flowParts, type PlanningFlowOptions } from "./flow-options.ts";

/** A run of a flow. */
export interface FlowRun extends AsyncIterable<FlowEvent> {
  /** Never rejects. */
  readonly result: Promise<FlowResult>;
}

/**
 * Reaches a goal by a plan: steps that depend on each other, each done by the agent of its type, with the results it needs. Independent
 * steps are done side by side. A step that fails is tried again; then another plan is made for what is left; then it is blocked, with all
 * that depends on it, and the rest goes on. Nothing goes on forever: tries, plans and steps are counted.
 */
export class PlanningFlow {
  readonly #parts: FlowParts;

  /** @throws UsageError `FLOW_INVALID` without executors, with two of one name, or for limits under which nothing could be done. */
  constructor(options: PlanningFlowOptions) {
    this.#parts = flowParts(options);
  }

  /** Begins at once; may be called again while another run is under way, where the executors allow it. */
  run(goal: string, o: { readonly signal?: AbortSignal } = {}): FlowRun {
    checkKnownOptions("run of a flow", o, { signal: true });
    const log = new EventLog<FlowEvent>(flowEventKinds);
    const drive = new FlowDrive(this.#parts, goal, o.signal ?? new AbortController().signal, log);
    return { result: drive.result(), [Symbol.asyncIterator]: () => log.read() };
  }
}
