import { interruptionBy } from "../../kernel/abort.ts";
import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { LightStream, namedStream, type RandomStream } from "../../kernel/random.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Message, MessageFields } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { StepOut } from "../../role/step-role.ts";
import type { Engine } from "../engine.ts";
import { changedState, heldState, stateChange } from "../record/state-change.ts";
import type { RecordedMemoryOp, Sent } from "../record/event.ts";
import { delayedBy, dueOf, assertRoomForAct } from "../record/delivery.ts";
import type { RoleState } from "../record/role-state.ts";
import {
  type ActivationOutcome,
  assertNotDead,
  type StartedAct,
  commit,
  type Changes,
  messageOf,
  parentsIn,
  routedBy,
  type TurnResult,
  type TurnTools,
} from "./commit.ts";

/**
 * One attempt at an activation of a step role: its function is called for each message, or once for all, and one event commits its messages
 * and its new state. This is the fast path for a million roles: a step role remembers nothing, waits for nothing and has no steps, so an
 * attempt needs no scope and no time limit, and is over when this returns.
 *
 * @throws the error that broke the journal
 */
export function stepTurn(tools: TurnTools, spec: RoleSpec, role: RoleState, started: StartedAct): TurnResult {
  const out = new StepOutbox(tools, spec, role, started.at);
  let outcome: ActivationOutcome;
  try {
    const state = stepThrough(spec, role, role.news(started.take), out);
    const said = tools.edges === undefined ? out.said : tools.edges.pass(out.said, role.name, tools.log.state.tick);
    if (said.length > 0) assertRoomForAct(tools.log.state, role, said, started.take);
    outcome = { kind: "done", changes: { said, memory: noOps, working: noOps, state } };
  } catch (error) {
    outcome = { kind: "failed", error };
  }
  out.close();
  const { ended } = tools.host.scope;
  return commit(tools, spec, role, started, ended === undefined ? outcome : { kind: "failed", error: interruptionBy(ended.reason) });
}

/** Calls the function of a role for its messages, and returns the change of its state. */
export function stepThrough(
  { role: definition }: RoleSpec,
  role: RoleState,
  messages: readonly Message[],
  out: StepOutbox,
): Changes["state"] {
  if (definition.steps !== undefined) {
    const held = heldState(role.custom);
    out.readAll(messages);
    return changeTo(held, definition.steps(held, Object.freeze(messages), out), role.name);
  }
  const first = heldState(role.custom);
  let state = first;
  let changes = 0;
  let change: Changes["state"];
  for (const message of messages) {
    out.read(message);
    const given: unknown = definition.step?.(state, message, out);
    const next = changeTo(state, given, role.name);
    if (next === undefined) continue;
    changes += 1;
    change = next;
    state = heldState(changedState(state, next));
  }
  // Several changes are recorded as one.
  return changes > 1 ? stateChange(first, state) : change;
}

export function changeTo(state: JsonObject, given: unknown, name: string): Changes["state"] {
  return given === undefined || given === state ? undefined : stateChange(state, stateIn(given, name));
}

/** @throws UsageError `STEP_RESULT` for a promise or a value that is no object */
function stateIn(given: unknown, name: string): JsonObject {
  if (isThenable(given)) {
    // The promise is not awaited: its rejection must not end the process.
    void Promise.resolve(given).catch(() => {});
    throw new UsageError(
      "STEP_RESULT",
      `Expected the step function of ${name} to be synchronous, got a promise. Do asynchronous work in a role with react, which sends its result as a message.`,
    );
  }
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as JsonObject;
  throw new UsageError(
    "STEP_RESULT",
    `Expected the step function of ${name} to return the next state or nothing, got ${valueText(given)}. Return an object: ({ ...state }).`,
  );
}

/**
 * The output of a step function. It owns the messages of one attempt.
 *
 * StepOutbox.S1 (`say`, `after`) once closed, no message is sent.
 * StepOutbox.S2 (`random`, `stream`, `now`) the values are functions of the seed, the role's name, its activation count, and the start of the
 * activation. Each call of the function has streams of its own.
 */
