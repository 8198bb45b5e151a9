import { JournalError, QueueFullError, UsageError, WaitingError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isRecord, isText } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { ROUTE_TO_NONE } from "../../message/address.ts";
import { createMessage, type Message } from "../../message/message.ts";
import { checkSignalName } from "../../role/wait.ts";
import { answerFaults } from "../../tool/answer-faults.ts";
import { faultsText } from "../../tool/question-form.ts";
import type { StepStarted } from "./event.ts";
import { type PendingQuestion, questionIn } from "./questions.ts";
import { NO_RETRY, type RetryState, type RoleState } from "./role-state.ts";
import { isFinished, roleOf, type RunState } from "./run-state.ts";

/*
 * A signal is a message from outside to no role, so its record, its id, its way to another process and its erasure are those of a message. A wait is a
 * question that a signal or the clock answers. The state keeps the signals that no wait has taken.
 *
 * Signals.G1 (`takeSignal`) a signal ends one wait at most, because the recorded answer of the wait names it.
 * Signals.G2 (`admitSignal`) a run keeps a bounded number of signals, and a finished run none.
 */

export const SIGNAL = "<signal>";
/** Signals of a run that no wait has taken. */
const MOST_KEPT = 1_000;
/** Characters of a value as JSON. */
const LONGEST_VALUE = 1_000_000;
/** The id of a role's message has a #. */
const SIGNAL_ID = /^[^#]{1,200}$/;

type Wait = Pick<PendingQuestion, "wait" | "form" | "deadline">;

export interface Signal {
  readonly name: string;
  readonly value: Json | undefined;
}

/** @throws UsageError `WAIT_INVALID`, `SIGNAL_INVALID`; NotJsonError */
export function signalMessage(
  name: string,
  value: Json | undefined,
  { id, now }: { readonly id: string | undefined; readonly now: number },
): Message {
  checkSignalName("signal", name);
  if (id !== undefined && !(isText(id) && SIGNAL_ID.test(id)))
    throw new UsageError("SIGNAL_INVALID", `Expected the id of a signal to have 1 to 200 characters without #, got ${valueText(id)}.`);
  const instructContent = { value: value ?? null };
  const message = createMessage(`Signal ${JSON.stringify(name)}`, {
    ...(id === undefined ? {} : { id }),
    ...{ causeBy: SIGNAL, sendTo: ROUTE_TO_NONE, metadata: { signal: name }, instructContent, timestamp: now },
  });
  const { length } = JSON.stringify(message.instructContent);
  if (length <= LONGEST_VALUE) return message;
  const expected = `Expected the value of the signal ${JSON.stringify(name)} to have at most ${LONGEST_VALUE} characters as JSON`;
  throw new UsageError("SIGNAL_INVALID", `${expected}, got ${length}. Write it to a file, and signal the name of the file.`);
}

export function signalIn({ causeBy, metadata, instructContent }: Message): Signal | undefined {
  const { signal: name } = metadata;
  if (causeBy !== SIGNAL || !isText(name)) return undefined;
  return { name, value: isRecord(instructContent) ? (instructContent["value"] as Json) : null };
}

export function keepSignal({ signals }: RunState, message: Message): void {
  const signal = signalIn(message);
  if (signal !== undefined) signals.set(signal.name, [...(signals.get(signal.name) ?? []), message]);
}

/** Applies the answer of a step: the signal that it names is no longer kept. */
export function takeSignal({ signals }: RunState, { request }: StepStarted, answer: unknown): void {
  const { wait } = questionIn({ request });
  if (wait === undefined || !isRecord(answer)) return;
  const left = (signals.get(wait) ?? []).filter(({ id }) => id !== answer["signal"]);
  if (left.length > 0) signals.set(wait, left);
  else signals.delete(wait);
}

/** Returns the kept signals that end a wait, the oldest first. One that came after its deadline is too late. */
export function signalsFor(signals: RunState["signals"], { wait = "", form, deadline = Infinity }: Wait): readonly Message[] {
  return (signals.get(wait) ?? []).filter((message) => message.timestamp <= deadline && faultsOf(message, form).length === 0);
}

function faultsOf(message: Message, form: Wait["form"]): ReturnType<typeof answerFaults> {
  return form?.kind === "fields" ? answerFaults(signalIn(message)?.value ?? null, form.schema) : [];
}

export function isWaitOver(state: Pick<RunState, "signals">, wait: Wait, now: number): boolean {
  return (wait.deadline ?? Infinity) <= now || signalsFor(state.signals, wait).length > 0;
}

export function waitsOf({ open }: RoleState): readonly Wait[] {
  const asking = [...(open?.steps.values() ?? [])].filter(({ started, outcome }) => started.kind === "human" && outcome === undefined);
  return asking.map(({ started }) => questionIn(started)).filter(({ wait }) => wait !== undefined);
}

export function openWaits(state: RunState): readonly Wait[] {
  return state.erased ? [] : [...state.open].flatMap((name) => waitsOf(roleOf(state, name)));
}

/** True for the reason why an activation that waits is suspended. */
export function isWait(control: unknown): control is WaitingError {
  return control instanceof WaitingError && (control.data as { readonly wait?: string }).wait !== undefined;
}

/** True for a signal for which an open wait of a run is over. */
export function isAwaited(state: RunState, message: Message): boolean {
  const name = signalIn(message)?.name;
  return openWaits(state).some((wait) => wait.wait === name && isWaitOver(state, wait, message.timestamp));
}

/** @throws JournalError `RUN_FINISHED`; UsageError `SIGNAL_INVALID`; QueueFullError `SIGNALS_FULL` */
export function admitSignal(state: RunState, message: Message): void {
  const signal = signalIn(message);
  if (signal === undefined) return;
  const name = JSON.stringify(signal.name);
  if (isFinished(state))
    throw new JournalError(
      "RUN_FINISHED",
      `Expected a run that can wait for ${name}, but ${state.runId} has finished. Signal one that waits.`,
    );
  const open = openWaits(state).filter(({ wait, deadline = Infinity }) => wait === signal.name && message.timestamp <= deadline);
  const [faults = [], ...others] = open.map(({ form }) => faultsOf(message, form));
  if (faults.length > 0 && others.every((found) => found.length > 0)) {
    const expected = `Expected a value that fits the wait for the signal ${name}, which stays open`;
    throw new UsageError("SIGNAL_INVALID", `${expected}. ${faultsText(faults)}`, { data: { faults } });
  }
  const kept = [...state.signals.values()].reduce((sum, { length }) => sum + length, 0);
  if (kept < MOST_KEPT) return;
  const expected = `Expected room for the signal ${name}, but run ${state.runId} keeps ${kept} signals that no role has waited for`;
  throw new QueueFullError(MOST_KEPT, "SIGNALS_FULL", `${expected}. Signal names that its roles wait for.`);
}

/** Returns the ends of waits and the changes of the board: a signal comes once, time does not pass again, and a task is added once. */
export function lastingAmong(answers: RetryState["carry"]): RetryState["carry"] {
  const lasting = [...answers].filter(([, outcome]) => outcome.isLasting === true);
  return lasting.length === 0 ? NO_RETRY.carry : new Map(lasting);
}
