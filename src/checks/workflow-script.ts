import type { AnyNode, Program } from "acorn";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { shownText } from "../kernel/value-text.ts";
import { childrenOf, isNode, nodesIn } from "./javascript.ts";

const MetaSchema = z.looseObject({ name: z.string().min(1).max(80), description: z.string().min(1).max(4_000) });

export interface WorkflowScript {
  readonly name: string;
  readonly description: string;
  /** The script without `export`, as the body of an async function. */
  readonly body: string;
  /** The most calls of `agent` that its text can make; undefined where a loop, a function or a value decides. */
  readonly agents: number | undefined;
}

const META = /^[ \t]*export\s+const\s+meta\s*=/m;
const CREW = /^[ \t]*export\s+(?:const\s+crew\b|default\b|(?:async\s+)?function\s+crew\b)/m;

/** True for a text that declares itself a workflow, and exports nothing that a module with a crew would. */
export function isWorkflow(text: string): boolean {
  return META.test(text) && !CREW.test(text);
}

/**
 * Reads a workflow script without running it.
 *
 * @param file its name, for errors
 * @throws UsageError `WORKFLOW_INVALID` with the position of the fault
 */
export async function readWorkflow(text: string, file: string): Promise<WorkflowScript> {
  const { parse } = await import("acorn");
  try {
    return scriptIn(parse(text, { ecmaVersion: "latest", sourceType: "module", allowReturnOutsideFunction: true }), text, file);
  } catch (error) {
    // RangeError: the text is nested so deeply that the stack ends.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw invalid(file, `JavaScript, got a fault: ${shownText(error.message)}`, "A workflow is plain JavaScript, without types.");
  }
}

function scriptIn(program: Program, text: string, file: string): WorkflowScript {
  const [first, ...others] = program.body.filter(({ type }) => type.startsWith("Export"));
  const meta = MetaSchema.safeParse(first === undefined || others.length > 0 ? undefined : metaIn(first));
  if (!meta.success || first === undefined)
    throw invalid(file, "one export: const meta = { name, description }", "Write its values as literals, and export nothing else.");
  const loading = [...nodesIn(program)].find(({ type }) => type.startsWith("Import") || type === "MetaProperty");
  if (loading !== undefined) {
    const where = `${file}:${text.slice(0, loading.start).split("\n").length}`;
    throw invalid(where, "a script without import", "Agents read files and run programs; the script only directs them.");
  }
  const agents = callsIn(program, 1);
  const body = `${text.slice(0, first.start)}${text.slice(first.start + "export".length)}`;
  return { ...meta.data, body, agents: Number.isSafeInteger(agents) ? agents : undefined };
}

function metaIn(node: AnyNode): unknown {
  const [only] =
    node.type === "ExportNamedDeclaration" && node.declaration?.type === "VariableDeclaration" ? node.declaration.declarations : [];
  return only?.id.type === "Identifier" && only.id.name === "meta" && isNode(only.init) ? literal(only.init) : undefined;
}

function literal(node: AnyNode): unknown {
  if (node.type === "Literal") return node.value;
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0]?.value.cooked;
  if (node.type !== "ObjectExpression") return undefined;
  return Object.fromEntries(
    node.properties.flatMap((property) => {
      if (property.type !== "Property" || property.computed) return [];
      const { key, value } = property;
      return [[key.type === "Identifier" ? key.name : String(literal(key)), literal(value)]];
    }),
  );
}

/** The calls of `agent` below a node that runs so many times. */
function callsIn(node: AnyNode, times: number): number {
  if (node.type === "Identifier") return node.name === "agent" ? Infinity : 0;
  if (node.type === "CallExpression" && node.callee.type === "Identifier") {
    const { callee, arguments: args } = node;
    if (callee.name === "agent") return times + sum(args, times);
    const [list, ...stages] = args;
    const items = list?.type === "ArrayExpression" ? (list.elements as (AnyNode | null)[]) : [];
    const isListed = items.length > 0 && items.every((item) => item !== null && item.type !== "SpreadElement");
    if (isListed && callee.name === "parallel") return sumOfCalled(items as AnyNode[], times);
    if (isListed && callee.name === "pipeline") return sum(items as AnyNode[], times) + sumOfCalled(stages, times * items.length);
  }
  return sum(childrenOf(node), /Function|^(?:For|While|DoWhile|Class)/.test(node.type) ? Infinity : times);
}

function sumOfCalled(nodes: readonly AnyNode[], times: number): number {
  return sum(
    nodes.flatMap((node) => (node.type.endsWith("FunctionExpression") ? childrenOf(node) : [node])),
    times,
  );
}

function sum(nodes: readonly AnyNode[], times: number): number {
  return nodes.reduce((total, node) => total + callsIn(node, times), 0);
}

function invalid(where: string, expected: string, todo: string): UsageError {
  return new UsageError("WORKFLOW_INVALID", `${shownText(where)}: expected ${expected}. ${todo}`);
}
