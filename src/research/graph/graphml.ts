import { aText, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { assertTopology, type Topology, type TopologyEdge, topologyOf } from "./topology.ts";

/**
 * Reads a graph in GraphML: its nodes by their ids, and its edges. Other data of nodes and edges is left out. Where some edges have a
 * direction and others have none, those lead both ways. It is read strictly: a document type, which could name files or grow without bound, is
 * refused, and so are ports, hyperedges, and graphs within nodes.
 *
 * @throws UsageError `GRAPHML_INVALID` naming the place; `TOPOLOGY_INVALID` for what is no graph without loops; `TOPOLOGY_TOO_LARGE`
 * @example
 * import { readGraphml } from "troupe/research";
 *
 * const text = '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>';
 * console.log(readGraphml(text).edges); // [ [ 'a', 'b' ] ]
 */
export function readGraphml(text: string): Topology {
  takes("readGraphml", "text", text, aText);
  const nodes: string[] = [];
  const edges: { readonly pair: TopologyEdge; readonly directed: boolean }[] = [];
  const open: string[] = [];
  let isDirected: boolean | undefined;
  for (const { name, kind, attributes, at } of tagsOf(text)) {
    if (kind === "end") {
      if (open.pop() !== name) throw invalid(at, `an end of what was begun`, `</${name}>`);
      continue;
    }
    const isPart = open.length === 2 && open[0] === "graphml" && open[1] === "graph";
    if (name === "graph") {
      if (isDirected !== undefined) throw invalid(at, "one graph, and none within a node", "another <graph>");
      isDirected = directionOf(attributes.get("edgedefault"), at);
    } else if (isPart && name === "node") nodes.push(needed(attributes, "id", at));
    else if (isPart && name === "edge") {
      const own = attributes.get("directed");
      if (own !== undefined && own !== "true" && own !== "false") throw invalid(at, "directed to be true or false", own);
      const pair = [needed(attributes, "source", at), needed(attributes, "target", at)] as const;
      edges.push({ pair, directed: own === undefined ? isDirected === true : own === "true" });
    } else if (name === "hyperedge" || name === "port") throw invalid(at, "edges between two nodes", `<${name}>`);
    if (kind === "begin") open.push(name);
  }
  if (open.length > 0) throw invalid(text.length, `an end of <${open.at(-1)}>`, "the end of the text");
  if (isDirected === undefined) throw invalid(text.length, "a <graph>", "none");
  const directed = edges.some((edge) => edge.directed) || (edges.length === 0 && isDirected);
  const pairs = edges.flatMap(({ pair, directed: own }) => (directed && !own ? [pair, [pair[1], pair[0]] as const] : [pair]));
  return topologyOf(pairs, { nodes, directed });
}

/**
 * Returns a graph as GraphML.
 *
 * @throws UsageError `TOPOLOGY_INVALID` for what is no graph, and for a name with a character that XML cannot hold
 * @example
 * import { graphmlText, readGraphml, ringTopology } from "troupe/research";
 *
 * console.log(readGraphml(graphmlText(ringTopology(5))).edges.length); // 5
 */
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

interface Tag {
  readonly name: string;
  readonly kind: "begin" | "end" | "alone";
  readonly attributes: ReadonlyMap<string, string>;
  readonly at: number;
}

/** Text, comments, instructions, raw text, and tags. */
const TOKEN =
  /([^<]+)|<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>|<(\/?)(?:[\w.-]+:)?([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function* tagsOf(text: string): Generator<Tag> {
  const token = new RegExp(TOKEN);
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw invalid(at, "a tag of XML, and no document type", text.slice(at, at + 40));
    const [, , slash, name, attributes = "", alone] = found;
    if (name === undefined) continue;
    const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, key = "", one, other]) => [key, plain(one ?? other ?? "", at)] as const);
    yield { name, kind: slash === "/" ? "end" : alone === "/" ? "alone" : "begin", attributes: new Map(pairs), at };
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function plain(text: string, at: number): string {
  return text.replace(/&([^;]{0,10};?)/g, (_, inner: string) => {
    const known = /^(amp|lt|gt|quot|apos);$/.exec(inner)?.[1];
    if (known !== undefined) return ENTITIES[known] ?? "";
    const number = /^#(?:x([\da-f]{1,6})|(\d{1,7}));$/i.exec(inner);
    const code = number === null ? Number.NaN : Number.parseInt(number[1] ?? number[2] ?? "", number[1] === undefined ? 10 : 16);
    if (code <= 0x10ffff && !UNHOLDABLE.test(String.fromCodePoint(code))) return String.fromCodePoint(code);
    throw invalid(at, "an entity of XML", `&${inner}`);
  });
}

/** Characters that XML cannot hold, in whatever form. */
const UNHOLDABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

function escaped(name: string): string {
  if (UNHOLDABLE.test(name)) throw new UsageError("TOPOLOGY_INVALID", `Expected names of nodes that XML can hold, got ${valueText(name)}.`);
  return name.replace(/[&<>"'\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function directionOf(edgedefault: string | undefined, at: number): boolean {
  if (edgedefault === "directed" || edgedefault === "undirected") return edgedefault === "directed";
  throw invalid(at, 'the edgedefault of <graph> to be "directed" or "undirected"', edgedefault);
}

function needed(attributes: ReadonlyMap<string, string>, name: string, at: number): string {
  const value = attributes.get(name);
  if (value === undefined || value === "") throw invalid(at, `a tag with ${name}`, value);
  return value;
}

function invalid(at: number, expected: string, came: unknown): UsageError {
  return new UsageError("GRAPHML_INVALID", `Expected ${expected} at character ${at} of a GraphML text, got ${valueText(came)}.`);
}