export class StepOutbox implements StepOut {
  protected readonly host: Engine;
  protected readonly role: RoleState;
  protected readonly at: number;
  protected isOpen = false;
  /** The number of messages sent. */
  protected count = 0;
  /** The tick at which the message arrives that is being sent, if it is delayed. */
  protected due: number | undefined;
  readonly #spec: RoleSpec;
  readonly #n: number;
  readonly #attempt: number;
  #read = -1;
  #news: readonly Message[] = nothingRead;
  #unanswered: string[] | undefined;
  #hasAnswered = true;
  #said: Sent[] | undefined;
  #random: LightStream | undefined;
  #streams: RandomStream | undefined;

  constructor({ host }: Pick<TurnTools, "host">, spec: RoleSpec, role: RoleState, at: number, n: number = role.n) {
    this.host = host;
    this.#spec = spec;
    this.role = role;
    this.at = at;
    this.#n = n;
    this.#attempt = role.retry.failures + 1;
  }

  get name(): string {
    return this.role.name;
  }

  get said(): readonly Sent[] {
    return this.#said ?? nothingSaid;
  }

  read(message: Message): void {
    if (this.#hasAnswered) this.#unanswered = [message.id];
    else this.#unanswered?.push(message.id);
    this.#hasAnswered = false;
    this.isOpen = true;
    this.#read += 1;
    this.#streams = undefined;
  }

  /** All messages are read before the first answer. */
  readAll(messages: readonly Message[]): void {
    this.#news = messages;
    this.isOpen = true;
    this.#read = 0;
  }

  close(): void {
    this.isOpen = false;
  }

  say<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    if (!this.isOpen) throw new ContextClosedError(`${this.name}#${this.#n}~${this.#attempt}`, "a message");
    const { name } = this.role;
    const given = routedBy(fields, this.#spec.card.name, name);
    const { sendTo } = given;
    const { to, dead } = this.host.directory.route(given, name);
    if (dead.length > 0) assertNotDead(this.host, name, dead);
    // A message in flight to one role has no list of its own.
    const routed = to.length === 1 && sendTo.length === 1 && to[0] === sendTo[0] ? { ...given, sendTo: to } : given;
    const message = messageOf(this.host, this.role, this.count, content, fields, routed, parentsIn(fields) ?? this.parents(), this.at);
    this.count += 1;
    this.#hasAnswered = true;
    this.send(delayedBy(dead.length === 0 ? { message, to } : { message, to, dead }, this.due));
    return message;
  }

  /** The ids of the messages read since the last answer. The next message read begins a new list. */
  protected parents(): readonly string[] {
    this.#unanswered ??= this.#news.map(({ id }) => id);
    return Object.freeze(this.#unanswered);
  }

  protected send(sent: Sent): void {
    if (this.#said === undefined) this.#said = [sent];
    else this.#said.push(sent);
  }

  after<P = unknown>(delay: number, content: string, fields?: MessageFields<P>): Message<P> {
    this.due = dueOf(this.host.state, delay, this.name);
    try {
      return this.say(content, fields);
    } finally {
      this.due = undefined;
    }
  }

  random(): number {
    this.#random ??= new LightStream(this.host.seed, this.role.name, this.#n);
    return this.#random.next();
  }

  stream(name: string): RandomStream {
    const nth = this.#read === 0 ? [] : [this.#read];
    this.#streams ??= namedStream(this.host.seed, "role", this.name, this.#n, ...nth);
    return this.#streams.split(name);
  }

  now(): number {
    return this.at;
  }

  get round(): number {
    return this.host.state.round;
  }

  get tick(): number {
    return this.host.state.tick;
  }

  arrivedAt({ id }: Message): number {
    const { role } = this;
    if (role.held > 0 && role.mailbox.holds(id)) return role.arrivedAt(id);
    // In the lane the mail of a round is not in mailboxes.
    if (role.held === 0 && this.#news.some((message) => message.id === id)) return this.tick;
    throw new UsageError(
      "MESSAGE_INVALID",
      `Expected a message that ${role.name} reads now, got ${valueText(id)}. Give arrivedAt one of its messages.`,
    );
  }
}

const noFields: MessageFields<never> = Object.freeze({});
const nothingRead: readonly Message[] = Object.freeze([]);
const nothingSaid: readonly Sent[] = Object.freeze([]);
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
