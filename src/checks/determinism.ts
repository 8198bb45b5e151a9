import type { AnyNode } from "acorn";
import nodeModule from "node:module";
import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { type PartKind, partsOf } from "./determinism-parts.ts";
import { FileNames, sourceAt, type SourceKind } from "./file-names.ts";
import { namesOf, nodesIn, parseJavaScript } from "./javascript.ts";

/** A place in a role, an experiment, a policy of edges or a scheduler whose value differs from run to run. */
export interface DeterminismFault {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The source of the value: `Math.random`, `Date.now`. */
  readonly name: string;
  /** What it is found in. */
  readonly part: "experiment" | "edge" | "scheduler" | "role";
  /** One sentence with the replacement. */
  readonly text: string;
}

/** Replacements of sources, by the part that names them. */
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
 * Finds what makes the runs of a file differ from each other: `Math.random`, the clock of the machine, timers, random bytes. It reads these, and
 * the functions and values of the file that they use:
 *
 * - roles: the parts of `defineRole` and `defineAction`, and classes that extend `Role` or `Action`. Code inside of `rc.step(...)` may do such
 *   things, because its answer is recorded;
 * - experiments: the definition that `experiment` is given, with `params`, `world`, `begin`, `rounds`, `stop`, `collect` and `measure`;
 * - policies of edges: what `edge`, `byzantine`, `corrupt` and the option `edges` are given, and objects whose `decide` returns a decision;
 * - schedulers: the option `scheduler`, and objects and classes with `delivers` and `select`.
 *
 * It does not follow imports, and does not run the file.
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

function placeOf(text: string, at: number): Pick<DeterminismFault, "line" | "column"> {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
