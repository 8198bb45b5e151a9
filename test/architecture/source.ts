import { posix } from "node:path";
import { parseAst } from "vitest/node";

/** A node of the syntax tree (ESTree with TypeScript's own nodes). */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** One place where a file names another module. */
export interface Import {
  /** As written; undefined when it is computed. */
  readonly specifier: string | undefined;
  /** The file of the house it leads to, or undefined for a package. */
  readonly target: string | undefined;
  /** `static`: evaluated before this file; `type`: erased; `dynamic`: an `import()`, evaluated later or never. */
  readonly kind: "static" | "type" | "dynamic";
  /** The names that it takes, if it takes any by name. */
  readonly names: readonly string[];
  readonly line: number;
}

/** A parsed file. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly program: Node;
  /** The program and all nodes below it. */
  readonly nodes: readonly Node[];
  readonly imports: readonly Import[];
  readonly comments: readonly { readonly text: string; readonly line: number; readonly end: number }[];
}

const parsed = new Map<string, Source>();

/** Parses a file of TypeScript, once for each text; a syntax error throws. */
export function parseSource(path: string, text: string): Source {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const source = parse(path, text);
  parsed.set(path, source);
  return source;
}

function parse(path: string, text: string): Source {
  const program = parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }, path) as unknown as Node;
  const imports: Import[] = [];
  const opaque: Node[] = [];
  const nodes = descendants(program);
  for (const node of nodes) {
    const found = importOf(path, text, node);
    if (found !== undefined) imports.push(found);
    if (node.type === "Literal" || node.type === "TemplateElement") opaque.push(node);
  }
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return { path, text, lines, program, nodes, imports, comments: commentsOf(text, opaque) };
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end >= 0 && end < offset; end = text.indexOf("\n", end + 1)) line += 1;
  return line;
}

/** The nodes directly below one. */
export function children(node: Node): Node[] {
  const found: Node[] = [];
  for (const value of Object.values(node)) {
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) found.push(...value.filter(isNode));
    else if (isNode(value)) found.push(value);
  }
  return found;
}

/** A node and all below it, each before those below it. */
function descendants(node: Node): readonly Node[] {
  const found: Node[] = [];
  const left = [node];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    found.push(next);
    left.push(...children(next).reverse());
  }
  return found;
}

/** The value of a field that holds one node. */
export function nodeAt(node: Node, field: string): Node | undefined {
  const value = node[field];
  return isNode(value) ? value : undefined;
}

/** The value of a field that holds several. */
export function nodesAt(node: Node, field: string): readonly Node[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The name of an identifier, or the value of a string. */
export function nameOf(node: Node | undefined): string | undefined {
  const name = node?.type === "Literal" ? node["value"] : node?.["name"];
  return typeof name === "string" ? name : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function importOf(path: string, text: string, node: Node): Import | undefined {
  const source = nodeAt(node, "source") ?? nodeAt(node, "argument");
  const isDeclaration = ["ImportDeclaration", "ExportNamedDeclaration", "ExportAllDeclaration"].includes(node.type);
  if (isDeclaration ? source === undefined : node.type !== "ImportExpression" && node.type !== "TSImportType") return undefined;
  const named = source?.type === "TSLiteralType" ? nodeAt(source, "literal") : source;
  const specifier = named?.type === "Literal" ? nameOf(named) : undefined;
  const isErased = node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
  return {
    specifier,
    target: specifier?.startsWith(".") === true ? posix.join(posix.dirname(path), specifier) : undefined,
    kind: isErased ? "type" : node.type === "ImportExpression" ? "dynamic" : "static",
    names: nodesAt(node, "specifiers").flatMap((one) => nameOf(nodeAt(one, "imported")) ?? []),
    line: lineAt(text, node.start),
  };
}

/** Comments are what is left when strings, templates and regular expressions are blanked out. */
function commentsOf(text: string, opaque: readonly Node[]): Source["comments"] {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of opaque.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), text.slice(start, end).replace(/[^\n]/g, "x"));
    at = end;
  }
  const bare = [...parts, text.slice(at)].join("");
  return [...bare.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)].map((match) => ({
    text: text.slice(match.index, match.index + match[0].length),
    line: lineAt(text, match.index),
    end: match.index + match[0].length,
  }));
}
