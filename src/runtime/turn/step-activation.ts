import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { LightStream } from "../../kernel/random.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { UserRequirement } from "../../message/address.ts";
import { made, type Message, type MessageFields, nameOr, parentsOfAnswer } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { StepOut } from "../../role/step-role.ts";
import { changedState } from "../record/activations.ts";
import { actName } from "../record/act-name.ts";
import type { RecordedMemoryOp, Sent } from "../record/event.ts";
import { messageId } from "../record/message-id.ts";
import type { RoleState } from "../record/role-state.ts";
import type { ToldEnd } from "../record/told-end.ts";
import type { ActivationHost } from "./activation-parts.ts";
import { assertMessageSize } from "./message-size.ts";
import { heldState, type StateChange, stateChange } from "./step-state.ts";

/**
 * One activation of a role that is a step function: the function is called for each message, at one go, and what it said and the state it came
 * to take effect by one event, or not at all. It owns what was said and the state so far.
 *
 * A5 once closed, nothing is said. SA1 it remembers nothing, waits for nothing and asks nobody. SA2 what it does is a function of the seed, the
 * role's name, how often the role has acted, its state, its messages and when it began.
 *
 * Each is made for one turn, and a turn is short: it has few fields, and what every turn comes by is written out in one place.
 */
export class StepActivation implements StepOut {
  /** @internal */
  readonly take: number;
  /** @internal */
  readonly at: number;
  readonly #host: ActivationHost;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  /** Its name, or how many the role had ended before its first attempt, as long as nobody asks. */
  #act: string | number;
  /** The one that is heard: nobody speaks at another time. */
  #message: Message | undefined;
  #said: Sent[] | undefined;
  #change: StateChange | undefined;
  #random: LightStream | undefined;
  /** Where it hears several, those that it has not answered yet. */
  #unanswered: string[] | undefined;

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
    this.#act = act ?? role.n;
    this.take = take;
    this.at = at;
  }

  get name(): string {
    return this.#role.name;
  }

  /** @internal */
  get act(): string {
    if (typeof this.#act === "number") this.#act = actName(this.name, this.#act, 1);
    return this.#act;
  }

  /** Hears the only message it takes, and is closed. @returns everything it changed */
  hearOnly(message: Message, round: number): ToldEnd {
    const { at } = this;
    const { name, custom } = this.#role;
    const { role, initialState } = this.#spec;
    // What all begin with is held since somebody was hired with it.
    const before = custom === initialState ? custom : heldState(custom);
    this.#message = message;
    const given: unknown = role.step?.(before, message, this);
    this.#message = undefined;
    const said = this.#said ?? silence;
    if (said.length > 0) this.#host.assertRoom(this.#role, said, 1);
    const state = given === undefined || given === before ? undefined : stateChange(before, stateIn(given, name));
    // Written out twice: a spread costs more than all of it.
    if (state === undefined) return { type: "act.ended", by: this, role: name, round, take: 1, at, said, memory: noOps, working: noOps };
    return { type: "act.ended", by: this, role: name, round, take: 1, at, said, memory: noOps, working: noOps, state };
  }

  live(): void {
    const { role } = this.#spec;
    const first = heldState(this.#role.custom);
    let last = first;
    const unanswered: string[] = (this.#unanswered = []);
    for (const message of this.#role.news(this.take)) {
      const before = this.#said?.length;
      unanswered.push(message.id);
      if (this.#change !== undefined) last = heldState(changedState(last, this.#change));
      this.#message = message;
      const given: unknown = role.step?.(last, message, this);
      this.#change = given === undefined || given === last ? undefined : stateChange(last, stateIn(given, this.name));
      if (this.#said?.length !== before) unanswered.length = 0;
    }
    // Of several changes one is recorded.
    if (last !== first) this.#change = stateChange(first, this.#change === undefined ? last : changedState(last, this.#change));
  }

  /** The same of all that it takes. */
  hearAll(round: number): ToldEnd {
    this.live();
    this.close();
    return this.ended(round);
  }

  /** Nothing can be said any more. */
  close(): void {
    this.#message = undefined;
  }

  /** Nobody reads here what is the run's now. */
  settle(): void {}

  /** Everything this activation changed. */
  ended(round: number): ToldEnd {
    const { take, at } = this;
    const role = this.#role.name;
    const said = this.#said ?? silence;
    if (said.length > 0) this.#host.assertRoom(this.#role, said, take);
    const state = this.#change;
    // Written out twice: a spread costs more than all of it.
    if (state === undefined) return { type: "act.ended", by: this, role, round, take, at, said, memory: noOps, working: noOps };
    return { type: "act.ended", by: this, role, round, take, at, said, memory: noOps, working: noOps, state };
  }

  say<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    const answered = this.#message;
    if (answered === undefined) throw new ContextClosedError(this.act, "a message");
    const { messageLimit, directory } = this.#host;
    const { name, n } = this.#role;
    if (typeof content !== "string" || content.length > messageLimit) assertMessageSize(content, messageLimit, name);
    const said = this.#said;
    const { causeBy, sentFrom, parents } = fields;
    const message = made(
      content,
      fields,
      messageId(name, n, said === undefined ? 0 : said.length),
      fields.role ?? "assistant",
      causeBy === undefined ? this.#spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom === undefined ? name : nameOr(sentFrom, ""),
      parents === undefined || parents === null ? this.#heard(answered) : Object.freeze([...parents]),
      this.at,
    );
    const { to, dead } = directory.route(message, name);
    const sent = dead.length === 0 ? { message, to } : { message, to, dead };
    // A list that grows has room for many; most activations say one thing.
    if (said === undefined) this.#said = [sent];
    else said.push(sent);
    return message;
  }

  /** What a word answers: what was heard since one was said, up to the message at hand. */
  #heard({ id }: Message): readonly string[] {
    const unanswered = this.#unanswered;
    return unanswered === undefined || unanswered.length === 1 ? parentsOfAnswer(id) : Object.freeze([...unanswered]);
  }

  random(): number {
    this.#random ??= new LightStream(this.#host.seed, this.name, this.#role.n);
    return this.#random.next();
  }

  now(): number {
    return this.at;
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

const silence: readonly Sent[] = Object.freeze([]);
const noFields: MessageFields<never> = Object.freeze({});
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
