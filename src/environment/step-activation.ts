import type { JsonObject } from "../kernel/json.ts";
import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { LightStream } from "../kernel/random.ts";
import { isThenable } from "../kernel/thenable.ts";
import { valueText } from "../kernel/value-text.ts";
import { UserRequirement } from "../message/address.ts";
import { made, type Message, type MessageFields, nameOr, parentsOfAnswer } from "../message/message.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { StepOut } from "../role/step-role.ts";
import { changedState } from "../run/activations.ts";
import { actName } from "../run/act-name.ts";
import type { RecordedMemoryOp, Sent } from "../run/event.ts";
import type { RoleState } from "../run/role-state.ts";
import type { ToldEnd } from "../run/told-end.ts";
import type { ActivationHost } from "./activation-parts.ts";
import { assertMessageSize } from "./message-size.ts";
import { heldState, type StateChange, stateChange } from "./step-state.ts";

/**
 * One activation of a role that is a step function: the function is called for each message, at one go, and what it said and the state it came
 * to take effect by one event, or not at all. It owns what was said and the state so far.
 *
 * A5 once closed, nothing is said. SA1 it remembers nothing, waits for nothing and asks nobody. SA2 what it does is a function of the seed, the
 * role's name, how often the role has acted, its state, its messages and when it began.
 */
export class StepActivation implements StepOut {
  /** @internal */
  readonly take: number;
  /** @internal */
  readonly at: number;
  readonly #host: ActivationHost;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  /** How many the role had ended before. */
  readonly #n: number;
  #act: string | undefined;
  #message: Message | undefined;
  #said: Sent[] | undefined;
  #change: StateChange | undefined;
  #random: LightStream | undefined;
  #closed = false;

  /**
   * Told one by one: an object for all of it would be made for each activation.
   *
   * @param act its name, unless it is the first attempt of a plain role: then it is named when that is told
   * @param at when it began
   */
  constructor(host: ActivationHost, spec: RoleSpec, role: RoleState, act: string | undefined, take: number, at: number) {
    this.#host = host;
    this.#spec = spec;
    this.#role = role;
    this.#n = role.n;
    this.#act = act;
    this.take = take;
    this.at = at;
  }

  get name(): string {
    return this.#role.name;
  }

  /** @internal */
  get act(): string {
    return (this.#act ??= actName(this.name, this.#n, 1));
  }

  live(): void {
    const first = heldState(this.#role.custom);
    const only = this.take === 1 ? this.#role.oldest : undefined;
    // Most have one.
    if (only !== undefined) return StepActivation.#hear(this, first, only);
    let last = first;
    for (const message of this.#role.news(this.take)) {
      if (this.#change !== undefined) last = heldState(changedState(last, this.#change));
      StepActivation.#hear(this, last, message);
    }
    // Of several changes one is recorded.
    if (last !== first) this.#change = stateChange(first, this.#change === undefined ? last : changedState(last, this.#change));
  }

  /** Nothing can be said any more. */
  close(): void {
    this.#closed = true;
  }

  /** Nobody reads here what is the run's now. */
  settle(): void {}

  /** Everything this activation changed. */
  ended(round: number): ToldEnd {
    const { take, at } = this;
    const role = this.#role.name;
    const said = this.#said ?? silence;
    const state = this.#change;
    // Written out twice: a spread costs more than all of it.
    if (state === undefined) return { type: "act.ended", by: this, role, round, take, at, said, memory: noOps, working: noOps };
    return { type: "act.ended", by: this, role, round, take, at, said, memory: noOps, working: noOps, state };
  }

  say<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    if (this.#closed) throw new ContextClosedError(this.act, "a message");
    assertMessageSize(content, this.#host.messageLimit, this.name);
    const { causeBy, sentFrom, parents } = fields;
    const { name, n } = this.#role;
    const message = made(
      content,
      fields,
      this.#said === undefined ? `${name}#${n}.0` : `${name}#${n}.${this.#said.length}`,
      fields.role ?? "assistant",
      causeBy === undefined ? this.#spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom === undefined ? name : nameOr(sentFrom, ""),
      parents === undefined || parents === null ? answered(this.#message) : Object.freeze([...parents]),
      this.at,
    );
    const { to, dead } = this.#host.directory.route(message, name);
    const sent = dead.length === 0 ? { message, to } : { message, to, dead };
    // A list that grows has room for many; most activations say one thing.
    if (this.#said === undefined) this.#said = [sent];
    else this.#said.push(sent);
    return message;
  }

  // Of the class: each instance would carry the brand of a method of its own.
  static #hear(one: StepActivation, state: JsonObject, message: Message): void {
    one.#message = message;
    const given: unknown = one.#spec.role.step?.(state, message, one);
    one.#change = given === undefined || given === state ? undefined : stateChange(state, stateIn(given, one.name));
  }

  random(): number {
    this.#random ??= new LightStream(this.#host.seed, this.name, this.#role.n);
    return this.#random.next();
  }

  now(): number {
    return this.at;
  }
}

function answered(message: Message | undefined): readonly string[] {
  return message === undefined ? nobody : parentsOfAnswer(message.id);
}

/** @throws UsageError `STEP_RESULT` when it is no object, or a promise */
function stateIn(given: unknown, name: string): object {
  if (isThenable(given)) {
    // Nobody waits for it: that it fails must not end the process.
    void Promise.resolve(given).catch(() => {});
    throw new UsageError(
      "STEP_RESULT",
      `Expected the step function of ${name} to be done when it returns, got a promise. Do what waits in a role with react, which tells the result by a message.`,
    );
  }
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  throw new UsageError(
    "STEP_RESULT",
    `Expected the step function of ${name} to return the next state or nothing, got ${valueText(given)}. Return an object: ({ ...state }).`,
  );
}

const nobody: readonly string[] = Object.freeze([]);
const silence: readonly Sent[] = Object.freeze([]);
const noFields: MessageFields<never> = Object.freeze({});
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
