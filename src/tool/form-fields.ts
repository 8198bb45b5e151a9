import { aText, iterable, listOf, object, type Shape, takes } from "../kernel/argument.ts";
import { type Json, type JsonObject, parsedJson } from "../kernel/json.ts";
import { defined, isRecord } from "../kernel/value-kind.ts";
import { branchesOf, propertiesOf, referred, type SchemaNode, stringsOf, typesOf } from "../model/schema-node.ts";
import { answerFaults } from "./answer-faults.ts";
import { schemaWords, valuesOf } from "./schema-words.ts";

/** One of the answers that a question offers. */
export interface Choice {
  readonly value: string;
  /** Default: the value. */
  readonly label?: string;
}

/** The way in which a field is filled in. `json`: no simpler kind fits, such as for a list of objects. */
export type FieldKind = "text" | "whole" | "number" | "yes-no" | "choice" | "list" | "json";

/** One field of a form, for a screen or a page. */
export interface FormField {
  /** The names from the root of the answer; empty for a form of a single value. */
  readonly path: readonly string[];
  /** `address.city`, as in a fault. */
  readonly name: string;
  readonly kind: FieldKind;
  /** In words: `a whole number from 1 to 5`. */
  readonly wanted: string;
  readonly description?: string;
  readonly choices?: readonly Json[];
  readonly default?: Json;
  /** False for a field that is left out when it stays empty. */
  readonly isRequired: boolean;
  /** An empty field is null. */
  readonly takesNull: boolean;
  /** References in it are those of `root`. */
  readonly schema: SchemaNode;
  readonly root: SchemaNode;
}

const aSchema: Shape = object("a JSON Schema");
const aField: Shape = object("a field of formFields", { path: listOf(aText), kind: aText, schema: aSchema, root: aSchema });
const aFilledField: Shape = {
  says: "a field of formFields with its value",
  fits: (pair) => Array.isArray(pair) && aField.fits(pair[0]),
};

/** A form of more fields is one field of JSON. */
const MAX_FIELDS = 100;
/** Levels of objects whose members are fields of their own. */
const MAX_LEVELS = 4;
/** References that lead to references. */
const MAX_REFERENCES = 8;

/**
 * Returns the fields of a form, at least one. Members of inner objects are fields too.
 *
 * @param order the names of fields in their order. Others come last, in the order of the schema.
 * @throws UsageError `ARGUMENT_INVALID`
 */
export function formFields(schema: JsonObject, order: readonly string[] = []): readonly FormField[] {
  takes("formFields", "the schema", schema, aSchema);
  takes("formFields", "the order", order, listOf(aText));
  const indexOf = ({ name }: FormField): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return fieldsIn(schema).toSorted((a, b) => indexOf(a) - indexOf(b));
}

/** The names of the fields in the order of the schema. A record of the schema sorts them. */
export function fieldOrder(schema: JsonObject): readonly string[] {
  return fieldsIn(schema).map(({ name }) => name);
}

function fieldsIn(schema: JsonObject): readonly FormField[] {
  const fields: FormField[] = [];
  addFields(fields, { path: [], node: schema, isRequired: true, root: schema });
  return fields.length > 0 && fields.length <= MAX_FIELDS ? fields : [{ ...fieldOf(schema), kind: "json" }];
}

export function fieldOf(schema: JsonObject): FormField {
  return fieldAt({ path: [], node: schema, isRequired: true, root: schema });
}

interface Place {
  readonly path: readonly string[];
  readonly node: unknown;
  readonly isRequired: boolean;
  readonly root: SchemaNode;
}

function addFields(fields: FormField[], place: Place): void {
  if (fields.length > MAX_FIELDS) return;
  const node = resolved(place.node, place.root);
  const members = Object.entries(propertiesOf(node)).slice(0, MAX_FIELDS + 1);
  const isOpen = node["additionalProperties"] !== undefined && node["additionalProperties"] !== false;
  const isGroup = members.length > 0 && !isOpen && branchesOf(node).length === 0;
  // The members of an object that may be missing do not say whether it is there: it is one field.
  if (!isGroup || !place.isRequired || place.path.length >= MAX_LEVELS || node["allOf"] !== undefined) {
    fields.push(fieldAt(place));
    return;
  }
  const required = stringsOf(node["required"]);
  for (const [name, member] of members)
    addFields(fields, { path: [...place.path, name], node: member, isRequired: required.includes(name), root: place.root });
}

function fieldAt({ path, node: given, isRequired, root }: Place): FormField {
  const outer = resolved(given, root);
  const { node, takesNull } = withoutNull(outer, root);
  const values = valuesOf(node)?.filter((value) => value !== null) as readonly Json[] | undefined;
  const description = outer["description"] ?? node["description"];
  const byDefault = outer["default"] as Json | undefined;
  return {
    path,
    name: path.join("."),
    kind: values === undefined ? kindOf(node, root) : "choice",
    wanted: schemaWords(node),
    ...defined({ description: typeof description === "string" ? description : undefined, choices: values, default: byDefault }),
    isRequired,
    takesNull,
    schema: outer,
    root,
  };
}

