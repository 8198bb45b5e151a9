import type { AnyNode, Program } from "acorn";
import { isNode, namesOf, nodesIn, requiredIn, stringIn } from "./javascript.ts";

const OURS = /^troupe(\/|$)/;

export class FileNames {
  readonly declared: Map<string, AnyNode> = new Map();
  /** Imported names, by the member of a global object that they mean: `randomUUID` is `crypto.randomUUID`. */
  readonly imported: Map<string, string> = new Map();
  readonly exported: Map<string, string> = new Map();
  readonly #ours: Set<string> = new Set();
  readonly own: Set<string> = new Set();

  constructor(program: Program) {
    for (const node of nodesIn(program)) {
      if (node.type === "ImportDeclaration") this.#imports(node);
      else if (node.type === "VariableDeclarator") this.#variable(node);
      else if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id !== null)
        this.#declare(node.id.name, node);
    }
  }

  /** Returns the name under which this package exports what an expression names; undefined for what comes from elsewhere. */
  oursIn(expression: AnyNode): string | undefined {
    const [name = "", ...rest] = namesOf(expression);
    if (!this.#ours.has(name)) return undefined;
    return expression.type === "Identifier" ? this.exported.get(name) : rest.length === 1 ? rest[0] : undefined;
  }

  #declare(name: string, node: AnyNode): void {
    this.declared.set(name, node);
    this.own.add(name);
  }

  #imports(node: Extract<AnyNode, { type: "ImportDeclaration" }>): void {
    const from = String(node.source.value);
    const object = MODULES.get(from.replace(/^node:/, ""));
    for (const one of node.specifiers) {
      const local = one.local.name;
      const name = one.type === "ImportSpecifier" && one.imported.type === "Identifier" ? one.imported.name : undefined;
      if (name !== undefined) this.exported.set(local, name);
      if (OURS.test(from)) this.#ours.add(local);
      if (TIMER_MODULES.test(from)) this.imported.set(local, name === "setTimeout" || name === "setInterval" ? name : "setTimeout");
      else if (object === undefined) this.own.add(local);
      else this.imported.set(local, name === undefined || name === object ? object : `${object}.${name}`);
    }
  }

  #variable({ id, init }: Extract<AnyNode, { type: "VariableDeclarator" }>): void {
    if (!isNode(init)) return;
    const isOurs = OURS.test(requiredIn(init) ?? "");
    if (id.type === "Identifier") {
      this.#declare(id.name, init);
      if (isOurs) this.#ours.add(id.name);
    }
    if (id.type !== "ObjectPattern") return;
    const object = namesOf(init).join(".");
    for (const property of id.properties) {
      if (property.type !== "Property" || property.key.type !== "Identifier" || property.value.type !== "Identifier") continue;
      const [name, local] = [property.key.name, property.value.name];
      if (MEMBERS.has(`${object}.${name}`)) this.imported.set(local, `${object}.${name}`);
      if (!isOurs) continue;
      this.exported.set(local, name);
      this.#ours.add(local);
    }
  }
}

/** The values that differ from run to run: a random number, the time of the machine, or a call at a later time. */
export type SourceKind = "chance" | "time" | "later";

const MEMBERS: ReadonlyMap<string, SourceKind> = new Map<string, SourceKind>([
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
const FUNCTIONS: ReadonlySet<string> = new Set(["setTimeout", "setInterval", "setImmediate"]);
const MODULES: ReadonlyMap<string, string> = new Map([
  ["crypto", "crypto"],
  ["perf_hooks", "performance"],
  ["process", "process"],
]);
const TIMER_MODULES: RegExp = /^(node:)?timers(\/promises)?$/;

/** The source that a node names, such as `Math.random` or `new Date()`; undefined for any other node. */
export function sourceAt(node: AnyNode, names: FileNames): { readonly name: string; readonly kind: SourceKind } | undefined {
  const name = nameAt(node, names);
  if (name === undefined) return undefined;
  const kind = MEMBERS.get(name) ?? (FUNCTIONS.has(name) ? "later" : name === "new Date()" ? "time" : undefined);
  return kind === undefined ? undefined : { name, kind };
}

function nameAt(node: AnyNode, names: FileNames): string | undefined {
  const { own, imported } = names;
  if (node.type === "MemberExpression") return memberName(node, names);
  if (node.type === "Identifier")
    return imported.get(node.name) ?? (own.has(node.name) || !FUNCTIONS.has(node.name) ? undefined : node.name);
  const isDate = (node.type === "NewExpression" && node.arguments.length === 0) || node.type === "CallExpression";
  return isDate && node.callee.type === "Identifier" && node.callee.name === "Date" && !own.has("Date") ? "new Date()" : undefined;
}

function memberName(node: Extract<AnyNode, { type: "MemberExpression" }>, { own, imported }: FileNames): string | undefined {
  const computed = node.computed ? stringIn(node.property) : undefined;
  const all = namesOf(node);
  const path = all[0] === "globalThis" ? all.slice(1) : all;
  const [object = "", ...rest] = computed === undefined ? path : [...path.slice(0, -1), computed];
  if (own.has(object)) return undefined;
  const name = [imported.get(object) ?? object, ...rest].join(".");
  return MEMBERS.has(name) || FUNCTIONS.has(name) ? name : undefined;
}
