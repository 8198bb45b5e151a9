import type { AnyNode, Program } from "acorn";
import nodeModule from "node:module";
import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { FileNames, sourceAt, type SourceKind } from "./file-names.ts";
import { isNode, namesOf, nodesIn, parseJavaScript, stringIn } from "./javascript.ts";

type PartKind = "experiment" | "edge" | "scheduler" | "role";

/** A place in a role, an experiment, a policy of edges or a scheduler whose value differs from run to run. */
export interface DeterminismFault {
  readonly line: number;
  readonly column: number;
  readonly name: string;
  readonly part: PartKind;
  readonly text: string;
}

const ADVICE: Readonly<Record<PartKind, Readonly<Record<SourceKind, string>>>> = {
  role: {
    chance: "draw from out.random() or rc.random(), which the seed decides",
    time: "take the time from out.now() or rc.now(), which the record keeps",
    later: "send a message that arrives later with out.after(ticks, text), or wait inside of rc.step()",
  },
  experiment: {
    chance: "draw from environment.stream(name), which the seed of the run decides",
    time: "count in rounds, or in ticks as progress.tick has them",
    later: "bound the run by rounds, and send what is to arrive later with out.after(ticks, text)",
  },
  edge: {
    chance: "draw from the random stream that decide({ random }) is given",
    time: "take the tick that decide({ tick }) is given",
    later: 'return { kind: "delay", ticks } from decide',
  },
  scheduler: {
    chance: "draw from the function that select({ random }) is given",
    time: "take the tick that select({ tick }) is given",
    later: 'give the scheduler the clock "time" and a function wait',
  },
};

/**
 * Finds what makes the runs of a file differ from each other: `Math.random`, the clock of the machine, timers, random bytes. It reads roles
 * and actions, the definitions of experiments, policies of edges and schedulers, and the functions and values of the file that they use. Code
 * inside of `rc.step(...)` is left out, because its answer is recorded. It does not follow imports, and does not run the file.
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
  for (const { kind: part, node: start } of partsOf(program, names))
    for (const node of reached(start, names)) {
      const source = sourceAt(node, names);
      if (source === undefined) continue;
      const { name, kind } = source;
      found.set(node.start, {
        ...placeOf(script, node.start),
        name,
        part,
        text: `${name} differs from run to run: ${ADVICE[part][kind]}.`,
      });
    }
  return [...found.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** Removes types where Node.js can. Blanks replace them, so that positions stay. */
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
  const { node } = process.versions;
  return new UsageError(
    "SOURCE_INVALID",
    `Expected JavaScript, or TypeScript that Node.js can strip of its types, got a text that Node.js ${node} cannot read. Use Node.js 22.13 or later, or give the built file.`,
  );
}

const MAKERS: ReadonlyMap<string | undefined, PartKind> = new Map([
  ["experiment", "experiment"],
  ["edge", "edge"],
  ["byzantine", "edge"],
  ["corrupt", "edge"],
]);
const ROLE_MAKERS: ReadonlySet<string> = new Set(["defineRole", "defineAction"]);
const ROLE_BASES: ReadonlySet<string> = new Set(["Role", "Action"]);
const RUNNERS: ReadonlySet<string | undefined> = new Set(["Environment", "Team"]);
const ORDER: readonly PartKind[] = ["experiment", "edge", "scheduler", "role"];

interface Part {
  readonly kind: PartKind;
  readonly node: AnyNode;
}

function partsOf(program: Program, names: FileNames): readonly Part[] {
  const all = [...nodesIn(program)].flatMap((node) => partsAt(node, names));
  return all.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function partsAt(node: AnyNode, names: FileNames): readonly Part[] {
  if (node.type === "CallExpression") {
    const kind = ROLE_MAKERS.has(nameOf(node.callee, names)) ? "role" : MAKERS.get(names.oursIn(node.callee));
    return kind === undefined ? [] : node.arguments.map((argument) => ({ kind, node: argument }));
  }
  if (isClass(node)) return isRole(node, names) ? [{ kind: "role", node: node.body }] : [];
  if (node.type !== "NewExpression" || !RUNNERS.has(names.oursIn(node.callee))) return [];
  return membersOf(node.arguments[0], names).flatMap(({ key, value }): readonly Part[] => {
    if (key === "scheduler") return [{ kind: "scheduler", node: value }];
    return key === "edges" ? [{ kind: "edge", node: value }] : [];
  });
}

function nameOf(node: AnyNode, { exported }: FileNames): string {
  const [name = "", ...rest] = namesOf(node);
  return rest.at(-1) ?? exported.get(name) ?? name;
}

function isRole(node: AnyNode, names: FileNames, seen: readonly AnyNode[] = []): boolean {
  if (seen.includes(node) || !isClass(node) || !isNode(node.superClass)) return false;
  const name = nameOf(node.superClass, names);
  const base = names.declared.get(name);
  return ROLE_BASES.has(name) || (base !== undefined && isRole(base, names, [...seen, node]));
}

function isClass(node: AnyNode): node is Extract<AnyNode, { type: "ClassDeclaration" | "ClassExpression" }> {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

interface Member {
  readonly key: string;
  readonly value: AnyNode;
}

function membersOf(node: AnyNode | undefined, names: FileNames, seen: readonly AnyNode[] = []): readonly Member[] {
  const named = node?.type === "Identifier" ? names.declared.get(node.name) : undefined;
  if (named !== undefined && !seen.includes(named)) return membersOf(named, names, [...seen, named]);
  if (node?.type !== "ObjectExpression") return [];
  return node.properties.flatMap((one): readonly Member[] => {
    if (one.type === "SpreadElement") return membersOf(one.argument, names, seen);
    const key = one.computed ? undefined : one.key.type === "Identifier" ? one.key.name : stringIn(one.key);
    return key === undefined ? [] : [{ key, value: one.value }];
  });
}

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

function isStep(node: AnyNode): node is Extract<AnyNode, { type: "CallExpression" }> {
  return node.type === "CallExpression" && node.callee.type === "MemberExpression" && namesOf(node.callee).at(-1) === "step";
}

function placeOf(text: string, at: number): Pick<DeterminismFault, "line" | "column"> {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
