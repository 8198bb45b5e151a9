import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { MemoryOp } from "../../memory/memory-draft.ts";
import type { Scope } from "../../kernel/scope.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { Mailbox } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import type { ModelPrice } from "../../model/price.ts";
import type { EdgeFault, RecordedEdge } from "./edge-fault.ts";
import type { RunErased } from "./erased-event.ts";
import type { RunSettled, SettledTry } from "./lost-tries.ts";
import type { StateChange } from "./state-change.ts";

/** Version of the event schema. A journal with a newer one is refused. */
export const EVENT_VERSION = 1;

/** The end of a run. */
export type RunStatus = "finished" | "rounds" | "budget" | "stopped" | "waiting" | "failed";

/** A routed message: its recipients, and those of its addresses that no role has. */
export interface Sent {
  readonly message: Message;
  readonly to: readonly string[];
  readonly dead?: readonly string[];
  /** The addresses that a model spelled differently: as the message has them, and as they were read. */
  readonly meant?: readonly { readonly wrote: string; readonly as: string }[];
  /** A fork has removed the message: only its sender knows of it. */
  readonly dropped?: true;
  /** The tick of the run's clock at which it is delivered. Left out for a message without a delay. */
  readonly due?: number;
  /** What the edges did with it: recipients without a fault get it as it was sent. In the order of `to`. */
  readonly faults?: readonly EdgeFault[];
}

/** A change of a memory. A message that the run already has stands as its id alone. */
export type RecordedMemoryOp = readonly ["+", string] | MemoryOp;

/** A role as the start of a run records it. */
export interface HiredRole {
  readonly name: string;
  /** Hash of `traits`, compared when a run is resumed. */
  readonly fingerprint: string;
  /** The properties of the role that affect a run: a run resumed with another team is detected by them. */
  readonly traits: { readonly [trait: string]: Json };
  readonly state: { readonly [key: string]: Json };
  readonly memoryLimit?: number;
  /** The bound of its mailbox, where it differs from the run's. */
  readonly mailbox?: Mailbox;
}

/** The recorded form of a stop condition: enough to make it again, or to find it by its name. */
export interface RecordedStop {
  readonly name: string;
  /** The arguments of a condition of this package. Left out for a function of a program, which no record can hold. */
  readonly with?: readonly Json[];
}

/** The bounds of a run. A missing bound means no bound, an unchanged one, or one that an older version did not record. */
export interface RecordedBounds {
  /** Micro-dollars that the run was given for itself. Without them its budget is the team's budget for each run. */
  readonly budget?: number;
  /** Limit on the rounds of a turn; with a scheduler without rounds, on the activations of one role in it. */
  readonly rounds?: number;
  /** Null removes the condition. */
  readonly stopWhen?: RecordedStop | null;
  /** Limit on the characters of one message. */
  readonly messageLimit?: number;
  /** The bound of mailboxes of roles without their own. */
  readonly mailbox?: Mailbox;
  /** Limit on concurrent activations, where it affects the order in which roles act. */
  readonly concurrency?: number;
  /** Deaths of the process during one activation after which its message is given up. */
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
  /** The delivery of messages. Left out for the schedulers of this package, whose names imply it. */
  readonly delivery?: "round" | "turn";
  /** The clock of the run, where its delivery or the name of the scheduler does not imply it. */
  readonly clock?: "rounds" | "activations" | "time";
  /** The order of messages that arrive together. Left out for the order in which their senders were hired. */
  readonly arrival?: "shuffled" | "sender";
  /** The seeds of a fork's parents, where they differ from its own: each with the last event before which it held. */
  readonly pastSeeds?: readonly { readonly to: number; readonly seed: string }[];
  /** Micro-dollars. */
  readonly budget?: number;
  readonly bounds?: RecordedBounds;
  /** The policies of its edges, in their order. Left out for none. */
  readonly edges?: readonly RecordedEdge[];
  /** A value that the starter keeps with the run, such as its settings. */
  readonly about?: Json;
  /** Whose words it has. Left out for a run of nobody in particular. */
  readonly scope?: Scope;
  /** The run it was forked from, and the last shared event. */
  readonly parent?: ForkPoint;
}

