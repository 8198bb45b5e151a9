import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { MemoryOp } from "../../memory/memory-draft.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { Mailbox } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";

/** Version of the event schema. A journal with a newer one is refused. */
export const EVENT_VERSION = 1;

/** How a run ended. */
export type RunStatus = "finished" | "rounds" | "budget" | "stopped" | "waiting" | "failed";

/** A message on its way: who hears it, and which of its addresses nobody has. */
export interface Sent {
  readonly message: Message;
  readonly to: readonly string[];
  readonly dead?: readonly string[];
  /** A fork has taken it out of what was said: only who said it knows of it. */
  readonly dropped?: true;
}

/** A change of a memory. A message the run knows already stands as its id alone. */
export type RecordedMemoryOp = readonly ["+", string] | MemoryOp;

/** What a role is when a run starts. */
export interface HiredRole {
  readonly name: string;
  /** Hash of `traits`; a resumed run compares it. */
  readonly fingerprint: string;
  /** What the role is, as far as a run depends on it: told apart when a run goes on with another team. */
  readonly traits: { readonly [trait: string]: Json };
  readonly state: { readonly [key: string]: Json };
  readonly memoryLimit?: number;
  /** Bounds its mailbox, where that is not as the run's are. */
  readonly mailbox?: Mailbox;
}

/** A stop condition as a record tells it: enough to make it again, or to ask for it by its name. */
export interface RecordedStop {
  readonly name: string;
  /** What a condition of this package was made with. Left out for a function of a program, which no record can hold. */
  readonly with?: readonly Json[];
}

/** What bounds a run. What is left out is not bounded, is as it was, or was not recorded by the version that wrote it. */
export interface RecordedBounds {
  /** Micro-dollars that the run was given for itself. Without them its budget is what its team allows each run. */
  readonly budget?: number;
  /** Most rounds in all; in a regime without rounds most activations of one role. */
  readonly rounds?: number;
  /** Null: none any more. */
  readonly stopWhen?: RecordedStop | null;
  /** Most characters of one message. */
  readonly messageLimit?: number;
  /** Bounds the mailboxes of roles that say nothing else. */
  readonly mailbox?: Mailbox;
  /** Most activations at once, where that decides in which order roles act. */
  readonly concurrency?: number;
  /** Deaths of the process under one activation until its message is given up. */
  readonly poisonAfter?: number;
}

/** The run began: everything that is needed to rebuild it besides its team. */
export interface RunStarted {
  readonly type: "run.started";
  readonly team: string;
  readonly roles: readonly HiredRole[];
  readonly seed: string;
  readonly scheduler: string;
  /** Parameters of the scheduler, where it has some. */
  readonly parameters?: Json;
  /** When messages of roles are delivered. Left out for the schedulers of this package, whose names tell it. */
  readonly delivery?: "round" | "turn";
  /** Micro-dollars. */
  readonly budget?: number;
  readonly bounds?: RecordedBounds;
  /** What its starter keeps with the run, such as the settings it began with. */
  readonly about?: Json;
  /** The run it was forked from, and the last event they share. */
  readonly parent?: ForkPoint;
}

/** A place in another run. */
export interface ForkPoint {
  readonly runId: string;
  /** Sequence number of the last event that is shared. */
  readonly at: number;
}

/** Somebody outside said something. */
export interface MessagePublished extends Sent {
  readonly type: "message";
  /** It came while a round was under way and waits for its end. */
  readonly atBarrier?: true;
}

/** A role began to act; written with its first step, so that a hop without a step is one event. */
export interface ActStarted {
  readonly type: "act.started";
  /** `role#n~attempt` */
  readonly act: string;
  readonly role: string;
  readonly n: number;
  readonly attempt: number;
  /** How many messages of its mailbox it consumes. */
  readonly take: number;
  /** Milliseconds: what `now()` says until the first answer. */
  readonly at: number;
}

/** An activation that a crash had left open began again. Written before its body runs, and only while a crash is being looked into. */
export interface ActResumed {
  readonly type: "act.resumed";
  readonly act: string;
}

/** A try of a side effect began. Durable before the effect starts. */
export interface StepStarted {
  readonly type: "step.started";
  readonly act: string;
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  /** Place in the order of asking, within the enclosing step or the activation. */
  readonly asked: number;
  /** Key of the enclosing step. */
  readonly in?: string;
  readonly try: number;
  /** Micro-dollars reserved. */
  readonly hold: number;
  /** Nobody knows what it costs. */
  readonly unpriced?: true;
  readonly request: Json;
  /** It must not simply run again when nobody knows whether it happened. */
  readonly idempotent?: false;
  /** Answered by this event of the run it was forked from: nothing was called. */
  readonly reused?: number;
}

/** A try of a side effect ended. With `retry` another one follows; else this is the step's answer. */
export interface StepEnded {
  readonly type: "step.ended";
  readonly act: string;
  readonly key: string;
  readonly try: number;
  readonly retry?: true;
  readonly ok: boolean;
  readonly value?: Json;
  readonly error?: ErrorRecord;
  /** Micro-dollars; null when the price is unknown. */
  readonly cost: number | null;
  readonly basis: "usage" | "hold" | "none";
  readonly usage?: Json;
  /** Milliseconds: what `now()` says once the answer is released. */
  readonly at: number;
  /** Micro-dollars that the answer had cost the run it was taken from. */
  readonly saved?: number;
}

