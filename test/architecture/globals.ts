import { children, nameOf, nodeAt, nodesAt, type Node } from "./source.ts";

/** Names of the machine: its clock, its dice, its process, its screen, its network. */
const MACHINE: ReadonlySet<string> = new Set([
  "process",
  "console",
  "performance",
  "crypto",
  "fetch",
  "WebSocket",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
]);
const MACHINE_MEMBERS: ReadonlySet<string> = new Set(["Date.now", "Math.random", "AbortSignal.timeout", "Temporal.Now"]);
const WINDOWS: ReadonlySet<string> = new Set(["globalThis", "global", "self", "window"]);
/** TypeScript nodes that hold running code; every other one is erased. */
const ALIVE: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "TSParameterProperty",
  "TSExportAssignment",
  "TSEnumDeclaration",
  "TSEnumBody",
  "TSEnumMember",
  "TSModuleDeclaration",
  "TSModuleBlock",
]);

/** The uses of the machine by a global name in a file. A name the file declares itself in an enclosing scope (a parameter `fetch`) is its own. */
export function machineUses(program: Node): { readonly what: string; readonly node: Node }[] {
  const found: { what: string; node: Node }[] = [];
  visit(program, new Set(), (what, node) => found.push({ what, node }));
  return found;
}

function visit(node: Node, outer: ReadonlySet<string>, report: (what: string, node: Node) => void): void {
  if (node.type.startsWith("TS") && !ALIVE.has(node.type)) return;
  const declared = declaredIn(node);
  const own = declared.length === 0 ? outer : new Set([...outer, ...declared]);
  const what = machineUse(node, own);
  if (what !== undefined) report(what, node);
  for (const child of children(node)) {
    if (!isMereName(node, child)) visit(child, own, report);
  }
}

function machineUse(node: Node, own: ReadonlySet<string>): string | undefined {
  const isFree = (name: string | undefined): name is string => name !== undefined && !own.has(name);
  if (node.type === "Identifier") {
    const name = nameOf(node);
    return isFree(name) && MACHINE.has(name) ? name : undefined;
  }
  if (node.type === "MemberExpression") {
    const object = nameOf(nodeAt(node, "object"));
    const property = nameOf(nodeAt(node, "property"));
    if (!isFree(object) || property === undefined) return undefined;
    if (MACHINE_MEMBERS.has(`${object}.${property}`)) return `${object}.${property}`;
    return WINDOWS.has(object) && MACHINE.has(property) ? `${object}.${property}` : undefined;
  }
  const isDate = nameOf(nodeAt(node, "callee")) === "Date" && !own.has("Date");
  if (node.type === "NewExpression" && isDate && nodesAt(node, "arguments").length === 0) return "new Date()";
  return node.type === "CallExpression" && isDate ? "Date()" : undefined;
}

/** True for a child that is a word and not a variable: `a.process`, `{ process: 1 }`, `process() {}` in a class. */
function isMereName(parent: Node, child: Node): boolean {
  if (parent["computed"] === true) return false;
  if (parent.type === "MemberExpression") return parent["property"] === child;
  if (["MethodDefinition", "PropertyDefinition", "AccessorProperty"].includes(parent.type)) return parent["key"] === child;
  if (parent.type === "Property") return parent["key"] === child;
  return ["ImportSpecifier", "ExportSpecifier", "LabeledStatement", "BreakStatement", "ContinueStatement"].includes(parent.type);
}

/** The names a scope declares for itself. */
function declaredIn(node: Node): readonly string[] {
  const body = [
    ...nodesAt(node, "body"),
    ...(node.type === "SwitchStatement" ? nodesAt(node, "cases").flatMap((one) => nodesAt(one, "consequent")) : []),
  ];
  const heads = ["params", "param", "init", "left", "id"].flatMap((field) => [...nodesAt(node, field), nodeAt(node, field)]);
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "CatchClause":
      return heads.flatMap((head) => (head === undefined ? [] : boundBy(head)));
    case "ForStatement":
    case "ForOfStatement":
    case "ForInStatement":
      return heads.flatMap((head) => (head?.type === "VariableDeclaration" ? statementBinds(head) : []));
    case "Program":
    case "BlockStatement":
    case "StaticBlock":
    case "SwitchStatement":
      return body.flatMap(statementBinds);
    default:
      return [];
  }
}

function statementBinds(statement: Node): readonly string[] {
  const inner = nodeAt(statement, "declaration") ?? statement;
  switch (inner.type) {
    case "VariableDeclaration":
      return nodesAt(inner, "declarations").flatMap((one) => boundBy(nodeAt(one, "id")));
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return boundBy(nodeAt(inner, "id"));
    case "ImportDeclaration":
      return nodesAt(inner, "specifiers").flatMap((one) => boundBy(nodeAt(one, "local")));
    default:
      return [];
  }
}

function boundBy(pattern: Node | undefined): readonly string[] {
  if (pattern === undefined) return [];
  switch (pattern.type) {
    case "Identifier":
      return [nameOf(pattern) ?? ""];
    case "ObjectPattern":
      return nodesAt(pattern, "properties").flatMap((one) => boundBy(nodeAt(one, "value") ?? nodeAt(one, "argument")));
    case "ArrayPattern":
      return nodesAt(pattern, "elements").flatMap(boundBy);
    case "AssignmentPattern":
      return boundBy(nodeAt(pattern, "left"));
    case "RestElement":
      return boundBy(nodeAt(pattern, "argument"));
    case "TSParameterProperty":
      return boundBy(nodeAt(pattern, "parameter"));
    default:
      return [];
  }
}
