import { isRecord, isObject, isList } from "../kernel/value-kind.ts";
import type { z } from "zod";
import { ModelError } from "../kernel/errors.ts";
import { deepFreeze, type Json, type JsonObject } from "../kernel/json.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ChatModel, ReplyFormat } from "./chat-model.ts";
import { errorData } from "./failure.ts";
import { type BrokenJson, findJson } from "./json-in-text.ts";
import { type OutputSchema, withoutFillers, childNodes, fitting, leaves, listOf, type Node, propertiesOf } from "./json-schema.ts";

/** One thing that is wrong with a reply. */
export interface OutputIssue {
  /** `files[0].path`; empty for the whole reply. */
  readonly path: string;
  readonly message: string;
  /** The value found there, shortened. */
  readonly got?: string;
}

/** A reply read against its schema. */
export type ReadReply<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly OutputIssue[] };

/** The name providers are told; it is part of no answer. */
const FORMAT_NAME = "reply";
/** Of a bad reply the model is shown the beginning and the end, so many characters together. */
const SHOWN_REPLY = 8_000;
/** Most issues a model is shown. */
const SHOWN_ISSUES = 20;
/** Most issues an error keeps. */
const KEPT_ISSUES = 100;
const SHOWN_VALUE = 120;

/**
 * Reads a reply: finds its JSON, mends it, drops nulls that mean "absent", and checks it. Of several values in one reply the longest
 * that fits is the answer, for models like to give an example first. What looks like JSON, cannot be read and is longer than that was
 * the answer, and then nothing is. One that lacks nothing but the braces at its end is read where the schema says that nothing else can be
 * missing: whoever asks has refused replies that were cut by their length.
 */
export function readReply<S extends z.ZodType>(text: string, schema: S, output: OutputSchema): ReadReply<z.infer<S>> {
  const { values, broken } = findJson(text);
  const brokenLength = broken === undefined ? 0 : broken.end - broken.start;
  const candidates = values.filter(({ value, start, end }, index) => end - start > brokenLength && (index === 0 || !isEmpty(value)));
  let first: readonly OutputIssue[] | undefined;
  for (const { value } of candidates) {
    const read = check(value, schema, output);
    if (read.ok) return read;
    first ??= read.issues;
  }
  const closed = candidates.length === 0 ? broken?.closed : undefined;
  if (closed !== undefined && !output.wrapped && holdsAllMembers(closed.value, closed.path, output.json)) {
    const read = check(closed.value, schema, output);
    if (read.ok) return read;
  }
  return { ok: false, issues: first ?? [brokenIssue(text, broken)] };
}

/** How the reply is asked for at a rung of the ladder, and what the prompt must add there. */
export interface Rung {
  readonly format: ReplyFormat;
  readonly inPrompt: "nothing" | "schema" | "schema and fence";
}

const looseRungs: readonly Rung[] = deepFreeze([
  { format: { type: "json" }, inPrompt: "schema" },
  { format: { type: "text" }, inPrompt: "schema and fence" },
]);
const knownRungs = new WeakMap<OutputSchema, readonly Rung[]>();

/**
 * Strict schema, then JSON mode, then plain words; a schema that no provider enforces starts at the second. Frozen: all calls share them, and
 * models are given their formats.
 */
export function rungsFor(output: OutputSchema): readonly Rung[] {
  const known = knownRungs.get(output);
  if (known !== undefined) return known;
  const { strict } = output;
  const strictRung: Rung | undefined = strict && { format: { type: "schema", name: FORMAT_NAME, schema: strict }, inPrompt: "nothing" };
  const rungs = strictRung === undefined ? looseRungs : deepFreeze([strictRung, ...looseRungs]);
  knownRungs.set(output, rungs);
  return rungs;
}

/** The highest format each model is known to take. */
const knownFormat = new WeakMap<ChatModel, ReplyFormat["type"]>();
const order: readonly ReplyFormat["type"][] = ["schema", "json", "text"];

/**
 * Calls with the best reply format the model's server takes, one rung lower each time it refuses one, and remembers for this model
 * what worked. A refusal of one schema alone is not remembered.
 *
 * @throws ModelError of the last rung, or any other that `call` throws.
 */
export async function withLadder<T>(model: ChatModel, output: OutputSchema, call: (rung: Rung) => Promise<T>): Promise<T> {
  const highest = knownFormat.get(model);
  const rungs = highest === undefined ? rungsFor(output) : rungsFrom(order.indexOf(highest), output);
  let refusedForGood = false;
  for (const [index, rung] of rungs.entries()) {
    try {
      const answer = await call(rung);
      if (refusedForGood) knownFormat.set(model, rung.format.type);
      return answer;
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== "MODEL_FORMAT_UNSUPPORTED" || index === rungs.length - 1) throw error;
      if (errorData(error).schemaOnly !== true) refusedForGood = true;
    }
  }
  throw new RangeError("a ladder has at least one rung");
}

