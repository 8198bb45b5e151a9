import { type AnySchema, zodOf } from "../model/standard-schema.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { NotJsonError, UsageError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { StepPort } from "../kernel/step.ts";
import { isRecord, isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Task } from "../agent/task.ts";
import { type Address, addressOf } from "../message/address.ts";
import { checkFields, createMessage, isCauseLeftOpen, isMessage, type Message, type MessageFields } from "../message/message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { SteppedModel } from "../model/ask.ts";
import { partsOf } from "../model/file-parts.ts";
import { meters } from "../model/meter.ts";
import { Action, type InputsOf, isAction, noAction } from "./action.ts";
import type { Human } from "./human.ts";
import type { WaitForOptions } from "./wait.ts";
import type { ActionContext, AskOptions, CustomState, EffectDoor, GivenValues, JoinMarks, RoleCard, RoleContext } from "./context.ts";
import type { Plan } from "./plan.ts";
import type { Guard } from "../tool/guard.ts";
import { assertHandedOn, checkedOutput } from "./action-output.ts";
import { guardedAct, guardsOf } from "./guarded-act.ts";
import type { Said } from "./role.ts";

export function modelFor<S>(rc: RoleContext<S>, action: Action | undefined): SteppedModel {
  return (action?.model === undefined ? undefined : rc.modelOf?.(action.model)) ?? rc.model;
}

/** The input of the next action, by the news that it replaces. A context passed on by hand has the same news. */
const replacedNews = new WeakMap<readonly Message[], readonly Message[]>();

export function replaceNews(news: readonly Message[], messages: readonly Message[]): void {
  replacedNews.set(news, messages);
}

/** Works on the whole news or, if one action follows another, on the messages of the previous action. */
export function act<S>(rc: RoleContext<S>, action: Action, work: Work = { news: replacedNews.get(rc.news) }): Said | Promise<Said> {
  if (!(action instanceof Action) && !isAction(action)) throw noAction(action, `act of role ${rc.name}`);
  const guards = guardsOf(rc, action);
  if (guards.length > 0) return actBetween(guards, rc, action, work);
  return actOn(rc, action, work, remembered);
}

async function actBetween<S>(guards: readonly Guard[], rc: RoleContext<S>, action: Action, work: Work): Promise<Said> {
  const run = async (text: string): Promise<readonly Message[]> => actOn(rc, action, { ...work, text }, issued);
  const { text } = new ActionView(rc, action, work);
  const said = await guardedAct({ rc, action, guards, run }, text);
  for (const message of said) rc.memory.put(message);
  return said.length > 1 ? said : said[0];
}

function actOn<S, T>(
  rc: RoleContext<S>,
  action: Action,
  work: Work,
  then: (rc: RoleContext<S>, action: Action, view: View, result: unknown) => T,
): T | Promise<T> {
  const view = new ActionView(rc, action, work);
  rc.actionStarted?.(action.name);
  let result: unknown;
  try {
    const isMetered = rc.meter !== undefined && action.run !== Action.prototype.run;
    result = isMetered ? meters.run(rc.meter, runAction, action, view) : runAction(action, view);
  } catch (error) {
    return failed(rc, action, error);
  }
  if (!isThenable(result)) return then(rc, action, view, result);
  return Promise.resolve(result).then(
    (came) => then(rc, action, view, came),
    (error: unknown) => failed(rc, action, error),
  );
}

function runAction<S>(action: Action, view: ActionView<readonly Address[], S>): unknown {
  return action.run(view as unknown as ActionContext<never>);
}

function failed<S>(rc: RoleContext<S>, { name }: Action, error: unknown): never {
  rc.actionFailed?.(name, error);
  throw error;
}

function remembered<S>(rc: RoleContext<S>, action: Action, view: View, result: unknown): Said {
  // Nearly every result is one message without a payload.
  if (action.output === undefined && isMessage(result)) {
    const message = rc.issue(result, action.name);
    rc.memory.put(message);
    return message;
  }
  const said = issued(rc, action, view, result);
  for (const message of said) rc.memory.put(message);
  return said.length > 1 ? said : said[0];
}

function issued<S>(rc: RoleContext<S>, action: Action, view: View, result: unknown): readonly Message[] {
  if (result === undefined || result === null) return nothing;
  const isOne = isMessage(result);
  if (!isOne && isMessageList(result, action)) return result.map((message) => reissued(rc, action, view, message));
  return [isOne ? reissued(rc, action, view, result) : newMessage(action, view, result)];
}

type View = Pick<ActionView<readonly Address[]>, "message" | "isAnswer" | "isAnswered">;

function newMessage(action: Action, view: View, result: unknown): Message {
  if (action.output !== undefined) return typedMessage(action, view, result);
  if (typeof result === "string") return view.message(result, destination(action, view, undefined));
  throw new UsageError(
    "ACTION_RESULT",
    `Expected action ${action.name} to return a string, a message or nothing, got ${valueText(result)}. Give it an output schema to return data.`,
  );
}

