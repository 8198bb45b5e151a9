import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { LightStream } from "../kernel/random.ts";
import { isThenable } from "../kernel/thenable.ts";
import { valueText } from "../kernel/value-text.ts";
import { UserRequirement } from "../message/address.ts";
import { made, type Message, type MessageFields, nameOr } from "../message/message.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { StepOut } from "../role/step-role.ts";
import { changedState } from "../run/activations.ts";
import type { ActEnded, RecordedMemoryOp, Sent } from "../run/event.ts";
import type { RoleState } from "../run/role-state.ts";
import type { ActivationHost, ActivationParts } from "./activation-parts.ts";
import { assertMessageSize } from "./message-size.ts";
import { heldState, type StateChange, stateChange } from "./step-state.ts";

type StepParts = Pick<ActivationParts, "act" | "spec" | "state" | "take" | "host" | "now">;

/**
 * One activation of a role that is a step function: the function is called for each message, at one go, and what it said and the state it came
 * to take effect by one event, or not at all. It owns what was said and the state so far.
 *
 * A5 once closed, nothing is said. SA1 it remembers nothing, waits for nothing and asks nobody. SA2 what it does is a function of the seed, the
 * role's name, how often the role has acted, its state, its messages and when it began.
 */
export class StepActivation implements StepOut {
  readonly name: string;
  readonly #act: string;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  readonly #take: number;
  readonly #host: ActivationHost;
  readonly #at: number;
  #message: Message | undefined;
  #said: Sent[] | undefined;
  #change: StateChange | undefined;
  #random: LightStream | undefined;
  #closed = false;

  // Taken apart, so that what is given needs not be made where it is made only for this.
  constructor({ act, spec, state, take, host, now }: StepParts) {
    this.name = state.name;
    this.#act = act;
    this.#spec = spec;
    this.#role = state;
    this.#take = take;
    this.#host = host;
    this.#at = now;
  }

  live(): void {
    const { role } = this.#spec;
    const first = heldState(this.#role.custom);
    let last = first;
    for (const message of this.#role.news(this.#take)) {
      if (this.#change !== undefined) last = heldState(changedState(last, this.#change));
      this.#message = message;
      const given: unknown = role.step?.(last, message, this);
      this.#change = given === undefined || given === last ? undefined : stateChange(last, stateIn(given, this.name));
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

  /**
   * Everything this activation changed.
   *
   * @param at when it began, where no record tells
   */
  ended(round: number, at: number): ActEnded {
    const act = this.#act;
    const take = this.#take;
    const said = this.#said ?? silence;
    const state = this.#change;
    // Written out twice: a spread costs more than all of it.
    if (state === undefined) return { type: "act.ended", act, role: this.name, round, take, at, said, memory: noOps, working: noOps };
    return { type: "act.ended", act, role: this.name, round, take, at, said, memory: noOps, working: noOps, state };
  }

  say<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    if (this.#closed) throw new ContextClosedError(this.#act, "a message");
    assertMessageSize(content, this.#host.messageLimit, this.name);
    const { causeBy, sentFrom, parents } = fields;
    const message = made(content, fields, {
      id: `${this.name}#${this.#role.n}.${this.#said?.length ?? 0}`,
      role: fields.role ?? "assistant",
      causeBy: causeBy === undefined ? this.#spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom: sentFrom === undefined ? this.name : nameOr(sentFrom, ""),
      parents: parents === undefined || parents === null ? this.#answered : Object.freeze([...parents]),
      timestamp: this.#at,
    });
    const { to, dead } = this.#host.directory.route(message, this.name);
    const sent = dead.length === 0 ? { message, to } : { message, to, dead };
    // A list that grows has room for many; most activations say one thing.
    if (this.#said === undefined) this.#said = [sent];
    else this.#said.push(sent);
    return message;
  }

  get #answered(): readonly string[] {
    return this.#message === undefined ? nobody : Object.freeze([this.#message.id]);
  }

  random(): number {
    this.#random ??= new LightStream(this.#host.seed, this.name, this.#role.n);
    return this.#random.next();
  }

  now(): number {
    return this.#at;
  }
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
