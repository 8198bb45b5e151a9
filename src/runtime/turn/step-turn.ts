import { interruptionBy } from "../../kernel/abort.ts";
import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { LightStream, namedStream, type RandomStream } from "../../kernel/random.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Message, MessageFields } from "../../message/message.ts";
import type { Role } from "../../role/role.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { StepOut } from "../../role/step-role.ts";
import type { Engine } from "../engine.ts";
import { changedState, heldState, stateChange } from "../record/state-change.ts";
import type { RecordedMemoryOp, Sent } from "../record/event.ts";
import { delayedBy, dueOf, assertRoomForAct } from "../record/delivery.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RunState } from "../record/run-state.ts";
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
  const out = new StepOutbox(tools, spec, role, started);
  let outcome: ActivationOutcome;
  try {
    const changes = stepThrough(spec, role, started, out);
    const said = tools.edges === undefined ? changes.said : tools.edges.pass(changes.said, role.name, tools.log.state.tick);
    if (said.length > 0) assertRoomForAct(tools.log.state, role, said, started.take);
    outcome = { kind: "done", changes: said === changes.said ? changes : { ...changes, said } };
  } catch (error) {
    outcome = { kind: "failed", error };
  }
  out.close();
  const { ended } = tools.host.scope;
  return commit(tools, spec, role, started, ended === undefined ? outcome : { kind: "failed", error: interruptionBy(ended.reason) });
}

function stepThrough({ role: definition }: RoleSpec, role: RoleState, { take }: StartedAct, out: StepOutbox): Changes {
  if (definition.steps !== undefined) return stepOnce(definition, role, take, out);
  const first = heldState(role.custom);
  let state = first;
  let changes = 0;
  let change: Changes["state"];
  for (const message of role.news(take)) {
    out.read(message);
    const given: unknown = definition.step?.(state, message, out);
    const next = changeTo(state, given, role.name);
    if (next === undefined) continue;
    changes += 1;
    change = next;
    state = heldState(changedState(state, next));
  }
  // Several changes are recorded as one.
  if (changes > 1) change = stateChange(first, state);
  return { said: out.said, memory: noOps, working: noOps, state: change };
}

function stepOnce(definition: Role, role: RoleState, take: number, out: StepOutbox): Changes {
  const messages = Object.freeze(role.news(take));
  const state = heldState(role.custom);
  out.readAll(messages);
  const given: unknown = definition.steps?.(state, messages, out);
  return { said: out.said, memory: noOps, working: noOps, state: changeTo(state, given, role.name) };
}

function changeTo(state: JsonObject, given: unknown, name: string): Changes["state"] {
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
class StepOutbox implements StepOut {
  readonly #host: Engine;
  readonly #state: RunState;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  readonly #started: StartedAct;
  #isOpen = false;
  #read = -1;
  #unanswered: string[] = [];
  #hasAnswered = true;
  #said: Sent[] | undefined;
  #random: LightStream | undefined;
  #streams: RandomStream | undefined;

  constructor({ host, log }: TurnTools, spec: RoleSpec, role: RoleState, started: StartedAct) {
    this.#host = host;
    this.#state = log.state;
    this.#spec = spec;
    this.#role = role;
    this.#started = started;
  }

  get name(): string {
    return this.#role.name;
  }

  get said(): readonly Sent[] {
    return this.#said ?? nothingSaid;
  }

  read(message: Message): void {
    if (this.#hasAnswered) this.#unanswered = [message.id];
    else this.#unanswered.push(message.id);
    this.#hasAnswered = false;
    this.#isOpen = true;
    this.#read += 1;
    this.#streams = undefined;
  }

  /** All messages are read before the first answer. */
  readAll(messages: readonly Message[]): void {
    this.#unanswered = messages.map(({ id }) => id);
    this.#isOpen = true;
    this.#read = 0;
  }

  close(): void {
    this.#isOpen = false;
  }

  say<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    if (!this.#isOpen) throw new ContextClosedError(this.#started.act, "a message");
    const { name } = this.#role;
    const given = routedBy(fields, this.#spec.card.name, name);
    const { sendTo } = given;
    const { to, dead } = this.#host.directory.route(given, name);
    if (dead.length > 0) assertNotDead(this.#host, name, dead);
    // A message in flight to one role has no list of its own.
    const routed = to.length === 1 && sendTo.length === 1 && to[0] === sendTo[0] ? { ...given, sendTo: to } : given;
    // The next message read begins a new list.
    const parents = parentsIn(fields) ?? Object.freeze(this.#unanswered);
    const message = messageOf(this.#host, this.#role, this.said.length, content, fields, routed, parents, this.#started.at);
    this.#send(dead.length === 0 ? { message, to } : { message, to, dead });
    this.#hasAnswered = true;
    return message;
  }

  #send(sent: Sent): void {
    if (this.#said === undefined) this.#said = [sent];
    else this.#said.push(sent);
  }

  after<P = unknown>(delay: number, content: string, fields?: MessageFields<P>): Message<P> {
    const due = dueOf(this.#state, delay, this.name);
    const message = this.say(content, fields);
    const sent = this.#said?.pop();
    if (sent !== undefined) this.#send(delayedBy(sent, due));
    return message;
  }

  random(): number {
    this.#random ??= new LightStream(this.#host.seed, this.name, this.#role.n);
    return this.#random.next();
  }

  stream(name: string): RandomStream {
    const nth = this.#read === 0 ? [] : [this.#read];
    this.#streams ??= namedStream(this.#host.seed, "role", this.name, this.#role.n, ...nth);
    return this.#streams.split(name);
  }

  now(): number {
    return this.#started.at;
  }

  get round(): number {
    return this.#state.round;
  }

  get tick(): number {
    return this.#state.tick;
  }
}

const noFields: MessageFields<never> = Object.freeze({});
const nothingSaid: readonly Sent[] = Object.freeze([]);
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