/** True for a list of messages. An empty list counts as messages, unless the action has an output schema: then it is data. */
function isMessageList(result: unknown, action: Action): result is readonly Message[] {
  return Array.isArray(result) && result.every(isMessage) && (result.length > 0 || action.output === undefined);
}

function typedMessage(action: Action, view: View, value: unknown): Message {
  const output = view.isAnswer(value) ? value : checkedOutput(action, value);
  assertHandedOn(action, output);
  const content = action.render?.(output) ?? canonicalJson(output);
  return view.message(content, { instructContent: output, speech: action.speech?.(output), ...destination(action, view, output) });
}

/** Issues a message of an action, with the payload of its schema: the same object when nothing changes. */
function reissued<S>(rc: RoleContext<S>, action: Action, view: View, message: Message): Message {
  const { name } = action;
  if (action.output === undefined) return rc.issue(message, name);
  const cause = isCauseLeftOpen(message) ? name : message.causeBy;
  if (cause !== name || view.isAnswered(message.instructContent)) return rc.issue(message, name);
  const output = checkedOutput(action, message.instructContent);
  if (isSameJson(output, message.instructContent)) return rc.issue(message, name);
  return rc.issue(createMessage(message.content, { ...message, causeBy: cause, instructContent: output }), name);
}

function destination(action: Action, view: View, output: unknown): { readonly sendTo?: readonly Address[] } {
  const sendTo = action.sendTo?.(view as unknown as ActionContext<never>, output);
  return sendTo === undefined ? {} : { sendTo };
}

