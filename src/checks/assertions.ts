import type { AnyNode, CallExpression, Program } from "acorn";
import { importsOf, isNode, namesOf, nodesIn, stringIn } from "./javascript.ts";

/** Packages whose names assert. */
const ASSERTING = /^(node:assert(\/strict)?|assert(\/strict)?|chai|expect|should)$/;
/** Names that assert by custom. */
const ASSERTS = /^(assert|expect|should|check|verify|must|ensure)/i;
/** Modules beside the tests that probably assert; what they do is not looked up. */
const HELPER = /(helper|util|support|kit|common|assert|check|harness)[^/]*$/i;
/** Nodes that are visited for one file; a file that needs more is taken for one that asserts. */
const MOST_NODES = 2_000_000;
const TEST_NAMES = new Set(["test", "it"]);

type FunctionNode = Extract<AnyNode, { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }>;

/** Returns the names of tests of `node:test` that call no assertion, throw nothing, and call no function that does. */
export function weakTestsIn(program: Program): string[] {
  const file = new TestFile(program);
  const found: string[] = [];
  for (const node of nodesIn(program)) {
    const body = node.type === "CallExpression" ? file.bodyOf(node) : undefined;
    if (node.type === "CallExpression" && body !== undefined && !file.asserts(body))
      found.push(stringIn(node.arguments[0]) ?? "a test without a name");
  }
  return found;
}

/**
 * The functions and the imported names of one test file. It owns the functions that are known to assert, and the number of visited nodes.
 *
 * TestFile.F1 (`asserts`) a search enters each function at most once, so it ends where functions call each other.
 * TestFile.F2 (`#known`) only functions that assert are remembered: one that seems not to may lead back to a function that is still searched.
 */
class TestFile {
  readonly #functions = new Map<string, FunctionNode>();
  readonly #asserting = new Set<string>();
  readonly #known = new Set<FunctionNode>();
  #visited = 0;

  constructor(program: Program) {
    for (const { from, names } of importsOf(program)) {
      if (ASSERTING.test(from) || (from.startsWith(".") && HELPER.test(from))) for (const name of names) this.#asserting.add(name);
    }
    for (const node of nodesIn(program)) {
      if (node.type === "FunctionDeclaration" && isNode(node.id)) this.#functions.set(node.id.name, node);
      if (node.type === "VariableDeclarator" && node.id.type === "Identifier" && isFunction(node.init))
        this.#functions.set(node.id.name, node.init);
    }
  }

  /** The function that a call gives to the test runner; undefined for other calls, and for tests that are only to do. */
  bodyOf(call: CallExpression): FunctionNode | undefined {
    const names = namesOf(call.callee);
    const isTest =
      names.length <= 2 && names.some((name, at) => TEST_NAMES.has(name) && (at === names.length - 1 || names[at + 1] === "only"));
    if (!isTest || call.callee.type === "CallExpression") return undefined;
    const last = call.arguments.at(-1);
    if (last?.type === "Identifier") return this.#functions.get(last.name);
    return isFunction(last) ? last : undefined;
  }

  asserts(start: FunctionNode, seen: Set<FunctionNode> = new Set()): boolean {
    if (this.#known.has(start)) return true;
    if (seen.has(start)) return false;
    seen.add(start);
    for (const node of nodesIn(start)) {
      this.#visited += 1;
      const isAssertion =
        this.#visited > MOST_NODES ||
        node.type === "ThrowStatement" ||
        (node.type === "CallExpression" && this.#isAssertion(node)) ||
        (node.type === "Identifier" && node !== start.id && this.#leads(node.name, seen));
      if (!isAssertion) continue;
      this.#known.add(start);
      return true;
    }
    return false;
  }

  #isAssertion(call: CallExpression): boolean {
    const names = namesOf(call.callee);
    const isNamed = this.#asserting.has(names[0] ?? "") || names.some((name) => ASSERTS.test(name));
    return isNamed && !isConstant(call);
  }

  /** True for the name of a function in the file that asserts. */
  #leads(name: string, seen: Set<FunctionNode>): boolean {
    const body = this.#functions.get(name);
    return body !== undefined && this.asserts(body, seen);
  }
}

/** True for an assertion whose arguments are all constants; `assert.fail()` is none. */
function isConstant(call: CallExpression): boolean {
  const inner = [...nodesIn(call)].filter((node) => node.type === "CallExpression");
  const given = inner.flatMap((each) => each.arguments);
  return given.length > 0 && given.every((argument) => argument.type === "Literal");
}

function isFunction(node: AnyNode | null | undefined): node is FunctionNode {
  return node?.type === "FunctionDeclaration" || node?.type === "FunctionExpression" || node?.type === "ArrowFunctionExpression";
}
