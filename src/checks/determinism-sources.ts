import type { AnyNode } from "acorn";
import { namesOf, stringIn } from "./javascript.ts";

/*
 * The sources of values that differ from run to run, as a program names them.
 */

/** What a source gives: a random number, the time of the machine, or a call at a later time. */
export type SourceKind = "chance" | "time" | "later";

/** Sources that are members of a global object. */
export const MEMBERS: ReadonlyMap<string, SourceKind> = new Map<string, SourceKind>([
  ["Math.random", "chance"],
  ["Date.now", "time"],
  ["performance.now", "time"],
  ["performance.timeOrigin", "time"],
  ["process.hrtime", "time"],
  ["process.uptime", "time"],
  ["crypto.randomUUID", "chance"],
  ["crypto.getRandomValues", "chance"],
  ["crypto.randomBytes", "chance"],
  ["crypto.randomInt", "chance"],
]);
/** Sources that are global functions. */
const FUNCTIONS: ReadonlySet<string> = new Set(["setTimeout", "setInterval", "setImmediate"]);
/** Modules of Node.js whose named exports are sources, by the object that stands for them above. */
export const MODULES: ReadonlyMap<string, string> = new Map([
  ["crypto", "crypto"],
  ["perf_hooks", "performance"],
  ["process", "process"],
]);
export const TIMER_MODULES: RegExp = /^(node:)?timers(\/promises)?$/;

/** A source that a node of a program names. */
export interface Source {
  /** `Math.random`, `new Date()`. */
  readonly name: string;
  readonly kind: SourceKind;
}

/** What a file calls by names. */
interface Names {
  /** Names that it gives to something of its own, which hide global ones. */
  readonly own: ReadonlySet<string>;
  /** Other names of sources, by the member of a global object that they stand for. */
  readonly imported: ReadonlyMap<string, string>;
}

/** Returns the source that a node names; undefined for any other node. */
export function sourceAt(node: AnyNode, names: Names): Source | undefined {
  const name = nameAt(node, names);
  if (name === undefined) return undefined;
  const kind = MEMBERS.get(name) ?? (FUNCTIONS.has(name) ? "later" : name === "new Date()" ? "time" : undefined);
  return kind === undefined ? undefined : { name, kind };
}

function nameAt(node: AnyNode, { own, imported }: Names): string | undefined {
  if (node.type === "MemberExpression") return memberName(node, { own, imported });
  if (node.type === "Identifier")
    return imported.get(node.name) ?? (own.has(node.name) || !FUNCTIONS.has(node.name) ? undefined : node.name);
  const isDate = (node.type === "NewExpression" && node.arguments.length === 0) || node.type === "CallExpression";
  return isDate && node.callee.type === "Identifier" && node.callee.name === "Date" && !own.has("Date") ? "new Date()" : undefined;
}

function memberName(node: Extract<AnyNode, { type: "MemberExpression" }>, { own, imported }: Names): string | undefined {
  const computed = node.computed ? stringIn(node.property) : undefined;
  const all = namesOf(node);
  const path = all[0] === "globalThis" ? all.slice(1) : all;
  const [object = "", ...rest] = computed === undefined ? path : [...path.slice(0, -1), computed];
  if (own.has(object)) return undefined;
  const name = [imported.get(object) ?? object, ...rest].join(".");
  return MEMBERS.has(name) || FUNCTIONS.has(name) ? name : undefined;
}