export function messagesOf(said: Said, role: string): readonly Message[] {
  if (said === undefined || said === null) return [];
  if (isMessage(said)) return [said];
  if (Array.isArray(said) && said.every(isMessage)) return said;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected role ${role} to give back messages or nothing, got ${valueText(said)}. Make a message of it: rc.message(text).`,
  );
}

export function observe<S>(rc: RoleContext<S>): readonly Message[] {
  const { inbox, memory } = rc;
  const first = inbox[0];
  if (first !== undefined && inbox.length === 1)
    return memory.held(memory.identityOf(first)) === undefined || isOwn(rc, first) ? inbox : nothing;
  const news = memory.findNews(inbox);
  if (news.length === inbox.length) return inbox;
  const unknown = new Set(news);
  return inbox.filter((message) => unknown.has(message) || isOwn(rc, message));
}

const nothing: readonly Message[] = Object.freeze([]);

function isOwn<S>(rc: RoleContext<S>, message: Message): boolean {
  return message.sentFrom === rc.name;
}

export interface Work {
  readonly news?: readonly Message[] | undefined;
  readonly text?: string;
  readonly task?: Task;
}

/**
 * A role's context as one action sees it. Every member but `action`, `news`, `inputs`, `text` and `task` is the role's own. Its functions
 * are bound when they are read, so that an action can destructure it: `run: ({ ask, text }) => ask(text)`.
 */
export class ActionView<N extends readonly Address[], S = CustomState> implements ActionContext<InputsOf<N>, S> {
  readonly action: string;
  readonly news: readonly Message[];
  readonly text: string;
  declare readonly task?: Task;
  readonly #rc: RoleContext<S>;
  readonly #does: Action<unknown, N>;
  #kept: Kept<N> | undefined;

  constructor(rc: RoleContext<S>, action: Action<unknown, N>, work: Work) {
    const { news = rc.news, text, task } = work;
    this.#rc = rc;
    this.#does = action;
    this.action = action.name;
    this.news = news;
    this.text = text ?? (news.length === 1 ? (news[0] as Message).content : news.map(({ content }) => content).join("\n\n"));
    if (task !== undefined) this.task = task;
  }

  get inputs(): InputsOf<N> {
    const kept = (this.#kept ??= new Kept());
    return (kept.inputs ??= this.#does.needs.map((need) => this.#newest(need)) as unknown as InputsOf<N>);
  }

  get role(): RoleCard {
    return this.#rc.role;
  }
  get name(): string {
    return this.#rc.name;
  }
  get runId(): string {
    return this.#rc.runId;
  }
  get inbox(): readonly Message[] {
    return this.#rc.inbox;
  }
  get memory(): MessageMemory {
    return this.#rc.memory;
  }
  get workingMemory(): MessageMemory {
    return this.#rc.workingMemory;
  }
  get important(): readonly Message[] {
    return this.#rc.important;
  }
  get state(): S {
    return this.#rc.state;
  }
  set state(value: S) {
    this.#rc.state = value;
  }
  get deps(): Deps {
    return this.#rc.deps;
  }
  get context(): RunContext {
    return this.#rc.context;
  }
  get given(): GivenValues | undefined {
    return this.#rc.given;
  }
  get plan(): Plan {
    return this.#rc.plan;
  }
  set plan(value: Plan) {
    this.#rc.plan = value;
  }
  get joins(): JoinMarks {
    return this.#rc.joins;
  }
  get signal(): AbortSignal {
    return this.#rc.signal;
  }
  get logger(): Logger {
    return this.#rc.logger;
  }
  get human(): Human {
    return this.#rc.human;
  }
  get model(): SteppedModel {
    return modelFor(this.#rc, this.#does);
  }
  modelOf(model: ChatModel): SteppedModel {
    return this.#rc.modelOf?.(model) ?? this.model;
  }
  get steps(): StepPort {
    return this.#rc.steps;
  }
  get introduction(): string {
    return this.#rc.introduction;
  }
  get clock(): Clock {
    return this.#rc.clock;
  }

  get ask(): RoleContext<S>["ask"] {
    return ((prompt: string, o?: AskOptions & { readonly schema?: AnySchema }): Promise<unknown> => {
      const answer: Promise<unknown> = this.#rc.ask(prompt, this.#asking(o));
      return o?.schema === undefined || zodOf(o.schema) !== this.#does.output ? answer : answer.then((value) => this.#remembered(value));
    }) as RoleContext<S>["ask"];
  }
  get step(): RoleContext<S>["step"] {
    return (name, request, effect, o) => {
      const isPlain = this.#does.model === undefined || typeof effect !== "function";
      return this.#rc.step(name, request, isPlain ? effect : (door) => effect(this.#inside(door)), o);
    };
  }
  get sleep(): RoleContext<S>["sleep"] {
    return (until) => this.#rc.sleep(until);
  }
  get waitFor(): RoleContext<S>["waitFor"] {
    return ((name: string, o?: WaitForOptions) => this.#rc.waitFor(name, o)) as RoleContext<S>["waitFor"];
  }
  get recall(): RoleContext<S>["recall"] {
    return (about) => this.#rc.recall(about);
  }
  get message(): RoleContext<S>["message"] {
    return <P>(content: string, fields: MessageFields<P> = noFields) => {
      checkFields(fields);
      const { instructContent, role, sentFrom, sendTo, metadata, priority, files, speech, causeBy = this.action } = fields;
      // The context takes the whole news by itself.
      const parents = fields.parents ?? (this.news === this.#rc.news ? undefined : this.news.map(idOf));
      // Every message of an action is created here, and a spread is slower than this list.
      const all = { instructContent, role, causeBy, sentFrom, sendTo, parents, metadata, priority, files, speech };
      return this.#rc.message(content, all as MessageFields<P>);
    };
  }
  get file(): RoleContext<S>["file"] {
    return (file) => this.#rc.file(file);
  }
  get issue(): RoleContext<S>["issue"] {
    return (message, cause = this.action) => this.#rc.issue(message, cause);
  }
  get publish(): RoleContext<S>["publish"] {
    return (message, cause = this.action) => this.#rc.publish(message, cause);
  }
  get publishAfter(): RoleContext<S>["publishAfter"] {
    return (delay, message, cause = this.action) => this.#rc.publishAfter(delay, message, cause);
  }
  get random(): RoleContext<S>["random"] {
    return () => this.#rc.random();
  }
  get stream(): RoleContext<S>["stream"] {
    return (name) => this.#rc.stream(name);
  }
  get now(): RoleContext<S>["now"] {
    return () => this.#rc.now();
  }
  get id(): RoleContext<S>["id"] {
    return () => this.#rc.id();
  }

  isAnswer(value: unknown): boolean {
    return this.#kept?.answers.has(value) === true;
  }

  isAnswered(payload: unknown): boolean {
    return this.#kept !== undefined && [...this.#kept.answers].some((answer) => isSameJson(answer, payload));
  }

  #asking<T extends AskOptions>(o: T | undefined): T | undefined {
    const { model } = this.#does;
    const lacks = (option: keyof AskOptions): boolean => o === undefined || (isRecord(o) && o[option] === undefined);
    const images = partsOf(this.news);
    const withFiles = images !== undefined && lacks("images") ? ({ ...o, images } as T) : o;
    return model !== undefined && lacks("model") ? ({ ...withFiles, model } as T) : withFiles;
  }

  #inside(door: EffectDoor): EffectDoor {
    const ask = (prompt: string, o?: AskOptions): Promise<unknown> => door.ask(prompt, this.#asking(o));
    return { ...door, ask: ask as EffectDoor["ask"] };
  }

  #remembered(answer: unknown): unknown {
    (this.#kept ??= new Kept()).answers.add(answer);
    return answer;
  }

  #newest(need: Address): Message {
    const newest = this.memory.newestBy(need);
    if (newest !== undefined) return newest;
    throw new UsageError(
      "NEEDS_MISSING",
      `Action ${this.action} of ${this.name} needs a message caused by ${addressOf(need)}, but none is remembered. Watch ${addressOf(need)}, or use a reaction that waits for it.`,
    );
  }
}

class Kept<N extends readonly Address[]> {
  inputs: InputsOf<N> | undefined;
  readonly answers = new Set<unknown>();
}

const noFields = Object.freeze({});

function idOf(message: Message): string {
  return message.id;
}

/** True for two values with the same JSON. A value without a JSON form equals none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch (error) {
    if (error instanceof NotJsonError) return false;
    throw error;
  }
}
