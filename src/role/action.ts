import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { type Address, type Addressable, type AddressableClass, addressOf, type PayloadOf } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { type AnySchema, type ValueOf, zodOf } from "../model/standard-schema.ts";
import type { Guard } from "../tool/guard.ts";
import { aFunction, aText, readable, takes } from "../kernel/argument.ts";
import { anAddress, aSchema, checkParts, list, withAdvice } from "./part.ts";
import type { ActionContext, CustomState } from "./context.ts";

export const HOW_TO_MAKE_AN_ACTION = "Make it by defineAction, or by new of a subclass of Action.";

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** The result of an action. With an `output` schema a plain value is the typed payload; undefined publishes nothing. */
export type ActionResult<O> = O | Message<O> | readonly Message[] | string | void | undefined;

/** The messages an action needs, typed by the actions that cause them. */
export type InputsOf<N extends readonly Address[]> = { readonly [K in keyof N]: SaidBy<PayloadOf<N[K]>> };

/** A message of an action with an `output` schema always has its payload. */
type SaidBy<P> = unknown extends P ? Message<P> : [P] extends [never] ? Message<P> : Message<P> & { readonly instructContent: P };

/**
 * A unit of work: a definition that holds no data of a run. Its `name` identifies it in routing: it is the cause of its messages. Use
 * {@link defineAction}, or subclass it and override `run` or `prompt`. A subclass whose `name` differs from its class name must state it as
 * `static actionName` too (`ACTION_NAME`).
 *
 * @example
 * import { Action, type ActionContext } from "troupe";
 *
 * export class CountWords extends Action {
 *   override run(ctx: ActionContext): string {
 *     return `${ctx.text.split(/\s+/).length} words`;
 *   }
 * }
 */
export class Action<O = unknown, N extends readonly Address[] = readonly Address[]> implements Addressable<O> {
  declare readonly "~says"?: O;
  readonly name: string = addressOf(this.constructor as AddressableClass);
  readonly description: string = "";
  /** Actions whose newest messages this one uses; they become `ctx.inputs`. */
  readonly needs: N = [] as readonly Address[] as N;
  /** Checks and types the output of the action. */
  readonly output: z.ZodType<O> | undefined = undefined;
  /** The part of its role's custom state that it needs. A role whose initial state does not match cannot be hired. */
  readonly state: z.ZodType | undefined = undefined;

  /** Answers the questions of this action, instead of the role's and the team's. The option `model` of a question takes precedence. */
  readonly model: ChatModel | undefined = undefined;

  /** Checks of its input and its output: see `guard`. */
  readonly guards: readonly Guard[] | undefined = undefined;

  /** Returns the prompt for the model, when `run` is not given. Default: the description, then the text of the news. */
  prompt(ctx: ActionContext<InputsOf<N>>): string {
    return defaultPrompt(this.description, ctx.text);
  }

  /** Does the work. Default: asks the model with `prompt`, for the `output` schema if there is one. */
  run(ctx: ActionContext<InputsOf<N>>): Awaitable<ActionResult<O>> {
    const prompt = this.prompt(ctx);
    return this.output === undefined ? ctx.ask(prompt) : ctx.ask(prompt, { schema: this.output });
  }

  /** The text of the message for a typed output. Default: canonical JSON. */
  render?(output: O): string;
  /** Returns what the role says to people beside a typed output, in a few sentences: the `speech` of its message. */
  speech?(output: O): string | undefined;
  /** Returns the recipients. Default: every other role that watches this action. */
  sendTo?(ctx: ActionContext<InputsOf<N>>, output: O | undefined): readonly Address[];
}

/**
 * The result of a defined action: with an `output` schema its payload or a message of it, else text or a message; undefined publishes
 * nothing.
 */
export type Produced<O> = (unknown extends O ? string | Message : O | Message<O>) | readonly Message[] | void | undefined;

/** Options of {@link defineAction}. */
export interface ActionOptions<S extends AnySchema, N extends readonly Address[], T = CustomState> {
  readonly name: string;
  readonly description?: string;
  readonly needs?: N;
  readonly output?: S;
  /** The part of its role's custom state that it needs; types `ctx.state`. */
  readonly state?: AnySchema<T>;
  /** Answers its questions, instead of the role's and the team's model. */
  readonly model?: ChatModel | undefined;
  /** Checks of its input and its output: see `guard`. Default: those of its role and its team. */
  readonly guards?: readonly Guard[] | undefined;
  prompt?(ctx: ActionContext<InputsOf<N>, T>): string;
  run?(ctx: ActionContext<InputsOf<N>, T>): Awaitable<Produced<ValueOf<S>>>;
  render?(output: ValueOf<S>): string;
  /** Returns the `speech` of its message: what the role says to people beside a typed output, in a few sentences. */
  speech?(output: ValueOf<S>): string | undefined;
  sendTo?(ctx: ActionContext<InputsOf<N>, T>, output: ValueOf<S> | undefined): readonly Address[];
}

const actionParts: Known<ActionOptions<AnySchema, readonly Address[]>> = {
  name: withAdvice({ says: "a text that is not empty", fits: isActionName }, "Its name is its identity in routing."),
  description: withAdvice(aText, "Tell the model what it does."),
  needs: list(anAddress, "Write needs: [WriteDraft]."),
  output: aSchema,
  state: aSchema,
  model: kinds.model,
  guards: kinds.guards,
  prompt: withAdvice(aFunction, "Write prompt: (ctx) => ... ."),
  run: withAdvice(aFunction, "Write run: (ctx) => ... ."),
  render: withAdvice(aFunction, "Write render: (output) => ... ."),
  speech: withAdvice(aFunction, "Write speech: (output) => ... ."),
  sendTo: withAdvice(aFunction, "Write sendTo: (ctx) => ... ."),
};
const actionNames = kinds.each(kinds.checked, ...Object.keys(actionParts));

