import { z } from "zod";
import {
  type Action,
  type ActionContext,
  type ChatModel,
  defineAction,
  type Message,
  type RoleContext,
  ROUTE_TO_ALL,
  ROUTE_TO_NONE,
} from "../../src/index.ts";
import { asSpeech } from "../../actions/prompt.ts";
import { filledTemplate, templateNames } from "./crew-names.ts";
import type { CrewAction, CrewField, FieldKind } from "./crew-spec.ts";

export interface DeclaredTraits {
  /** Undefined: every role that watches it. */
  readonly sendTo: readonly string[] | undefined;
  readonly limit: number | undefined;
  readonly mayEnd: boolean;
  readonly escalatesTo?: readonly string[] | undefined;
  /** Questions of one start. Default: one, and three with an output. */
  readonly calls?: number;
  /** The models besides its role's that it may ask. */
  readonly models?: readonly Pick<ChatModel, "id" | "price" | "maxOutputTokens">[];
}

const traits = new WeakMap<Action, DeclaredTraits>();

/** States what the messages of an action of code are, for the check of a crew. */
export function declare<A extends Action>(action: A, its: DeclaredTraits): A {
  traits.set(action, its);
  return action;
}

export function declaredTraits(action: Action): DeclaredTraits | undefined {
  return traits.get(action);
}

export function setTraits(action: Action, declared: DeclaredTraits): void {
  traits.set(action, declared);
}

/** The messages so far, by action. */
export const SaidSchema: z.ZodType<Said> = z.object({ said: z.record(z.string(), z.number()).default({}) });

type Said = { said: Record<string, number> };

/** The board and the notes of a crew, as prompts show them by {{board}} and {{notes}}. */
export type CrewViews = Readonly<Record<string, ((ctx: RoleContext) => Promise<string>) | undefined>>;

/**
 * One question to the model of its role. An agent does not run it, and takes its name, form and recipients.
 *
 * @param instructions of its role
 */
export function declaredAction(declared: CrewAction, instructions: string | undefined, views: CrewViews = {}): Action {
  const { name, description, needs = [], output, endsWhen, limit, sendTo, escalate } = declared;
  const fields = Object.entries(output ?? {}).map(([field, form]) => [field, fieldSchema(form)] as const);
  const spoken = declared.speech === true ? { speech: z.string().default("").describe(SPEECH) } : {};
  const schema = output === undefined ? undefined : z.strictObject({ ...spoken, ...Object.fromEntries(fields) });
  const ask = {
    ...(instructions === undefined ? {} : { system: instructions }),
    ...(declared.temperature === undefined ? {} : { temperature: declared.temperature }),
    ...(declared.maxTokens === undefined ? {} : { maxTokens: declared.maxTokens }),
  };
  const action = defineAction({
    name,
    needs,
    state: SaidSchema,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { output: schema }),
    prompt: (ctx) => promptOf(declared, ctx),
    run: async (ctx) => {
      const prompt = promptOf(declared, ctx, await shownIn(declared, ctx as unknown as RoleContext, views));
      const answer: unknown = schema === undefined ? await ctx.ask(prompt, ask) : await ctx.ask(prompt, { ...ask, schema });
      return answer as never;
    },
    render: (value) => rendered(withoutSpeech(declared, value)),
    speech: (value) => (declared.speech === true ? (value as { readonly speech?: string }).speech : undefined),
    sendTo: ({ state }, value) => {
      const count = (state.said[name] ?? 0) + 1;
      state.said = { ...state.said, [name]: count };
      return recipientsOf(declared, count, value);
    },
  });
  traits.set(action as Action, { sendTo, limit, mayEnd: endsWhen !== undefined, escalatesTo: escalate?.to });
  return action as Action;
}

const SPEECH = asSpeech("what you decided and why, what you doubt, and what you need of whom");

function withoutSpeech({ speech: isSpoken }: CrewAction, value: unknown): Readonly<Record<string, unknown>> {
  const { speech, ...fields } = value as Readonly<Record<string, unknown>>;
  return isSpoken === true || speech === undefined ? fields : { ...fields, speech };
}

/** A message that says the end goes to no one, and so do those beyond the limit, apart from the first where it escalates. */
function recipientsOf({ endsWhen, limit = Infinity, sendTo, escalate }: CrewAction, count: number, value: unknown): readonly string[] {
  if (count === limit + 1 && escalate !== undefined) return escalate.to;
  if (count > limit || hasValues(value, endsWhen)) return [ROUTE_TO_NONE];
  return escalate !== undefined && hasValues(value, escalate.when) ? escalate.to : (sendTo ?? [ROUTE_TO_ALL]);
}

function hasValues(value: unknown, wanted: CrewAction["endsWhen"]): boolean {
  const fields = value as Readonly<Record<string, unknown>>;
  return wanted !== undefined && Object.entries(wanted).every(([field, one]) => fields[field] === one);
}

/** Returns the views that a prompt names, each read once. */
async function shownIn({ prompt = "" }: CrewAction, ctx: RoleContext, views: CrewViews): Promise<ReadonlyMap<string, string>> {
  const shown = new Map<string, string>();
  for (const { cause, field } of templateNames(prompt)) {
    const view = field === undefined && Object.hasOwn(views, cause) ? views[cause] : undefined;
    if (view !== undefined && !shown.has(cause)) shown.set(cause, await view(ctx));
  }
  return shown;
}

function promptOf(
  { prompt, description = "" }: CrewAction,
  ctx: Pick<ActionContext<readonly Message[], Said>, "text" | "memory">,
  shown: ReadonlyMap<string, string> = new Map(),
): string {
  if (prompt === undefined) return description === "" ? ctx.text : `${description}\n\n${ctx.text}`;
  return filledTemplate(prompt, ({ cause, field }) => {
    if (cause === "text" && field === undefined) return ctx.text;
    const view = field === undefined ? shown.get(cause) : undefined;
    if (view !== undefined) return view;
    const newest = ctx.memory.newestBy(cause);
    if (field === undefined) return newest?.content ?? "";
    const payload = Object(newest?.instructContent) as Readonly<Record<string, unknown>>;
    const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
    return value === undefined ? "" : valueLine(value);
  });
}

function fieldSchema(field: CrewField): z.ZodType {
  if (typeof field === "string" || Array.isArray(field)) return kindSchema(field);
  const { kind = "text", oneOf, description, optional = false } = field;
  const plain = oneOf === undefined ? kindSchema(kind) : z.enum(oneOf);
  const described = description === undefined ? plain : plain.describe(description);
  return optional ? described.optional() : described;
}

const KINDS: Readonly<Record<FieldKind, z.ZodType>> = { text: z.string(), number: z.number(), integer: z.int(), boolean: z.boolean() };

function kindSchema(kind: FieldKind | readonly [FieldKind]): z.ZodType {
  return typeof kind === "string" ? KINDS[kind] : z.array(KINDS[kind[0]]);
}

function rendered(value: Readonly<Record<string, unknown>>): string {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => {
      const text = valueLine(member);
      return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
    })
    .join("\n");
}

function valueLine(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => `- ${String(item)}`).join("\n");
  return String(value);
}