/** A place in another run. */
export interface ForkPoint {
  readonly runId: string;
  /** Sequence number of the last shared event. */
  readonly at: number;
}

/** A message from outside was published. */
export interface MessagePublished extends Sent {
  readonly type: "message";
  /** The message came while a round was under way, and waits for its end. */
  readonly atBarrier?: true;
  /** Place of the sender in the order of hiring, where a role sent it that acts in another shard of the run. */
  readonly order?: number;
}

/** A role began to act. Recorded with its first step, so that a hop without a step is one event. */
export interface ActStarted {
  readonly type: "act.started";
  /** `role#n~attempt` */
  readonly act: string;
  readonly role: string;
  readonly n: number;
  readonly attempt: number;
  /** The number of messages it takes from its mailbox. */
  readonly take: number;
  /** Milliseconds: the value of `now()` until the first answer. */
  readonly at: number;
  /** The number of changes of the team before it began, where more came before this event: an activation knows the team as it was then. */
  readonly teamAt?: number;
}

/** An activation that a crash had left open began again. Recorded before its body runs, and only while the cause of a crash is searched. */
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
  /** The price is unknown. */
  readonly unpriced?: true;
  readonly request: Json;
  /** Milliseconds since 1970: when a question to a person ends without an answer. The same in every try. */
  readonly deadline?: number;
  /** The effect must not run again when it is unknown whether it happened. */
  readonly idempotent?: false;
  /** Sequence number of the parent's event that answered it: nothing was called. */
  readonly reused?: number;
  /** The server drops a request whose idempotency key it has seen: tries with the same number here have the same key. */
  readonly dropsRepeats?: number;
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
  /** Milliseconds: the value of `now()` once the answer is released. */
  readonly at: number;
  /** Micro-dollars that the answer had cost the run it was taken from. */
  readonly saved?: number;
  /** The answer is the default of a question to a person, because its deadline passed. */
  readonly byDeadline?: true;
  /** Lost tries of the same request, which count at the cost of this one from here on. */
  readonly settles?: readonly SettledTry[];
}

/** The order of steps in an activation, as far as its step events do not show it: it may have run more than once, each time differently. */
export interface StepTrace {
  /** Keys of its own steps in the order its last attempt asked for them, where that differs from the recorded order. */
  readonly asked?: readonly string[];
  /** Recorded steps whose repeated effect failed. */
  readonly unrepeated?: readonly UnrepeatedStep[];
}

/** A recorded step whose effect was repeated and failed. Its recorded answer stands. */
export interface UnrepeatedStep {
  readonly key: string;
  readonly error: ErrorRecord;
}

/** An activation took effect: all its changes, in one event. */
export interface ActEnded extends StepTrace {
  readonly type: "act.ended";
  readonly act: string;
  readonly role: string;
  readonly round: number;
  readonly take: number;
  /** Milliseconds: when it began, where no `act.started` has it. */
  readonly at?: number;
  /** As in `act.started`, where there is none. */
  readonly teamAt?: number;
  readonly said: readonly Sent[];
  readonly memory: readonly RecordedMemoryOp[];
  readonly working: readonly RecordedMemoryOp[];
  /** Changed keys of the custom state; the keys in `unset` are removed. */
  readonly state?: StateChange;
  /** The changed plan. */
  readonly plan?: Json;
  readonly joins?: { readonly [reaction: string]: { readonly [need: string]: string } };
  /** The last summary of the role's memory, where it changed. */
  readonly summary?: RoleSummary;
}

/** An activation failed and changed nothing. */
export interface ActFailed extends StepTrace {
  readonly type: "act.failed";
  readonly act: string;
  readonly role: string;
  readonly round: number;
  readonly take: number;
  /** Milliseconds: when it began, where no `act.started` has it. */
  readonly at?: number;
  /** As in `act.started`, where there is none. */
  readonly teamAt?: number;
  readonly error: ErrorRecord;
  /** True when one of its steps failed: then a retry reuses the good answers. */
  readonly stepFailed: boolean;
  /** `isolate`: its messages are tried one by one, to find the faulty one. */
  readonly then: "retry" | "isolate" | "dead" | "stop";
}