/** References may form a circle. */
function resolved(given: unknown, root: SchemaNode): SchemaNode {
  let node = given;
  for (let steps = 0; steps < MAX_REFERENCES && isRecord(node) && typeof node["$ref"] === "string"; steps += 1)
    node = referred(node["$ref"], root);
  return isRecord(node) && typeof node["$ref"] !== "string" ? node : {};
}

function withoutNull(node: SchemaNode, root: SchemaNode): { readonly node: SchemaNode; readonly takesNull: boolean } {
  const types = typesOf(node);
  if (types.length > 1 && types.includes("null")) {
    const others = types.filter((type) => type !== "null");
    return { node: { ...node, type: others.length === 1 ? others[0] : others }, takesNull: true };
  }
  const branches = branchesOf(node);
  const others = branches.filter((branch) => !(isRecord(branch) && branch["type"] === "null"));
  if (branches.length === others.length) return { node, takesNull: false };
  return { node: others.length === 1 ? resolved(others[0], root) : { ...node, anyOf: others, oneOf: undefined }, takesNull: true };
}

const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ["string", "text"],
  ["integer", "whole"],
  ["number", "number"],
  ["boolean", "yes-no"],
]);

function kindOf(node: SchemaNode, root: SchemaNode): FieldKind {
  const [type = "", ...others] = typesOf(node);
  if (others.length > 0 || branchesOf(node).length > 0) return "json";
  const isList = type === "array" && node["prefixItems"] === undefined && kindOf(resolved(node["items"], root), root) === "text";
  return KINDS.get(type) ?? (isList ? "list" : "json");
}

const YES = /^(?:y|yes|true|1)$/i;
const NO = /^(?:n|no|false|0)$/i;

/**
 * Reads typed text as the value of a field: `yes`, `3`, a choice, the lines of a list, JSON. Other text is returned unchanged, and the check refuses
 * it. @throws UsageError `ARGUMENT_INVALID`
 */
export function readField(field: FormField, text: string): Json {
  takes("readField", "the field", field, aField);
  takes("readField", "the text", text, aText);
  const { kind, choices = [], takesNull } = field;
  const typed = text.trim();
  if (takesNull && (typed === "" || typed === "null")) return null;
  switch (kind) {
    case "text":
      return text;
    case "whole":
    case "number":
      return typed !== "" && Number.isFinite(Number(typed)) ? Number(typed) : text;
    case "yes-no":
      return YES.test(typed) ? true : NO.test(typed) ? false : text;
    case "choice":
      return chosen(choices, typed) ?? text;
    case "list":
      return (typed.startsWith("[") ? parsedJson(typed) : undefined) ?? linesOf(text);
    case "json":
      return parsedJson(typed) ?? text;
  }
}

function chosen(choices: readonly Json[], typed: string): Json | undefined {
  const named = choices.map((value) => ({ value: typeof value === "string" ? value : JSON.stringify(value) }));
  const found = choiceNamed(named, typed, true);
  return found && choices[named.indexOf(found)];
}

/** By its value, else by value or label in any case, else by its number from 1. @param byNumber false where a number may be meant as a number */
export function choiceNamed<C extends Choice>(choices: readonly C[], text: string, byNumber: boolean): C | undefined {
  const exact = choices.find(({ value }) => value === text);
  if (exact !== undefined) return exact;
  const typed = text.trim().toLowerCase();
  const near = choices.filter(({ value, label }) => value.toLowerCase() === typed || label?.trim().toLowerCase() === typed);
  if (near.length === 1) return near[0];
  return byNumber && /^\d{1,4}$/.test(typed) ? choices[Number(typed) - 1] : undefined;
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Returns what is wrong with the value of a field, as a sentence. @throws UsageError `ARGUMENT_INVALID` */
export function fieldFault(field: FormField, value: Json): string | undefined {
  takes("fieldFault", "the field", field, aField);
  const [fault] = answerFaults(value, field.schema, field.root);
  if (fault === undefined) return undefined;
  return fault.path === "" ? fault.text : `${fault.path}: ${fault.text}`;
}

/** Returns the answer that the values of fields make. A field without a value is left out. @throws UsageError `ARGUMENT_INVALID` */
export function filledIn(values: Iterable<readonly [field: FormField, value: Json | undefined]>): Json {
  takes("filledIn", "the values", values, iterable("fields with their values"));
  const root: Group = new Map();
  for (const pair of values) {
    takes("filledIn", "each of the values", pair, aFilledField);
    const [{ path }, value] = pair;
    if (path.length === 0 && value !== undefined) return value;
    let group = root;
    for (const name of path.slice(0, -1)) {
      const inner = group.get(name);
      const next: Group = inner instanceof Map ? inner : new Map();
      group.set(name, next);
      group = next;
    }
    const name = path.at(-1);
    if (name !== undefined && value !== undefined) group.set(name, value);
  }
  return plainOf(root);
}

type Group = Map<string, Json | Group>;

function plainOf(group: Group): Json {
  return Object.fromEntries([...group].map(([name, member]) => [name, member instanceof Map ? plainOf(member) : member]));
}
