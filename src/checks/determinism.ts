import type { AnyNode, Program } from "acorn";
import nodeModule from "node:module";
import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { isNode, namesOf, nodesIn, parseJavaScript, stringIn } from "./javascript.ts";

/** A place in a role whose value differs from run to run. */
export interface DeterminismFault {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The source of the value: `Math.random`, `Date.now`. */
  readonly name: string;
  /** One sentence with the replacement. */
  readonly text: string;
}

const CHANCE = "draw from out.random() or rc.random(), which the seed decides";
const TIME = "take the time from out.now() or rc.now(), which the record keeps";
const LATER = "send a message that arrives later with out.after(ticks, text), or wait inside of rc.step()";

/** Sources that are members of a global object. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "Math.random": CHANCE,
    "Date.now": TIME,
    "performance.now": TIME,
    "performance.timeOrigin": TIME,
    "process.hrtime": TIME,
    "process.uptime": TIME,
    "crypto.randomUUID": CHANCE,
    "crypto.getRandomValues": CHANCE,
    "crypto.randomBytes": CHANCE,
    "crypto.randomInt": CHANCE,
  }),
);
/** Sources that are global functions. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map(Object.entries({ setTimeout: LATER, setInterval: LATER, setImmediate: LATER }));
/** Modules of Node.js whose named exports are sources, by the object that stands for them above. */
const MODULES: ReadonlyMap<string, string> = new Map(Object.entries({ crypto: "crypto", perf_hooks: "performance", process: "process" }));
const TIMER_MODULES = /^(node:)?timers(\/promises)?$/;
/** What makes roles and actions, by its exported name. */
const MAKERS: ReadonlySet<string> = new Set(["defineRole", "defineAction"]);
const BASES: ReadonlySet<string> = new Set(["Role", "Action"]);

/**
 * Finds what makes the roles of a file differ from run to run: `Math.random`, the clock of the machine, timers, random bytes. It reads the parts
 * of `defineRole` and `defineAction`, classes that extend `Role` or `Action`, and the functions and values of the file that these use. Code inside of
 * `rc.step(...)` may do such things, because its answer is recorded. It does not follow imports, and does not run the file.
 *
 * @param text JavaScript, or TypeScript where Node.js can strip types (from 22.13)
 * @throws UsageError `SOURCE_INVALID` for a text that cannot be parsed
 * @example
 * import { findNondeterminism } from "troupe/checks";
 *
 * const source = 'const dice = defineRole({ name: "Dice", step: (_, message, out) => void out.say(`${Math.random()}`) });';
 * for (const { line, name } of await findNondeterminism(source)) console.log(line, name); // 1 Math.random
 */
export async function findNondeterminism(text: string): Promise<readonly DeterminismFault[]> {
  takes("findNondeterminism", "text", text, aText);
  const script = withoutTypes(text);
  const program = script === undefined ? undefined : await parseJavaScript(script);
  if (script === undefined || program === undefined) throw unreadable();
  const names = new FileNames(program);
  const found = new Map<number, DeterminismFault>();
  for (const part of rolePartsOf(program, names))
    for (const node of reached(part, names)) {
      const source = sourceAt(node, names);
      if (source !== undefined) found.set(node.start, { ...placeOf(script, node.start), ...source });
    }
  return [...found.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** Removes types where Node.js can. Blanks take their place, so that places stay. */
function withoutTypes(text: string): string | undefined {
  const strip: unknown = Reflect.get(nodeModule, "stripTypeScriptTypes");
  if (typeof strip !== "function") return text;
  try {
    return String(Reflect.apply(strip, nodeModule, [text]));
  } catch {
    return text;
  }
}

function unreadable(): UsageError {
  return new UsageError(
    "SOURCE_INVALID",
    `Expected JavaScript, or TypeScript that Node.js can strip of its types, got a text that Node.js ${process.versions.node} cannot read. Use Node.js 22.13 or later, or give the built file.`,
  );
}

/** The names that a file declares and imports. */
class FileNames {
  /** Functions and values of the file, by name. */
  readonly declared: Map<string, AnyNode> = new Map();
  /** Imported names, by the member of a global object that they stand for: `randomUUID` is `crypto.randomUUID`. */
  readonly imported: Map<string, string> = new Map();
  /** What makes roles and actions, and their base classes, by the name that the file gives them. */
  readonly makers: Map<string, string> = new Map();
  /** Names that the file gives to something of its own, which hide global ones. */
  readonly own: Set<string> = new Set();

  constructor(program: Program) {
    for (const node of nodesIn(program)) {
      if (node.type === "ImportDeclaration") this.#imports(node);
      else if (node.type === "VariableDeclarator") this.#variable(node);
      else if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id !== null)
        this.#declare(node.id.name, node);
    }
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
      if (name !== undefined && (MAKERS.has(name) || BASES.has(name))) this.makers.set(local, name);
      if (TIMER_MODULES.test(from)) this.imported.set(local, name === "setTimeout" || name === "setInterval" ? name : "setTimeout");
      else if (object === undefined) this.own.add(local);
      else this.imported.set(local, name === undefined || name === object ? object : `${object}.${name}`);
    }
  }

  #variable({ id, init }: Extract<AnyNode, { type: "VariableDeclarator" }>): void {
    if (id.type === "Identifier" && isNode(init)) this.#declare(id.name, init);
    if (id.type !== "ObjectPattern" || !isNode(init)) return;
    const object = namesOf(init).join(".");
    for (const property of id.properties) {
      if (property.type !== "Property" || property.key.type !== "Identifier" || property.value.type !== "Identifier") continue;
      if (MEMBERS.has(`${object}.${property.key.name}`)) this.imported.set(property.value.name, `${object}.${property.key.name}`);
    }
  }
}