function rungsFrom(place: number, output: OutputSchema): readonly Rung[] {
  return rungsFor(output).filter(({ format }) => order.indexOf(format.type) >= place);
}

/** The conversation with what a rung must say in words, in the last thing the user says. */
export function promptFor(messages: readonly ChatMessage[], output: OutputSchema, rung: Rung): readonly ChatMessage[] {
  if (rung.inPrompt === "nothing") return messages;
  const form =
    rung.inPrompt === "schema" ? "one JSON object and nothing else" : "one JSON object in a ```json fenced block and nothing else";
  const words = `Answer with ${form}. It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  return [
    ...messages.slice(0, -1),
    { ...last, content: last.content === undefined || last.content === "" ? words : `${last.content}\n\n${words}` },
  ];
}

/** The conversation with a bad reply and what is wrong with it, naming the bad fields only. It tells the schema in words for every rung. */
export function askAgain(
  messages: readonly ChatMessage[],
  output: OutputSchema,
  reply: string,
  issues: readonly OutputIssue[],
): readonly ChatMessage[] {
  const list = issues.slice(0, SHOWN_ISSUES).map((issue) => `- ${issueLine(issue)}`);
  if (issues.length > SHOWN_ISSUES) list.push(`- and ${issues.length - SHOWN_ISSUES} more like these`);
  const words = `That reply cannot be used:\n${list.join("\n")}\nGive the whole reply again with these mended and everything else as it was, as one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
  return [...messages, { role: "assistant", content: shorten(reply, SHOWN_REPLY) }, { role: "user", content: words }];
}

/** One line for people and models. */
export function issueLine(issue: OutputIssue): string {
  return `${issue.path === "" ? "the reply" : issue.path}: ${issue.message}${issue.got === undefined ? "" : ` (got ${issue.got})`}`;
}

function check<S extends z.ZodType>(found: Json, schema: S, output: OutputSchema): ReadReply<z.infer<S>> {
  const attempts = readings(found, output);
  let first: readonly OutputIssue[] | undefined;
  for (const value of attempts) {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value: parsed.data };
    first ??= issuesOf(parsed.error.issues, value);
  }
  return { ok: false, issues: first ?? [] };
}

/** A value in its wrapping or bare, and a string that holds JSON once more; first with the keys that the schema names, then as it came. */
function readings(found: Json, output: OutputSchema): readonly Json[] {
  if (!output.wrapped) {
    const inner = typeof found === "string" ? findJson(found).values[0]?.value : undefined;
    const plain = inner ?? found;
    return [withSchemaKeys(plain, output.json), plain].map((value) => withoutFillers(value, output.json));
  }
  const members = isRecord(found) ? Object.keys(found) : [];
  const inside = (value: Json): Json => unwrap(withoutFillers(withSchemaKeys(value, output.json), output.json));
  const bare = [inside({ value: found }), unwrap(withoutFillers({ value: found }, output.json))];
  return members.length === 1 && members[0] === "value" ? [inside(found), unwrap(withoutFillers(found, output.json)), ...bare] : bare;
}

function unwrap(value: Json): Json {
  return (value as { readonly value?: Json }).value ?? null;
}

/** The issues zod found in a value, in words a model can act on. */
export function issuesOf(issues: readonly z.core.$ZodIssue[], value: Json): OutputIssue[] {
  return issues
    .flatMap((issue) => flatten(issue, []))
    .slice(0, KEPT_ISSUES)
    .map(({ issue, path }) => {
      const got = at(value, path);
      const missing = got === undefined && issue.code !== "custom";
      const message = missing ? "is missing" : issue.message;
      return { path: pathText(path), message, ...(got === undefined ? {} : { got: preview(got) }) };
    });
}

type Placed = { readonly issue: z.core.$ZodIssue; readonly path: readonly PropertyKey[] };

