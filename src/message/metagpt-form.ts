/*
 * Converts the form in which MetaGPT writes a message. No class is looked up, and no type expression is evaluated.
 *
 * MetaGPT writes `cause_by` and addresses as paths of Python classes (`metagpt.actions.write_prd.WritePRD`): the class is the name here.
 * MetaGPT writes a payload beside the class it was made of: `{ "class", "mapping" | "module", "value" }`. The value is the payload.
 */

import { isRecord } from "../kernel/value-kind.ts";
import { NotJsonError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";

export type OwnForm = { readonly wire: unknown } | { readonly field: string; readonly fault: string };

interface Field {
  readonly theirs: string;
  readonly own: string;
  readonly read: (value: unknown) => unknown;
}

const FIELDS: readonly Field[] = [
  { theirs: "cause_by", own: "causeBy", read: nameOfPath },
  { theirs: "sent_from", own: "sentFrom", read: nameOfPath },
  { theirs: "send_to", own: "sendTo", read: namesOf },
  { theirs: "instruct_content", own: "instructContent", read: payloadOf },
];

/** Converts the fields that MetaGPT names differently. A value without such a field is returned unchanged. */
export function ownForm(wire: unknown): OwnForm {
  if (!isRecord(wire) || !FIELDS.some(({ theirs }) => Object.hasOwn(wire, theirs))) return { wire };
  const own: Record<string, unknown> = { ...wire };
  for (const { theirs, own: name, read } of FIELDS) {
    delete own[theirs];
    if (isAbsent(wire[theirs])) continue;
    const value = read(wire[theirs]);
    if (!isAbsent(wire[name]) && !isSame(wire[name], value)) {
      return { field: theirs, fault: `says something else than ${name}: keep one of the two` };
    }
    own[name] = value;
  }
  return { wire: own };
}

function nameOfPath(value: unknown): unknown {
  return typeof value === "string" ? (/^(?:[a-z_]\w*\.)+([A-Z]\w*)$/.exec(value)?.[1] ?? value) : value;
}

function namesOf(value: unknown): unknown {
  if (typeof value === "string") return value === "" ? [] : [nameOfPath(value)];
  return Array.isArray(value) ? value.map(nameOfPath) : value;
}

function payloadOf(value: unknown): unknown {
  const isTyped = isRecord(value) && typeof value["class"] === "string" && Object.hasOwn(value, "value");
  return isTyped && (Object.hasOwn(value, "mapping") || Object.hasOwn(value, "module")) ? value["value"] : value;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    return canonicalJson(inOrder(a)) === canonicalJson(inOrder(b));
  } catch (error) {
    if (error instanceof NotJsonError) return false;
    throw error;
  }
}

function inOrder(value: unknown): unknown {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value.toSorted() : value;
}
