import { isObject, isRecord } from "../kernel/value-kind.ts";
import type { z } from "zod";
import { OutputError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { ChatMessage } from "./chat-message.ts";
import { addUsage, type ChatResponse, type Usage } from "./chat-model.ts";
import { type BrokenJson, findJson } from "./json-in-text.ts";
import { type OutputSchema, outputSchema } from "./json-schema.ts";
import { holdsAllMembers, mended } from "./schema-fit.ts";

export interface OutputIssue {
  /** `files[0].path`; empty for the whole reply. */
  readonly path: string;
  readonly message: string;
  readonly got?: string;
}

export type ReadReply<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly OutputIssue[] };

const SHOWN_REPLY = 32_000;
const SHOWN_ISSUES = 20;
const KEPT_ISSUES = 100;
const SHOWN_VALUE = 120;

/**
 * Finds the JSON of a reply and checks it. The last value that fits is the answer, because models give examples and drafts first; unless a
 * longer part looks like JSON and cannot be read. Only if no value fits as it is, values are coerced by the schema, and a broken part is
 * repaired. A value that lacks only its closing braces is read if its schema allows no other missing part.
 */
export function readReply<S extends z.ZodType>(text: string, schema: S, output: OutputSchema): ReadReply<z.infer<S>> {
  const { values, broken } = findJson(text);
  const brokenLength = broken === undefined ? 0 : broken.end - broken.start;
  const candidates = values.filter(({ value, start, end }, index) => end - start > brokenLength && (index === 0 || !isEmpty(value)));
  const [longest] = candidates;
  // In prose a short list may be a reference.
  const least = longest !== undefined && output.wrapped ? (longest.end - longest.start) / 3 : 0;
  const latest = candidates.filter(({ start, end }) => end - start >= least).toSorted((a, b) => b.start - a.start);
  let first: readonly OutputIssue[] | undefined;
  for (const found of latest) {
    const read = check(found.value, schema, output);
    if (read.ok) return read;
    if (found === longest || first === undefined) first = read.issues;
  }
  const guesses = [...latest.map(({ value }) => value), ...(broken?.repaired === undefined ? [] : [broken.repaired])];
  for (const guess of guesses) {
    const read = check(guess, schema, output, true);
    if (read.ok) return read;
  }
  const closed = candidates.length === 0 ? broken?.closed : undefined;
  if (closed !== undefined && !output.wrapped && holdsAllMembers(closed.value, closed.path, output.json)) {
    const read = check(closed.value, schema, output);
    if (read.ok) return read;
  }
  return { ok: false, issues: first ?? [brokenIssue(text, broken)] };
}

const REASKS = 2;
const SHOWN_ISSUE = 300;
const KEPT_TEXT = 100_000;

/** The fault of every reply that its length limit cut: the missing part cannot be known. */
const CUT: readonly OutputIssue[] = [{ path: "", message: "reached its length limit before it was whole" }];

export interface WholeOrCut {
  readonly reply: ChatResponse;
  readonly isCut: boolean;
}

export interface AskForValue<S extends z.ZodType> {
  /** The id of the model, for errors. */
  readonly model: string;
  readonly schema: S;
  readonly messages: readonly ChatMessage[];
  /** @param isAgain true when the conversation states the schema and the faults of the reply before */
  ask(messages: readonly ChatMessage[], isAgain: boolean): Promise<WholeOrCut>;
  /** Called after each reply that does not fit. @param issues in words; undefined after the last one */
  misfit?(issues: string | undefined): void;
}

/** The data of an {@link OutputError} of code `OUTPUT_INVALID`. */
export interface OutputErrorData {
  /** The last reply, its first 100,000 characters. */
  readonly text: string;
  readonly issues: readonly OutputIssue[];
  /** Of all replies together. */
  readonly usage: Usage;
}

/**
 * Asks until a reply fits its schema, three times at most.
 *
 * @throws OutputError `OUTPUT_INVALID` when the last reply does not fit either
 */
