import type { XmlDocument, XmlElement, XmlNode } from "@rgrove/parse-xml";
import { aText, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";
import { assertTopology, type Topology, type TopologyEdge, topologyOf } from "./topology.ts";

/** Limit on the characters of a string: its tree takes some 12 bytes for each, and 40 where one is beyond the first 65,536 of Unicode. */
const MAX_CHARACTERS = 32_000_000;

/**
 * Reads the nodes and edges of a GraphML graph. Where only some edges have a direction, the others lead both ways. A document type, ports,
 * hyperedges and graphs within nodes are refused. It needs the package `@rgrove/parse-xml`.
 *
 * @throws UsageError `GRAPHML_INVALID` with the position; `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE`, also above 32,000,000 characters;
 * `PACKAGE_MISSING`
 */
export async function readGraphml(text: string): Promise<Topology> {
  takes("readGraphml", "text", text, aText);
  const nodes: string[] = [];
  const edges: { readonly pair: TopologyEdge; readonly directed: boolean }[] = [];
  let isDirected: boolean | undefined;
  for (const element of elementsIn(await documentOf(text))) {
    const name = localName(element);
    const isPart = isGraph(element.parent);
    if (name === "graph") {
      if (isDirected !== undefined) throw invalid(element, "one graph, and none within a node", "another <graph>");
      isDirected = directionOf(element);
    } else if (name === "hyperedge" || name === "port") throw invalid(element, "edges between two nodes", `<${name}>`);
    else if (isPart && name === "node") nodes.push(needed(element, "id"));
    else if (isPart && name === "edge") {
      const own = element.attributes["directed"];
      if (own !== undefined && own !== "true" && own !== "false") throw invalid(element, "directed to be true or false", own);
      const pair = [needed(element, "source"), needed(element, "target")] as const;
      edges.push({ pair, directed: own === undefined ? isDirected === true : own === "true" });
    }
  }
  if (isDirected === undefined) throw invalid(undefined, "a <graph>", "none");
  const directed = edges.some((edge) => edge.directed) || (edges.length === 0 && isDirected);
  const pairs = edges.flatMap(({ pair, directed: own }) => (directed && !own ? [pair, [pair[1], pair[0]] as const] : [pair]));
  return topologyOf(pairs, { nodes, directed });
}

/** Returns a graph as GraphML. @throws UsageError `TOPOLOGY_INVALID`, also for a name with a character that XML cannot hold */
export function graphmlText(topology: Topology): string {
  assertTopology("graphmlText", topology);
  const { nodes, edges, directed } = topology;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    `  <graph id="G" edgedefault="${directed ? "directed" : "undirected"}">`,
    ...nodes.map((node) => `    <node id="${escaped(node)}"/>`),
    ...edges.map(([from, to]) => `    <edge source="${escaped(from)}" target="${escaped(to)}"/>`),
    "  </graph>",
    "</graphml>",
  ];
  return `${lines.join("\n")}\n`;
}

async function documentOf(text: string): Promise<XmlDocument> {
  if (text.length > MAX_CHARACTERS)
    throw new UsageError(
      "TOPOLOGY_TOO_LARGE",
      `Expected at most ${MAX_CHARACTERS} characters of GraphML, got ${text.length}. Give the edges to topologyOf instead.`,
    );
  const { parseXml } = await optionalPackage("@rgrove/parse-xml", "4.2", () => import("@rgrove/parse-xml"));
  const document = parsed(() => parseXml(withoutReturns(text), { includeOffsets: true, preserveDocumentType: true }));
  const type = document.children.find((node) => node.type === "doctype");
  if (type !== undefined) throw invalid(type, "no document type", "<!DOCTYPE>");
  return document;
}

/** The package splits a string at each return, and copies the rest, so that its time grows with the square of their number. */
function withoutReturns(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

function parsed(parse: () => XmlDocument): XmlDocument {
  try {
    return parse();
  } catch (cause) {
    // RangeError: the package calls itself for each level, so elements that are nested too deeply end its stack.
    const came = cause instanceof RangeError ? "elements in too many others" : thrownText(cause).split("\n")[0];
    throw new UsageError("GRAPHML_INVALID", `Expected GraphML that is well-formed XML, got ${came}.`, { cause });
  }
}

function* elementsIn({ root }: XmlDocument): Generator<XmlElement> {
  const open = root === null ? [] : [root];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    yield element;
    // A spread list of so many arguments would end the stack.
    for (const child of element.children.toReversed()) if (isElement(child)) open.push(child);
  }
}

function isElement(node: XmlNode): node is XmlElement {
  return node.type === "element";
}

function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}

function isGraph(node: XmlNode | null): boolean {
  if (node === null || !isElement(node) || localName(node) !== "graph") return false;
  const { parent } = node;
  return parent !== null && isElement(parent) && localName(parent) === "graphml" && parent.parent?.type === "document";
}

const UNHOLDABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

function escaped(name: string): string {
  if (UNHOLDABLE.test(name)) throw new UsageError("TOPOLOGY_INVALID", `Expected names of nodes that XML can hold, got ${valueText(name)}.`);
  return name.replace(/[&<>"'\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function directionOf(graph: XmlElement): boolean {
  const direction = graph.attributes["edgedefault"];
  if (direction === "directed" || direction === "undirected") return direction === "directed";
  throw invalid(graph, 'the edgedefault of <graph> to be "directed" or "undirected"', direction);
}

function needed(element: XmlElement, name: string): string {
  const value = element.attributes[name];
  if (value === undefined || value === "") throw invalid(element, `a tag with ${name}`, value);
  return value;
}

function invalid(node: XmlNode | undefined, expected: string, came: unknown): UsageError {
  const place = node === undefined ? "in" : `at character ${node.start} of`;
  return new UsageError("GRAPHML_INVALID", `Expected ${expected} ${place} a GraphML text, got ${valueText(came)}.`);
}
