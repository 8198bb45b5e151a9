import type { AnyNode, CallExpression, ExportNamedDeclaration, Program } from "acorn";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { shownText } from "../kernel/value-text.ts";
import { childrenOf, isNode, nodesIn } from "./javascript.ts";

/** The words that a script says of itself. */
const MetaSchema = z.looseObject({
  name: z.string().min(1).max(80),
  description: z.string().min(1).max(4_000),
  phases: z.array(z.looseObject({ title: z.string() })).optional(),
});

export interface WorkflowScript {
  readonly name: string;
  readonly description: string;
  readonly phases: readonly string[];
  /** The script without `export`, as the body of an async function. */
  readonly body: string;
  /** The most calls of `agent` that its text can make; undefined where a loop, a function or a value decides. */
  readonly agents: number | undefined;
}

/** Characters of a script. */
const LONGEST = 512 * 1024;
const META = /^[ \t]*export\s+const\s+meta\s*=/m;

/** True for a text that declares itself a workflow, and exports nothing that a module with a crew would. */
export function isWorkflow(text: string): boolean {
  return META.test(text) && !/^[ \t]*export\s+(?:const\s+crew\b|default\b|function\s+crew\b)/m.test(text);
}

/**
 * Reads a workflow script without running it.
 *
 * @param file its name, for errors
 * @throws UsageError `WORKFLOW_INVALID` with the line at fault
 */
export async function readWorkflow(text: string, file: string): Promise<WorkflowScript> {
  if (text.length > LONGEST)
    throw invalid(file, `at most ${LONGEST} characters, got ${text.length}`, "Give long texts to agents as files.");
  const program = await parsed(text, file);
  const [meta, ...others] = program.body.filter((node) => node.type.startsWith("Export"));
  const value = meta === undefined || others.length > 0 ? undefined : metaIn(meta);
  if (meta === undefined || value === undefined)
    throw invalid(file, "one export, export const meta = { name, description }", "Write its values as literals, and export nothing else.");
  for (const node of nodesIn(program)) {
    const isLoading = node.type.startsWith("Import") || node.type === "MetaProperty";
    if (!isLoading || (node.type === "MetaProperty" && node.meta.name !== "import")) continue;
    throw invalid(
      at(file, text, node.start),
      "a script without import",
      "Agents read files and run programs; the script only directs them.",
    );
  }
  const read = MetaSchema.safeParse(value);
  if (!read.success) {
    const issue = read.error.issues[0];
    const fault = `meta.${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`;
    throw invalid(
      file,
      `meta with name and description, got a fault: ${shownText(fault)}`,
      "Write: export const meta = { name, description }.",
    );
  }
  const { name, description, phases = [] } = read.data;
  const body = `${text.slice(0, meta.start)}${" ".repeat("export".length)}${text.slice(meta.start + "export".length)}`;
  return { name, description, phases: phases.map(({ title }) => title), body, agents: mostCalls(program) };
}

async function parsed(text: string, file: string): Promise<Program> {
  const { parse } = await import("acorn");
  try {
    return parse(text, { ecmaVersion: "latest", sourceType: "module", allowReturnOutsideFunction: true });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw invalid(file, `JavaScript, got a fault: ${shownText(error.message)}`, "A workflow is plain JavaScript, without types.");
  }
}

/** The value of `export const meta = {...}`; undefined for another export, and for a value that is no literal. */
function metaIn(node: AnyNode): unknown {
  const { declaration } = node as ExportNamedDeclaration;
  if (node.type !== "ExportNamedDeclaration" || declaration?.type !== "VariableDeclaration") return undefined;
  const [first, ...others] = declaration.declarations;
  if (first?.id.type !== "Identifier" || first.id.name !== "meta" || others.length > 0 || !isNode(first.init)) return undefined;
  try {
    return literal(first.init);
  } catch (error) {
    if (error instanceof NotLiteral || error instanceof RangeError) return undefined;
    throw error;
  }
}

class NotLiteral extends Error {}

function literal(node: AnyNode): unknown {
  if (node.type === "Literal" && !("regex" in node)) return node.value;
  if (node.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0]?.value.cooked;
  if (node.type === "ArrayExpression") return node.elements.map((item) => literal(item ?? fail()));
  if (node.type !== "ObjectExpression") return fail();
  const members = node.properties.map((property): readonly [string, unknown] => {
    if (property.type !== "Property" || property.computed || property.kind !== "init") return fail();
    const { key, value } = property;
    return [key.type === "Identifier" ? key.name : String(literal(key)), literal(value)];
  });
  return Object.fromEntries(members);
}

function fail(): never {
  throw new NotLiteral();
}

function mostCalls(program: Program): number | undefined {
  try {
    const most = isHidden(program) ? Infinity : callsIn(program, 1);
    return Number.isSafeInteger(most) ? most : undefined;
  } catch (error) {
    // A text that is nested so deeply that the stack ends.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** True where the text may name `agent` in ways that no reader of it sees. */
function isHidden(program: Program): boolean {
  return [...nodesIn(program)].some(
    (node) => node.type === "ThisExpression" || (node.type === "Identifier" && ["globalThis", "eval", "Function"].includes(node.name)),
  );
}

/** The calls of `agent` below a node that runs so many times. */
function callsIn(node: AnyNode, times: number): number {
  if (node.type === "Identifier") return node.name === "agent" ? Infinity : 0;
  if (node.type === "CallExpression") return callsOfCall(node, times);
  const isRepeated = node.type.includes("Function") || /^(?:For|While|DoWhile)/.test(node.type) || node.type.startsWith("Class");
  return sum(namedBy(node), isRepeated ? Infinity : times);
}

function callsOfCall(node: CallExpression, times: number): number {
  const { callee, arguments: args } = node;
  const name = callee.type === "Identifier" ? callee.name : "";
  if (name === "agent") return times + sum(args, times);
  const [list, ...stages] = args;
  const isPlain = list?.type === "ArrayExpression" && list.elements.every((item) => item !== null && item.type !== "SpreadElement");
  if (!isPlain || (name !== "parallel" && name !== "pipeline")) return callsIn(callee, times) + sum(args, times);
  const items = list.elements as AnyNode[];
  if (name === "parallel") return items.reduce((total, item) => total + callsOnce(item, times), 0);
  return sum(items, times) + stages.reduce((total, stage) => total + callsOnce(stage, times * items.length), 0);
}

/** The calls of a function that is called so many times. */
function callsOnce(node: AnyNode, times: number): number {
  return node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression"
    ? sum(childrenOf(node), times)
    : callsIn(node, times);
}

function sum(nodes: readonly AnyNode[], times: number): number {
  return nodes.reduce((total, node) => total + callsIn(node, times), 0);
}

/** The children of a node but for names of members, as in `a.agent` and `{ agent: 1 }`. */
function namedBy(node: AnyNode): readonly AnyNode[] {
  if (node.type === "MemberExpression" && !node.computed) return [node.object];
  if (node.type === "Property" && !node.computed && !node.shorthand) return [node.value];
  return childrenOf(node);
}

function at(file: string, text: string, start: number): string {
  return `${file}:${text.slice(0, start).split("\n").length}`;
}

function invalid(where: string, expected: string, todo: string): UsageError {
  return new UsageError("WORKFLOW_INVALID", `${shownText(where)}: expected ${expected}. ${todo}`);
}