export async function askForValue<S extends z.ZodType>(o: AskForValue<S>): Promise<z.infer<S>> {
  const output = outputSchema(o.schema);
  let { messages } = o;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  for (let n = 0; ; n++) {
    const { reply, isCut } = await o.ask(messages, n > 0);
    usage = addUsage(usage, reply.usage);
    const read: ReadReply<z.infer<S>> = isCut ? { ok: false, issues: CUT } : readReply(reply.content, o.schema, output);
    if (read.ok) return read.value;
    const { issues } = read;
    o.misfit?.(n === REASKS ? undefined : issuesText(issues, 3));
    if (n === REASKS) throw outputError(o.model, { text: reply.content.slice(0, KEPT_TEXT), issues, usage });
    messages = askAgain(o.messages, output, { reply: reply.content, issues, isCut, isLast: n === REASKS - 1 });
  }
}

function outputError(model: string, data: OutputErrorData): OutputError {
  return new OutputError(
    "OUTPUT_INVALID",
    `Expected a reply of ${model} that fits its schema, also after asking again, but: ${issuesText(data.issues, 5)}. Use another model, ask for less at once, or simplify the schema.`,
    { data },
  );
}

/** Returns the first issues, each cut: their texts come partly from the model. */
function issuesText(issues: readonly OutputIssue[], count: number): string {
  const lines = issues.slice(0, count).map(issueLine);
  return lines.map((line) => (line.length > SHOWN_ISSUE ? `${line.slice(0, SHOWN_ISSUE)}…` : line)).join("; ");
}

interface MisfitReply {
  readonly reply: string;
  readonly issues: readonly OutputIssue[];
  readonly isCut: boolean;
  /** The next request is the last one. */
  readonly isLast: boolean;
}