/** An issue of a union is the issues of the branch that came closest. */
function flatten(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): Placed[] {
  const path = [...base, ...issue.path];
  if (issue.code !== "invalid_union") return [{ issue, path }];
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  return closest === undefined ? [{ issue, path }] : closest.flatMap((inner) => flatten(inner, path));
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

function at(value: Json, path: readonly PropertyKey[]): Json | undefined {
  let place: unknown = value;
  for (const key of path) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<PropertyKey, unknown>)[key];
  }
  return place as Json;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`)).join("");
}

function brokenIssue(text: string, broken: BrokenJson | undefined): OutputIssue {
  if (broken === undefined) return { path: "", message: "holds no JSON", got: preview(text.trim()) };
  const near = preview(text.slice(Math.max(0, broken.at - 40), broken.at + 40));
  if (broken.reason === "truncated") return { path: "", message: "the JSON ends before it is complete", got: near };
  if (broken.reason === "too deep") return { path: "", message: "the JSON is nested too deep" };
  return { path: "", message: `is not JSON at character ${broken.at - broken.start}`, got: near };
}

/** Beginning and end of a long text, with a mark where something is left out. */
function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - 20) / 2);
  return `${text.slice(0, half)} … [${text.length - 2 * half} characters] … ${text.slice(-half)}`;
}

/*
 * Keys of a reply against those of its schema. Pure.
 */

/**
 * A reply with the keys that its schema names: `fileName` or `File_Name` becomes `file_name` where that is wanted and absent, nothing in the
 * schema is called so, and no other key comes as near. Case, `_`, `-` and spaces are all that may differ. Keys of records stay.
 */
export function withSchemaKeys(value: Json, root: JsonObject): Json {
  return renamed(value, [root], root);
}

function renamed(value: Json, nodes: readonly Node[], root: Node): Json {
  const fits = fitting(leaves(nodes, root), value, root);
  if (isList(value)) {
    const items = fits.flatMap((node) => childNodes([node["items"] ?? null, ...listOf(node["prefixItems"])]));
    return items.length === 0 ? value : value.map((item) => renamed(item, items, root));
  }
  if (typeof value !== "object" || value === null) return value;
  const names = newNames(value as Node, fits);
  const members = Object.entries(value as Node).map(([given, member]): [string, Json] => {
    const name = names.get(given) ?? given;
    const owners = fits.filter((node) => Object.hasOwn(propertiesOf(node), name));
    const children = childNodes(
      owners.length === 0 ? fits.map((node) => node["additionalProperties"]) : owners.map((node) => propertiesOf(node)[name]),
    );
    return [name, children.length === 0 ? member : renamed(member, children, root)];
  });
  return Object.fromEntries(members);
}

/** The names of the schema by the keys that stand for them. Where several schemas may be meant nothing is renamed. */
function newNames(value: Node, nodes: readonly Node[]): ReadonlyMap<string, string> {
  const [node] = nodes;
  if (node === undefined || nodes.length > 1 || isOpen(node)) return new Map();
  const wanted = Object.keys(propertiesOf(node));
  const strangers = Object.keys(value).filter((key) => !wanted.includes(key));
  const absent = wanted.filter((name) => !Object.hasOwn(value, name));
  const pairs = absent.flatMap((name): [string, string][] => {
    const near = strangers.filter((key) => folded(key) === folded(name));
    const rivals = wanted.filter((other) => folded(other) === folded(name));
    return near.length === 1 && rivals.length === 1 ? [[near[0] as string, name]] : [];
  });
  return new Map(pairs);
}

/**
 * Whether a reply that ended before its objects were closed can have lost nothing: each of them has every member that its schema knows, also
 * the optional ones, and may have no others.
 *
 * @param path the keys from the root to the innermost open object
 */
function holdsAllMembers(value: Json, path: readonly string[], root: JsonObject): boolean {
  let nodes: readonly Node[] = [root];
  let member: Json | undefined = value;
  for (let place = 0; place <= path.length; place += 1) {
    if (typeof member !== "object" || member === null || isList(member)) return false;
    const held: Node = member as Node;
    const keys = new Set(Object.keys(held).map(folded));
    const fits = fitting(leaves(nodes, root), held, root);
    const isWhole = (node: Node): boolean => !isOpen(node) && Object.keys(propertiesOf(node)).every((name) => keys.has(folded(name)));
    if (fits.length === 0 || !fits.every(isWhole)) return false;
    const key = path[place] ?? "";
    member = held[key];
    nodes = childNodes(
      fits.flatMap((node) => Object.entries(propertiesOf(node)).flatMap(([name, child]) => (folded(name) === folded(key) ? [child] : []))),
    );
  }
  return true;
}

/** True when it may have members that it does not name. */
function isOpen(node: Node): boolean {
  const { additionalProperties, propertyNames, patternProperties, properties } = node;
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  return !isClosed || propertyNames !== undefined || patternProperties !== undefined || properties === undefined;
}

function folded(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, "");
}