/** A round ended, or a stage of it: its messages are delivered. */
export interface RoundEnded {
  readonly type: "round.ended";
  readonly round: number;
  /** The stage that ended, from 0; the round goes on. */
  readonly stage?: number;
}

/** Why a run without a recorded end is resumed: its owner's process died, provably; a live owner lost or released it; or unknown (`taken`). */
export type ResumeCause = "died" | "moved" | "taken" | "drained";

/** The run was resumed after a stop or a crash. */
export interface RunResumed {
  readonly type: "run.resumed";
  /** Left out after a recorded end. */
  readonly cause?: ResumeCause;
  /** Steps that were in flight: their holds count as spent until they are settled. */
  readonly uncertain: readonly { readonly act: string; readonly key: string; readonly hold: number }[];
  readonly budget?: number;
  /** The bounds that change from here on. */
  readonly bounds?: RecordedBounds;
  /** The team it is resumed with, where it differs from the team before. */
  readonly roles?: readonly HiredRole[];
  /** The run did not stop: it is a fork that continues another run's past. */
  readonly forked?: true;
  /** Answers of failed attempts are not reused; in a fork, neither are the parent's answers after the shared past. */
  readonly afresh?: true;
  /** Micro-dollars that steps in flight had cost the run it was copied from. */
  readonly saved?: number;
}

/** The clock of the run moved on without an activation: the messages that are due are delivered. */
export interface ClockAdvanced {
  readonly type: "clock.advanced";
  /** The new tick; with rounds, the number of the next round. */
  readonly tick: number;
  /** The role that acts at this tick, where the scheduler drew both. */
  readonly role?: string;
}

/** Roles were hired on the way: they get the messages that are routed from here on. */
export interface RoleHired {
  readonly type: "role.hired";
  readonly roles: readonly HiredRole[];
}

/** A role was retired on the way: it gets no further message, and its unread ones are dead letters. */
export interface RoleRetired {
  readonly type: "role.retired";
  readonly role: string;
  /**
   * The number of messages that the activation under way had taken: it ends and takes effect. 0: none is under way; one that was cut off is
   * given up, and its messages are dead letters too.
   */
  readonly keeps: number;
}

/** The run ended. It can be resumed, after the status `finished` only with a message that came since. */
export interface RunEnded {
  readonly type: "run.ended";
  readonly status: RunStatus;
  readonly error?: ErrorRecord;
}

/** An event without its envelope. */
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
  | ClockAdvanced
  | RoleHired
  | RoleRetired
  | RunResumed
  | RunSettled
  | RunEnded
  | RunErased;

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
      /** Characters of the try before this piece. A listener that has fewer has missed some. */
      readonly at: number;
      readonly text: string;
    }
  /** The text of a try is void: the try broke or was stopped, or its answer did not fit and is asked for again. */
  | { readonly type: "model.void"; readonly role: string; readonly act: string; readonly step: string; readonly try: number }
  /**
   * A call of a tool says how far it is: at most ten times a second, the newest text. It belongs to the `step.started` whose `key` is `step`. It
   * comes as the tool runs, so a replay, which calls none, tells none.
   */
  | {
      readonly type: "tool.progress";
      readonly role: string;
      readonly act: string;
      readonly step: string;
      readonly tool: string;
      readonly text: string;
    }
  /** A model or embedder is about to be asked: the price by which the call will be settled, or null where none is known. */
  | { readonly type: "model.priced"; readonly model: string; readonly price: ModelPrice | null }
  | { readonly type: "message.dead"; readonly message: Message; readonly address: string }
  | { readonly type: "message.dropped"; readonly message: Message; readonly role: string }
  /** The edges did something with a message on its way to a recipient. */
  | { readonly type: "message.fault"; readonly message: Message; readonly fault: EdgeFault }
  | { readonly type: "message.output"; readonly message: Message }
  | { readonly type: "message.unheard"; readonly message: Message }
  | { readonly type: "warning"; readonly role?: string; readonly text: string };

/** Everything a listener can observe by its type. */
export type Observed = RunEvent | RunNotice;

/** The event or notice of one type. */
export type ObservedOf<T extends Observed["type"]> = Extract<Observed, { readonly type: T }>;
