import type { AnyNode, Program } from "acorn";

/** Parses JavaScript as a module, else as a script; undefined for what is neither. `acorn` is loaded with the first use. */
export async function parseJavaScript(text: string): Promise<Program | undefined> {
  const { parse } = await import("acorn");
  for (const sourceType of ["module", "script"] as const) {
    try {
      return parse(text, { ecmaVersion: "latest", sourceType, allowHashBang: true, allowReturnOutsideFunction: true });
    } catch (error) {
      // RangeError: the text is nested so deeply that the parser's stack ends.
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

/** All nodes below a node, itself first, in the order of the text. */
export function* nodesIn(start: AnyNode): Generator<AnyNode> {
  const open: AnyNode[] = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...childrenOf(node).reverse());
  }
}

export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter(isNode)
    .sort((a, b) => a.start - b.start);
}

/** True for a node of a syntax tree. */
export function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The name that an expression begins with, and the names after it: `t.assert.equal` is `["t", "assert", "equal"]`. */
export function namesOf(expression: AnyNode): string[] {
  const names: string[] = [];
  let node: AnyNode = expression;
  for (;;) {
    if (node.type === "MemberExpression") {
      names.push(node.property.type === "Identifier" && !node.computed ? node.property.name : "");
      node = node.object;
    } else if (node.type === "CallExpression") node = node.callee;
    else if (node.type === "ChainExpression") node = node.expression;
    else break;
  }
  if (node.type === "Identifier") names.push(node.name);
  return names.reverse();
}

/** The text of a node that is a string; undefined for others. */
export function stringIn(node: AnyNode | null | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  return node?.type === "TemplateLiteral" && node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
}

/** The address in `require("a")`, `require("a").b` or `await import("a")`. */
export function requiredIn(init: AnyNode): string | undefined {
  let node = init;
  while (node.type === "MemberExpression" || node.type === "AwaitExpression")
    node = node.type === "MemberExpression" ? node.object : node.argument;
  if (node.type === "ImportExpression") return stringIn(node.source);
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.callee.name !== "require") return undefined;
  return stringIn(node.arguments[0]);
}
