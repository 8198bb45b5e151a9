import type { Message } from "../../message/message.ts";
import type { ModelPrice } from "../../model/price.ts";
import type { BodyOf, PartOf } from "./event-schema.ts";

/** Version of the event schema. A journal with a newer one is refused. */
export const EVENT_VERSION = 1;

type EventType = (typeof EVENT_TYPES)[number];

/** The end of a run. */
export type RunStatus = PartOf<"status">;
/** A routed message. */
export type Sent = Omit<BodyOf<"message">, "type" | "atBarrier">;
/** A change of a memory. */
export type RecordedMemoryOp = PartOf<"memoryOp">;
/** A role as the start of a run records it. */
export type HiredRole = PartOf<"hiredRole">;
/** The recorded form of a stop condition. */
export type RecordedStop = PartOf<"stop">;
/** The bounds of a run. A missing bound means no bound, or an unchanged one. */
export type RecordedBounds = PartOf<"bounds">;
/** A position in another run. */
export type ForkPoint = PartOf<"forkPoint">;
/** The reason for resuming a run without a recorded end: its owner's process died, provably; a live owner lost or released it; or unknown (`taken`). */
export type ResumeCause = PartOf<"cause">;
/** The faults of one message for one recipient. */
export type EdgeFault = PartOf<"fault">;
/** A message as it arrives at one recipient. */
export type Arrival = PartOf<"arrival">;
/** A policy of the edges as the start of a run records it. */
export type RecordedEdge = PartOf<"recordedEdge">;
/** The settlement of a lost try. */
export type SettledTry = PartOf<"settled">;
export type UnrepeatedStep = PartOf<"unrepeated">;

export type RunStarted = BodyOf<"run.started">;
export type MessagePublished = BodyOf<"message">;
export type ActStarted = BodyOf<"act.started">;
export type ActResumed = BodyOf<"act.resumed">;
export type StepStarted = BodyOf<"step.started">;
export type StepEnded = BodyOf<"step.ended">;
export type ActEnded = BodyOf<"act.ended">;
export type ActFailed = BodyOf<"act.failed">;
export type RoundEnded = BodyOf<"round.ended">;
export type RunResumed = BodyOf<"run.resumed">;
export type ClockAdvanced = BodyOf<"clock.advanced">;
export type ChoiceMade = BodyOf<"choice.made">;
export type RoleHired = BodyOf<"role.hired">;
export type RoleRetired = BodyOf<"role.retired">;
export type RoleTaken = BodyOf<"role.taken">;
export type RunSettled = BodyOf<"run.settled">;
export type RunEnded = BodyOf<"run.ended">;

/** The order of steps in an activation, as far as its step events do not show it. */
export type StepTrace = Pick<ActEnded, "asked" | "unrepeated">;

/** An event without its envelope. */
export type RunEventBody = { readonly [T in EventType]: BodyOf<T> }[EventType];

/** The members of every event. */
export interface Envelope {
  readonly v: typeof EVENT_VERSION;
  readonly runId: string;
  /** Dense, from 0. */
  readonly seq: number;
  /** Milliseconds, when it was recorded. */
  readonly time: number;
}

/** An event of a run. The journal stores it, `--json` prints it, a run yields it, and folding it gives the run's state. */
export type RunEvent = Envelope & RunEventBody;

/** A notice to listeners during the run, never recorded: it follows from recorded events or shows progress. */
export type RunNotice =
  | { readonly type: "role.active"; readonly role: string; readonly news: number }
  | { readonly type: "role.idle"; readonly role: string }
  | { readonly type: "action.started"; readonly role: string; readonly action: string }
  /** A piece of an answer. Pieces of one act, step and try form it, in their order. They name the `step.started` whose `key` is `step`. */
  | {
      readonly type: "model.delta";
      readonly role: string;
      readonly act: string;
      readonly step: string;
      readonly try: number;
      /** Characters of the try before this piece. A listener with fewer characters has missed a piece. */
      readonly at: number;
      readonly text: string;
    }
  /** The text of a try is void: the try failed or was stopped, or its answer did not fit and is asked for again. */
  | { readonly type: "model.void"; readonly role: string; readonly act: string; readonly step: string; readonly try: number }
  /** The newest progress of a tool, at most ten times a second. `step` is the `key` of its `step.started`. A replay has none. */
  | {
      readonly type: "tool.progress";
      readonly role: string;
      readonly act: string;
      readonly step: string;
      readonly tool: string;
      readonly text: string;
    }
  /** A model or embedder is about to be asked: the price by which the call will be settled, or null if none is known. */
  | { readonly type: "model.priced"; readonly model: string; readonly price: ModelPrice | null }
  | { readonly type: "message.dead"; readonly message: Message; readonly address: string }
  | { readonly type: "message.dropped"; readonly message: Message; readonly role: string }
  /** An edge policy changed the delivery of a message to a recipient. */
  | { readonly type: "message.fault"; readonly message: Message; readonly fault: EdgeFault }
  | { readonly type: "message.output"; readonly message: Message }
  | { readonly type: "message.unheard"; readonly message: Message }
  | { readonly type: "warning"; readonly role?: string; readonly text: string };

/** Everything a listener can observe by its type. */
export type Observed = RunEvent | RunNotice;

/** The event or notice of one type. */
export type ObservedOf<T extends Observed["type"]> = Extract<Observed, { readonly type: T }>;

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
  "choice.made",
  "role.hired",
  "role.retired",
  "role.taken",
  "run.resumed",
  "run.settled",
  "run.ended",
  "run.erased",
] as const;

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

export const NOTICE_TYPES = Object.keys(NOTICES) as readonly RunNotice["type"][];

export const OBSERVED_TYPES: readonly string[] = [...EVENT_TYPES, ...NOTICE_TYPES];

const events: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(type: unknown): type is RunEvent["type"] {
  return typeof type === "string" && events.has(type);
}