/** Adds a bad reply and its faults to a conversation. After one that was too long, and at last, it asks for the shortest form. */
function askAgain(
  messages: readonly ChatMessage[],
  output: OutputSchema,
  { reply, issues, isCut, isLast }: MisfitReply,
): readonly ChatMessage[] {
  const list = issues.slice(0, SHOWN_ISSUES).map((issue) => `- ${issueLine(issue)}`);
  if (issues.length > SHOWN_ISSUES) list.push(`- and ${issues.length - SHOWN_ISSUES} more like these`);
  const first = isLast ? "That reply, your second, cannot be used either:" : "That reply cannot be used:";
  const shortest = "the shortest JSON object that is right, and nothing else: no words around it, no optional members";
  const form = isLast
    ? `This is the last time. Give ${shortest}.`
    : isCut
      ? `Give ${shortest}, and few words in each text.`
      : "Give the whole reply again with these mended and everything else as it was, as one JSON object and nothing else.";
  const words = `${first}\n${list.join("\n")}\n${form} It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
  const shown = reply.trim() === "" ? "(no text)" : shorten(reply, SHOWN_REPLY);
  return [...messages, { role: "assistant", content: shown }, { role: "user", content: words }];
}

export function issueLine(issue: OutputIssue): string {
  return `${issue.path === "" ? "the reply" : issue.path}: ${issue.message}${issue.got === undefined ? "" : ` (got ${issue.got})`}`;
}

function check<S extends z.ZodType>(found: Json, schema: S, output: OutputSchema, types = false): ReadReply<z.infer<S>> {
  let first: readonly OutputIssue[] | undefined;
  for (const value of readings(found, output, types)) {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data };
    first ??= issuesOf(parsed.error.issues, value);
  }
  return { ok: false, issues: first ?? [] };
}

/** Wrapped or bare, and a string as the JSON in it; first with the keys of the schema, then unchanged. */
function readings(found: Json, { json, wrapped }: OutputSchema, types: boolean): readonly Json[] {
  const both = (value: Json): Json[] => [true, false].map((names) => mended(value, json, { names, types, fillers: true }));
  if (!wrapped) return both((typeof found === "string" ? findJson(found).values[0]?.value : undefined) ?? found);
  const isWrapped = isRecord(found) && Object.keys(found).join() === "value";
  return [...(isWrapped ? both(found) : []), ...both({ value: found })].map((value) => (value as { readonly value?: Json }).value ?? null);
}

/** The issues of zod in words that a model can act on. */
export function issuesOf(issues: readonly z.core.$ZodIssue[], value: Json): OutputIssue[] {
  return issues
    .flatMap((issue) => flatten(issue, []))
    .slice(0, KEPT_ISSUES)
    .map(({ issue, path }) => {
      const got = valueAt(value, path);
      // A schema that transforms a value first may report faults that the value itself lacks.
      const missing = got === undefined && issue.code !== "custom" && valueAt(value, path.slice(0, -1)) !== undefined;
      const message = missing ? "is missing" : issue.message;
      return { path: pathText(path), message, ...(got === undefined ? {} : { got: preview(got) }) };
    });
}

type Placed = { readonly issue: z.core.$ZodIssue; readonly path: readonly PropertyKey[] };

/** An issue of a union is the issues of its closest branch, or what each branch expects. */
function flatten(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): Placed[] {
  const path = [...base, ...issue.path];
  if (issue.code !== "invalid_union") return [{ issue, path }];
  const expected = expectedBy(issue);
  if (expected !== undefined) return [{ issue: { ...issue, message: `expected ${expected}` }, path }];
  const [closest] = issue.errors.toSorted((a, b) => distance(a) - distance(b));
  return closest === undefined ? [{ issue, path }] : closest.flatMap((inner) => flatten(inner, path));
}

/** A branch with another constant, such as a kind, was not meant. */
function distance(branch: readonly z.core.$ZodIssue[]): number {
  const isOther = branch.some(({ code, path }) => code === "invalid_value" && path.length === 1);
  return branch.length + (isOther ? OTHER_BRANCH : 0);
}

const OTHER_BRANCH = 1_000_000;

function expectedBy(union: z.core.$ZodIssueInvalidUnion): string | undefined {
  const { options } = union as { readonly options?: readonly unknown[] };
  if (union.errors.length === 0) return options?.map((option) => JSON.stringify(option)).join(" or ");
  const expected = union.errors.map(([issue, ...more]) => {
    if (issue === undefined || more.length > 0 || issue.path.length > 0) return undefined;
    if (issue.code === "invalid_type") return issue.expected;
    return issue.code === "invalid_value" ? issue.values.map((value) => JSON.stringify(value)).join(" or ") : undefined;
  });
  return expected.includes(undefined) ? undefined : [...new Set(expected)].join(" or ");
}

function preview(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value.length > SHOWN_VALUE ? `${value.slice(0, SHOWN_VALUE)}…` : value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isObject(value)) return `an object with ${Object.keys(value).slice(0, 10).join(", ") || "no members"}`;
  return String(value);
}

function isEmpty(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function valueAt(value: Json, path: readonly PropertyKey[]): Json | undefined {
  let found: unknown = value;
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return found as Json;
}

/** `files[0].path` */
export function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`)).join("");
}

function brokenIssue(text: string, broken: BrokenJson | undefined): OutputIssue {
  if (broken === undefined) return { path: "", message: "holds no JSON", got: preview(text.trim()) };
  const near = preview(text.slice(Math.max(0, broken.at - 40), broken.at + 40));
  if (broken.reason === "truncated") return { path: "", message: "the JSON ends before it is complete", got: near };
  if (broken.reason === "too deep") return { path: "", message: "the JSON is nested too deep" };
  return { path: "", message: `is not JSON at character ${broken.at - broken.start}`, got: near };
}

function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - 20) / 2);
  return `${text.slice(0, half)} … [${text.length - 2 * half} characters] … ${text.slice(-half)}`;
}