/** How an activation came to its end, as far as the events of its steps do not tell: it may have lived more than once, and otherwise each time. */
export interface StepTrace {
  /** Keys of its own steps in the order its last life asked for them, where that is not the order in which they are recorded. */
  readonly asked?: readonly string[];
  /** Recorded steps that were to happen again, and failed. */
  readonly unrepeated?: readonly UnrepeatedStep[];
}

/** A recorded step whose effect was to happen again, and failed. Its recorded answer stands. */
export interface UnrepeatedStep {
  readonly key: string;
  readonly error: ErrorRecord;
}

/** An activation took effect: everything it changed, at once. */
export interface ActEnded extends StepTrace {
  readonly type: "act.ended";
  readonly act: string;
  readonly role: string;
  readonly round: number;
  readonly take: number;
  /** Milliseconds: when it began, where no `act.started` tells. */
  readonly at?: number;
  readonly said: readonly Sent[];
  readonly memory: readonly RecordedMemoryOp[];
  readonly working: readonly RecordedMemoryOp[];
  /** Changed keys of the custom state; null members of `unset` are gone. */
  readonly state?: { readonly set: { readonly [key: string]: Json }; readonly unset: readonly string[] };
  /** The plan as it is now. */
  readonly plan?: Json;
  readonly joins?: { readonly [reaction: string]: { readonly [need: string]: string } };
  /** What the role's memory is summed up to, where that changed. */
  readonly summary?: RoleSummary;
}

/** An activation failed and changed nothing. */
export interface ActFailed extends StepTrace {
  readonly type: "act.failed";
  readonly act: string;
  readonly role: string;
  readonly round: number;
  readonly take: number;
  /** Milliseconds: when it began, where no `act.started` tells. */
  readonly at?: number;
  readonly error: ErrorRecord;
  /** Whether one of its steps had failed: then a retry uses the good answers again. */
  readonly stepFailed: boolean;
  /** `isolate`: its messages are tried one by one, to find the one at fault. */
  readonly then: "retry" | "isolate" | "dead" | "stop";
}

/** A round is over: what was said in it is delivered. */
export interface RoundEnded {
  readonly type: "round.ended";
  readonly round: number;
}

/** The run went on after a stop or a crash. */
export interface RunResumed {
  readonly type: "run.resumed";
  /** Steps that were in flight; their holds are settled for good. */
  readonly uncertain: readonly { readonly act: string; readonly key: string; readonly hold: number }[];
  readonly budget?: number;
  /** Those that are others from here on. */
  readonly bounds?: RecordedBounds;
  /** The team it goes on with, where that is not the one it had before. */
  readonly roles?: readonly HiredRole[];
  /** It did not stop: it is another run's past that goes on here. */
  readonly forked?: true;
  /** It did not stop: `roles` were hired on the way, besides those it had. */
  readonly hired?: true;
  /** Answers of attempts that failed are not used again; of a fork, neither are those of its parent behind the past they share. */
  readonly afresh?: true;
  /** Micro-dollars that steps in flight had cost the run it was copied from. */
  readonly saved?: number;
}

/** The run ended, for now: all but `finished` runs can go on. */
export interface RunEnded {
  readonly type: "run.ended";
  readonly status: RunStatus;
  readonly error?: ErrorRecord;
}

/** What happened, without its envelope. */
export type RunEventBody =
  | RunStarted
  | MessagePublished
  | ActStarted
  | ActResumed
  | StepStarted
  | StepEnded
  | ActEnded
  | ActFailed
  | RoundEnded
  | RunResumed
  | RunEnded;

/** What every event carries. */
export interface Envelope {
  readonly v: typeof EVENT_VERSION;
  readonly runId: string;
  /** Dense, from 0. */
  readonly seq: number;
  /** Milliseconds, when it was recorded. */
  readonly time: number;
}

/** What happens in a run. The journal stores it, `--json` prints it, a run yields it, and folding it gives the run's state. */
export type RunEvent = Envelope & RunEventBody;

/** Told to listeners while it happens, never recorded: everything here follows from recorded events or is a picture of progress. */
export type RunNotice =
  | { readonly type: "role.active"; readonly role: string; readonly news: number }
  | { readonly type: "role.idle"; readonly role: string }
  | { readonly type: "action.started"; readonly role: string; readonly action: string }
  /** A piece of an answer. Pieces of one act, step and try are one answer, in their order: those of `step.started`, whose `key` is `step`. */
  | {
      readonly type: "model.delta";
      readonly role: string;
      readonly act: string;
      readonly step: string;
      readonly try: number;
      readonly text: string;
    }
  /** The text told of a try counts no more: the try broke or was stopped, or its answer did not fit and is asked for again. */
  | { readonly type: "model.void"; readonly role: string; readonly act: string; readonly step: string; readonly try: number }
  | { readonly type: "message.dead"; readonly message: Message; readonly address: string }
  | { readonly type: "message.dropped"; readonly message: Message; readonly role: string }
  | { readonly type: "message.output"; readonly message: Message }
  | { readonly type: "message.unheard"; readonly message: Message }
  | { readonly type: "warning"; readonly role?: string; readonly text: string };

/** Everything a listener can ask for by its type. */
export type Observed = RunEvent | RunNotice;

/** The observed thing of one type. */
export type ObservedOf<T extends Observed["type"]> = Extract<Observed, { readonly type: T }>;

/** Every type of event, so that the compiler asks for a new one here. */
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
  "run.resumed": true,
  "run.ended": true,
};
