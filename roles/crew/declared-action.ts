import { z } from "zod";
import { type Action, type ActionContext, defineAction, type Message, ROUTE_TO_ALL, ROUTE_TO_NONE } from "../../src/index.ts";
import { filledTemplate } from "./crew-names.ts";
import type { CrewAction, CrewField, FieldKind } from "./crew-spec.ts";

export interface DeclaredTraits {
  /** Undefined: every role that watches it. */
  readonly sendTo: readonly string[] | undefined;
  readonly limit: number | undefined;
  readonly mayEnd: boolean;
}

const traits = new WeakMap<Action, DeclaredTraits>();

export function declaredTraits(action: Action): DeclaredTraits | undefined {
  return traits.get(action);
}

/** The messages so far, by action. */
export const SaidSchema: z.ZodType<Said> = z.object({ said: z.record(z.string(), z.number()).default({}) });

/** An interface is no custom state. */
type Said = { said: Record<string, number> };

/**
 * One question to the model of its role. An agent does not run it, and takes its name, form and recipients.
 *
 * @param instructions of its role
 */
export function declaredAction(declared: CrewAction, instructions: string | undefined): Action {
  const { name, description, needs = [], output, endsWhen, limit, sendTo } = declared;
  const schema = output === undefined ? undefined : fieldsSchema(output);
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
      const prompt = promptOf(declared, ctx);
      const answer: unknown = schema === undefined ? await ctx.ask(prompt, ask) : await ctx.ask(prompt, { ...ask, schema });
      return answer as never;
    },
    render: (value) => rendered(value as Readonly<Record<string, unknown>>),
    sendTo: ({ state }, value) => {
      const count = (state.said[name] ?? 0) + 1;
      state.said = { ...state.said, [name]: count };
      return isLast(declared, count, value) ? [ROUTE_TO_NONE] : (sendTo ?? [ROUTE_TO_ALL]);
    },
  });
  traits.set(action as Action, { sendTo, limit, mayEnd: endsWhen !== undefined });
  return action as Action;
}

/** The message says the end, or is one too many. */
function isLast({ endsWhen, limit = Infinity }: CrewAction, count: number, value: unknown): boolean {
  if (count > limit) return true;
  if (endsWhen === undefined) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.entries(endsWhen).every(([field, end]) => fields[field] === end);
}

function promptOf({ prompt, description = "" }: CrewAction, ctx: Pick<ActionContext<readonly Message[], Said>, "text" | "memory">): string {
  if (prompt === undefined) return description === "" ? ctx.text : `${description}\n\n${ctx.text}`;
  return filledTemplate(prompt, ({ cause, field }) => {
    if (cause === "text" && field === undefined) return ctx.text;
    const newest = ctx.memory.newestBy(cause);
    if (field === undefined) return newest?.content ?? "";
    const payload = newest?.instructContent;
    const value =
      typeof payload === "object" && payload !== null && Object.hasOwn(payload, field)
        ? (payload as Readonly<Record<string, unknown>>)[field]
        : undefined;
    return value === undefined ? "" : valueLine(value);
  });
}

function fieldsSchema(fields: Readonly<Record<string, CrewField>>): z.ZodObject {
  return z.strictObject(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])));
}

function fieldSchema(field: CrewField): z.ZodType {
  if (typeof field === "string" || isListKind(field)) return kindSchema(field);
  const { kind = "text", oneOf, description, optional = false } = field;
  const plain = oneOf === undefined ? kindSchema(kind) : z.enum([...oneOf]);
  const told = description === undefined ? plain : plain.describe(description);
  return optional ? told.optional() : told;
}

function kindSchema(kind: FieldKind | readonly [FieldKind]): z.ZodType {
  if (typeof kind !== "string") return z.array(kindSchema(kind[0]));
  switch (kind) {
    case "text":
      return z.string();
    case "number":
      return z.number();
    case "integer":
      return z.int();
    case "boolean":
      return z.boolean();
  }
}

function isListKind(field: Exclude<CrewField, string>): field is readonly [FieldKind] {
  return Array.isArray(field);
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
