import type { ChatRequest, EnvironmentOptions } from "../../index.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";

type Form = Parameters<NonNullable<EnvironmentOptions["human"]>>[0]["form"];

/** A question to the model of a role, or to a person. */
export interface ExploredQuestion {
  readonly role: string;
  readonly isPerson: boolean;
}

export interface Questions {
  /** True if people answer; otherwise a question to a person waits. */
  readonly people: boolean;
  /** The number of questions of which some answers were left out. */
  readonly cut: () => number;
  all(options: readonly Json[], question: ExploredQuestion): readonly Json[];
}

/** The answer of a model that fails. */
export const FAILURE: Json = Object.freeze({ failure: true });

const MAX_ANSWERS = 24;
const MAX_DEPTH = 8;
const WORDS = "an answer";

/** @param more returns answers besides those of the schema */
export function questionsOf(more: ((question: ExploredQuestion) => readonly Json[]) | undefined): Questions {
  let cut = 0;
  return {
    people: more !== undefined,
    cut: () => cut,
    all(options, question) {
      const all = [...options, ...(more?.(question) ?? [])];
      const different = [...new Map(all.map((answer) => [JSON.stringify(answer), answer])).values()];
      if (different.length > MAX_ANSWERS) cut += 1;
      return different.length === 0 ? [WORDS] : different.slice(0, MAX_ANSWERS);
    },
  };
}

/** The answers that the schema of a request allows: its enums, booleans, unions and null. A free string or a number is one answer. */
export function schemaAnswers({ schema }: ChatRequest): readonly Json[] {
  return schema?.type === "schema" ? valuesOf(schema.schema, schema.schema, 0) : [WORDS];
}

export function formAnswers(form: Form): readonly Json[] {
  if (form === undefined) return [WORDS];
  return form.kind === "choices" ? form.choices.map(({ value }) => value) : valuesOf(form.schema, form.schema, 0);
}

function valuesOf(node: Json | undefined, root: JsonObject, depth: number): readonly Json[] {
  if (!isRecord(node) || depth > MAX_DEPTH) return [null];
  const { $ref, const: fixed, enum: values, anyOf, oneOf, allOf, type } = node as { readonly [name: string]: Json | undefined };
  const into = (one: Json | undefined): readonly Json[] => valuesOf(one, root, depth + 1);
  if (typeof $ref === "string") return into($ref.split("/").slice(1).reduce<Json | undefined>(memberOf, root));
  if (fixed !== undefined) return [fixed];
  if (isList(values)) return values as readonly Json[];
  const union = anyOf ?? oneOf;
  if (isList(union)) return (union as readonly Json[]).flatMap(into);
  if (isList(allOf) && allOf.length > 0) return into(Object.assign({}, ...(allOf as object[])) as Json);
  if (isList(type)) return (type as readonly Json[]).flatMap((one) => into({ ...node, type: one } as Json));
  return plainValues(node as JsonObject, into);
}

function plainValues(node: JsonObject, into: (one: Json | undefined) => readonly Json[]): readonly Json[] {
  const { type, minLength, minimum, items, minItems } = node;
  switch (type) {
    case "boolean":
      return [true, false];
    case "null":
      return [null];
    case "number":
    case "integer":
      return [typeof minimum === "number" && minimum > 0 ? minimum : 1];
    case "array":
      return into(items).map((item) => Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () => item));
    case "object":
      return objects(node, into);
    default:
      return [WORDS.padEnd(Number(minLength ?? 0), ".")];
  }
}

function objects({ properties, required }: JsonObject, into: (one: Json | undefined) => readonly Json[]): readonly Json[] {
  const needed = isList(required) ? required : [];
  let all: readonly JsonObject[] = [{}];
  for (const [name, form] of Object.entries(isRecord(properties) ? properties : {})) {
    const values = into(form as Json);
    const kept = needed.includes(name) ? [] : all;
    all = [...all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))), ...kept].slice(0, MAX_ANSWERS + 1);
  }
  return all;
}

function memberOf(node: Json | undefined, name: string): Json | undefined {
  return isRecord(node) ? (node[name] as Json | undefined) : undefined;
}