/** The parts of a program that are roles and actions. */
function rolePartsOf(program: Program, { makers, declared }: FileNames): AnyNode[] {
  const nameOf = (node: AnyNode): string => {
    const [name = "", ...rest] = namesOf(node);
    return rest.at(-1) ?? makers.get(name) ?? name;
  };
  const isRole = (node: AnyNode, seen: readonly AnyNode[] = []): boolean => {
    if (seen.includes(node) || !isClass(node) || !isNode(node.superClass)) return false;
    const base = declared.get(nameOf(node.superClass));
    return BASES.has(nameOf(node.superClass)) || (base !== undefined && isRole(base, [...seen, node]));
  };
  return [...nodesIn(program)].flatMap((node): readonly AnyNode[] => {
    if (node.type === "CallExpression" && MAKERS.has(nameOf(node.callee))) return node.arguments;
    return isClass(node) && isRole(node) ? [node.body] : [];
  });
}

function isClass(node: AnyNode): node is Extract<AnyNode, { type: "ClassDeclaration" | "ClassExpression" }> {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

/** The nodes that a part has, and those of functions and values of the file that it names. Effects of recorded steps are left out. */
function* reached(part: AnyNode, names: FileNames): Generator<AnyNode> {
  const open = [part];
  const seen = new Set<AnyNode>();
  for (let start = open.pop(); start !== undefined; start = open.pop()) {
    if (seen.has(start)) continue;
    seen.add(start);
    const left = new Set<AnyNode>();
    for (const node of nodesIn(start)) {
      if (isStep(node)) for (const effect of node.arguments) for (const inner of nodesIn(effect)) left.add(inner);
      const label = labelOf(node);
      if (label !== undefined) left.add(label);
      if (left.has(node)) continue;
      yield node;
      const named = node.type === "Identifier" ? names.declared.get(node.name) : undefined;
      if (named !== undefined) open.push(named);
    }
  }
}

/** The name of a member, which is none of a value: `setTimeout` of `page.setTimeout()`. */
function labelOf(node: AnyNode): AnyNode | undefined {
  if (node.type === "MemberExpression") return node.computed ? undefined : node.property;
  if (node.type === "MethodDefinition" || node.type === "PropertyDefinition") return node.computed ? undefined : node.key;
  return node.type === "Property" && !node.computed && !node.shorthand ? node.key : undefined;
}

/** True for `rc.step("name", request, effect)`. */
function isStep(node: AnyNode): node is Extract<AnyNode, { type: "CallExpression" }> {
  return node.type === "CallExpression" && node.callee.type === "MemberExpression" && namesOf(node.callee).at(-1) === "step";
}

function sourceAt(node: AnyNode, names: FileNames): Pick<DeterminismFault, "name" | "text"> | undefined {
  const name = nameAt(node, names);
  const advice = name === undefined ? undefined : (MEMBERS.get(name) ?? FUNCTIONS.get(name) ?? (name === "new Date()" ? TIME : undefined));
  if (name === undefined || advice === undefined) return undefined;
  return { name, text: `${name} differs from run to run: ${advice}.` };
}

function nameAt(node: AnyNode, { own, imported }: FileNames): string | undefined {
  if (node.type === "MemberExpression") return memberName(node, own, imported);
  if (node.type === "Identifier")
    return imported.get(node.name) ?? (own.has(node.name) || !FUNCTIONS.has(node.name) ? undefined : node.name);
  const isDate = (node.type === "NewExpression" && node.arguments.length === 0) || node.type === "CallExpression";
  return isDate && node.callee.type === "Identifier" && node.callee.name === "Date" && !own.has("Date") ? "new Date()" : undefined;
}

function memberName(
  node: Extract<AnyNode, { type: "MemberExpression" }>,
  own: ReadonlySet<string>,
  imported: ReadonlyMap<string, string>,
): string | undefined {
  const computed = node.computed ? stringIn(node.property) : undefined;
  const all = namesOf(node);
  const path = all[0] === "globalThis" ? all.slice(1) : all;
  const [object = "", ...rest] = computed === undefined ? path : [...path.slice(0, -1), computed];
  if (own.has(object)) return undefined;
  const name = [imported.get(object) ?? object, ...rest].join(".");
  return MEMBERS.has(name) || FUNCTIONS.has(name) ? name : undefined;
}

function placeOf(text: string, at: number): Pick<DeterminismFault, "line" | "column"> {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
