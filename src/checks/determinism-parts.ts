import type { AnyNode, Program } from "acorn";
import type { FileNames } from "./file-names.ts";
import { isNode, namesOf, nodesIn, stringIn } from "./javascript.ts";

/*
 * The parts of a program whose values a run depends on: roles and actions, experiments, policies of edges, schedulers.
 */

/** A part of a program whose values a run depends on. */
export type PartKind = "experiment" | "edge" | "scheduler" | "role";

export interface Part {
  readonly kind: PartKind;
  readonly node: AnyNode;
}

/** What makes roles and actions, by its exported name. */
const ROLE_MAKERS: ReadonlySet<string> = new Set(["defineRole", "defineAction"]);
const BASES: ReadonlySet<string> = new Set(["Role", "Action"]);
/** What makes policies of edges from functions of a program. */
const EDGE_MAKERS: ReadonlySet<string> = new Set(["edge", "byzantine", "corrupt"]);
/** What takes schedulers and policies of edges among its options. */
const RUNNERS: ReadonlySet<string> = new Set(["Environment", "Team"]);
/** What a policy of edges may decide. */
const DECISIONS: ReadonlySet<string | undefined> = new Set(["deliver", "drop", "delay", "copy", "rewrite"]);
/** A role within an experiment is told as a role. */
const ORDER: readonly PartKind[] = ["experiment", "edge", "scheduler", "role"];

/** Returns the parts of a program, the inner ones behind those that they may stand in. */
export function partsOf(program: Program, names: FileNames): readonly Part[] {
  const all = [...nodesIn(program)].flatMap((node): readonly Part[] => [
    ...partsAs("role", rolePartsAt(node, names)),
    ...partsAs("experiment", experimentPartsAt(node, names)),
    ...partsAs("edge", edgePartsAt(node, names)),
    ...partsAs("scheduler", schedulerPartsAt(node, names)),
    ...optionPartsAt(node, names),
  ]);
  return all.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function partsAs(kind: PartKind, nodes: readonly AnyNode[]): readonly Part[] {
  return nodes.map((node) => ({ kind, node }));
}

function rolePartsAt(node: AnyNode, names: FileNames): readonly AnyNode[] {
  if (node.type === "CallExpression" && ROLE_MAKERS.has(nameOf(node.callee, names))) return node.arguments;
  return isClass(node) && isRole(node, names) ? [node.body] : [];
}

function nameOf(node: AnyNode, { exported }: FileNames): string {
  const [name = "", ...rest] = namesOf(node);
  return rest.at(-1) ?? exported.get(name) ?? name;
}

function isRole(node: AnyNode, names: FileNames, seen: readonly AnyNode[] = []): boolean {
  if (seen.includes(node) || !isClass(node) || !isNode(node.superClass)) return false;
  const name = nameOf(node.superClass, names);
  const base = names.declared.get(name);
  return BASES.has(name) || (base !== undefined && isRole(base, names, [...seen, node]));
}

/** The definition of an experiment: its functions, and the data that they are given. */
function experimentPartsAt(node: AnyNode, names: FileNames): readonly AnyNode[] {
  if (node.type !== "CallExpression" || names.oursIn(node.callee) !== "experiment") return [];
  const { members, isWhole } = optionsIn(node.arguments[0], names);
  return !isWhole || members.some(({ key }) => key === "world") ? node.arguments : [];
}

function edgePartsAt(node: AnyNode, names: FileNames): readonly AnyNode[] {
  if (node.type === "CallExpression" && EDGE_MAKERS.has(names.oursIn(node.callee) ?? "")) return node.arguments;
  const decide = functionOf(membersOf(node), "decide", names);
  return decide !== undefined && [...nodesIn(decide)].some(isDecision) ? [node] : [];
}

/** True for `kind: "drop"`. */
function isDecision(node: AnyNode): boolean {
  return node.type === "Property" && keyOf(node) === "kind" && DECISIONS.has(stringIn(node.value));
}

function schedulerPartsAt(node: AnyNode, names: FileNames): readonly AnyNode[] {
  const members = membersOf(node);
  return members.some(({ key }) => key === "delivers") && functionOf(members, "select", names) !== undefined ? [node] : [];
}

/** The values of `scheduler` and `edges` in the options of an environment or a team. */
function optionPartsAt(node: AnyNode, names: FileNames): readonly Part[] {
  if (node.type !== "NewExpression" || !RUNNERS.has(names.oursIn(node.callee) ?? "")) return [];
  return optionsIn(node.arguments[0], names).members.flatMap(({ key, value }): readonly Part[] => {
    if (key === "scheduler") return [{ kind: "scheduler", node: value }];
    return key === "edges" ? [{ kind: "edge", node: value }] : [];
  });
}

interface Member {
  readonly key: string;
  readonly value: AnyNode;
}

/** The members of an object, also of one that the file names or spreads. It is whole where the file has all of them. */
interface Options {
  readonly members: readonly Member[];
  readonly isWhole: boolean;
}

function optionsIn(node: AnyNode | undefined, names: FileNames, seen: readonly AnyNode[] = []): Options {
  const named = node?.type === "Identifier" ? names.declared.get(node.name) : undefined;
  if (named !== undefined && !seen.includes(named)) return optionsIn(named, names, [...seen, named]);
  if (node?.type !== "ObjectExpression") return { members: [], isWhole: false };
  const spread = node.properties.flatMap((one) => (one.type === "SpreadElement" ? [optionsIn(one.argument, names, seen)] : []));
  return {
    members: [...membersOf(node), ...spread.flatMap(({ members }) => members)],
    isWhole: spread.every(({ isWhole }) => isWhole),
  };
}

/** The members that the text of an object or a class names. */
function membersOf(node: AnyNode): readonly Member[] {
  const parts: readonly AnyNode[] = node.type === "ObjectExpression" ? node.properties : isClass(node) ? node.body.body : [];
  return parts.flatMap((part): readonly Member[] => {
    const key = keyOf(part);
    const value = "value" in part && isNode(part.value) ? part.value : undefined;
    return key === undefined || value === undefined ? [] : [{ key, value }];
  });
}

/** The function that is the member of that name, also one that the file declares elsewhere. */
function functionOf(members: readonly Member[], name: string, { declared }: FileNames): AnyNode | undefined {
  const value = members.find(({ key }) => key === name)?.value;
  const made = value?.type === "Identifier" ? declared.get(value.name) : value;
  return made !== undefined && /Function/.test(made.type) ? made : undefined;
}

function keyOf(node: AnyNode): string | undefined {
  if (node.type !== "Property" && node.type !== "MethodDefinition" && node.type !== "PropertyDefinition") return undefined;
  if (node.computed) return undefined;
  return node.key.type === "Identifier" ? node.key.name : stringIn(node.key);
}

function isClass(node: AnyNode): node is Extract<AnyNode, { type: "ClassDeclaration" | "ClassExpression" }> {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}