export function assertActionModel({ name, model }: Action): void {
  checkParts({ code: "ACTION_INVALID", owner: `action ${name}` }, { model }, { model: kinds.model });
}

function isActionName(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Makes an action from its parts, or from a name and a function. Without `run` it asks its model, or else the role's, with `prompt`, for the
 * `output` schema if there is one. Defaults: no `needs`, the text of the news as prompt, a broadcast as recipient.
 *
 * @throws UsageError `ACTION_INVALID` for an empty name or a part of the wrong type; `OPTION_UNKNOWN`
 * @example
 * import { defineAction } from "troupe";
 * import { z } from "zod";
 *
 * export const WriteDraft = defineAction({
 *   name: "WriteDraft",
 *   output: z.object({ title: z.string(), body: z.string() }),
 *   prompt: (ctx) => `Write a short article on: ${ctx.text}`,
 * });
 * export const Shout = defineAction("Shout", (ctx) => ctx.text.toUpperCase());
 */
export function defineAction(name: string, run: (ctx: ActionContext) => Awaitable<Produced<unknown>>): Action;
export function defineAction<S extends AnySchema = AnySchema, const N extends readonly Address[] = readonly [], T = CustomState>(
  options: ActionOptions<S, N, T>,
): Action<ValueOf<S>, N>;
export function defineAction(first: string | ActionOptions<AnySchema, readonly Address[]>, run?: Action["run"]): Action {
  const options = typeof first === "string" && typeof run === "function" ? { name: first, run } : first;
  if (typeof options !== "object" || options === null) {
    const expected = `Expected the parts of an action, got ${valueText(options)}`;
    throw new UsageError("ACTION_INVALID", `${expected}. Write defineAction({ name, ... }), or defineAction(name, (ctx) => ...).`);
  }
  takes("defineAction", "options", options, readable);
  const { name } = options;
  const owner = isActionName(name) ? `action ${name}` : "an action";
  checkParts({ code: "ACTION_INVALID", owner, required: ["name"] }, options, actionParts);
  checkKnownOptions(`defineAction ${JSON.stringify(name)}`, options, actionNames);
  // From here the role's schema defines the state: hiring compares the two schemas.
  return Object.freeze(new DefinedAction(options as ActionOptions<AnySchema, readonly Address[]>));
}

class DefinedAction<S extends AnySchema, N extends readonly Address[]> extends Action<ValueOf<S>, N> {
  override readonly name: string;
  override readonly description: string;
  override readonly needs: N;
  override readonly output: z.ZodType<ValueOf<S>> | undefined;
  override readonly state: z.ZodType | undefined;
  override readonly model: ChatModel | undefined;
  override readonly guards: readonly Guard[] | undefined;

  constructor(options: ActionOptions<S, N>) {
    super();
    this.name = options.name;
    this.description = options.description ?? "";
    this.needs = options.needs ?? ([] as readonly Address[] as N);
    this.output = zodOf(options.output) as z.ZodType<ValueOf<S>> | undefined;
    this.state = zodOf(options.state) as z.ZodType | undefined;
    this.model = options.model;
    this.guards = options.guards;
    if (options.prompt !== undefined) this.prompt = options.prompt.bind(options);
    if (options.run !== undefined) this.run = options.run.bind(options) as Action<ValueOf<S>, N>["run"];
    if (options.render !== undefined) this.render = options.render.bind(options);
    if (options.speech !== undefined) this.speech = options.speech.bind(options);
    if (options.sendTo !== undefined) this.sendTo = options.sendTo.bind(options);
  }
}

/** Refuses an action whose name in `watch: [Class]` would differ from its instances' name. */
export function assertRoutableName(action: Action): void {
  if (!isActionName(action.name))
    throw new UsageError("ACTION_INVALID", "Expected an action to have a name, got an empty one. Its name is its identity in routing.");
  const maker = action.constructor as { readonly name: string; readonly actionName?: string };
  if (action.constructor === Action || action instanceof DefinedAction) return;
  const byClass = maker.actionName ?? maker.name;
  if (byClass === action.name) return;
  throw new UsageError(
    "ACTION_NAME",
    `Expected the action class ${maker.name} to be called "${byClass}" by its instances, got "${action.name}". Add: static actionName = "${action.name}".`,
  );
}

/** Two actions of one name must be the same object, or two instances of one class. */
export function assertSameAction(known: Action | undefined, action: Action): void {
  if (known === undefined || known === action) return;
  if (known.constructor === action.constructor && !(action instanceof DefinedAction) && action.constructor !== Action) return;
  throw new UsageError(
    "ACTION_DUPLICATE",
    `Expected one action of the name "${action.name}", got two different ones. Rename one, or share the same object.`,
  );
}

export function isAction(value: unknown): value is Action {
  if (typeof value !== "object" || value === null) return false;
  const { name, needs, run } = value as Partial<Action>;
  return typeof name === "string" && Array.isArray(needs) && typeof run === "function";
}

export function noAction(value: unknown, who: string): UsageError {
  return new UsageError("ACTION_INVALID", `Expected ${who} to be given an action, got ${valueText(value)}. ${HOW_TO_MAKE_AN_ACTION}`);
}

function defaultPrompt(description: string, text: string): string {
  return description === "" ? text : `${description}\n\n${text}`;
}
