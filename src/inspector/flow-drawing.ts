import { takes } from "../kernel/argument.ts";
import { aFlow, type FlowEdge, type FlowNode, type MessageFlow } from "./message-flow.ts";

/* Names come from models: in a drawing they have a bounded length and one line, and an invisible character is written as its number. */

const MAX_NAME = 60;
const MAX_CAUSES = 2;
/** A larger weight moves no two nodes closer together and makes the layout slow. */
const MAX_WEIGHT = 1_000;
/** Mermaid draws no more edges than this by default. */
const MAX_EDGES = 500;
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
/** Other characters could belong to the syntax of Mermaid, Markdown or HTML; a colon could end an escaped number. */
const NOT_PLAIN = /[^\p{L}\p{N} .,…()-]/gu;

/** A flow in the language of Graphviz. Broadcasts are dashed. The label of an edge has the number of its messages and their causes. */
export function flowGraphviz(flow: MessageFlow): string {
  takes("flowGraphviz", "flow", flow, aFlow);
  return [
    "digraph troupe {",
    "  rankdir=LR;",
    "  node [shape=box];",
    ...flow.nodes.map((node) => `  ${node.id} [label=${graphvizText(nodeLabel(node))}${node.kind === "role" ? "" : ", shape=ellipse"}];`),
    ...flow.edges.map((edge) => {
      const style = edge.messages === edge.broadcasts ? ", style=dashed" : "";
      return `  ${edge.from} -> ${edge.to} [label=${graphvizText(edgeLabel(edge))}, weight=${Math.min(edge.messages, MAX_WEIGHT)}${style}];`;
    }),
    "}",
  ].join("\n");
}

/** The same as a Mermaid flowchart, with dotted broadcasts. Mermaid draws at most 500 edges: a comment counts the lighter ones left out. */
export function flowMermaid(flow: MessageFlow): string {
  takes("flowMermaid", "flow", flow, aFlow);
  const heaviest = new Set(flow.edges.toSorted((a, b) => b.messages - a.messages).slice(0, MAX_EDGES));
  const omitted = flow.edges.length - heaviest.size;
  return [
    "flowchart LR",
    ...(omitted === 0 ? [] : [`  %% ${omitted} lighter edges are not drawn`]),
    ...flow.nodes.map((node) => {
      const label = `["${mermaidText(nodeLabel(node))}"]`;
      return `  ${node.id}${node.kind === "role" ? label : `(${label})`}`;
    }),
    ...flow.edges
      .filter((edge) => heaviest.has(edge))
      .map((edge) => `  ${edge.from} ${edge.messages === edge.broadcasts ? "-.->" : "-->"}|"${mermaidText(edgeLabel(edge))}"| ${edge.to}`),
  ].join("\n");
}

export function excerptOf(text: string, length: number): string {
  const start = Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join("");
  return start === text ? text : `${start}…`;
}

/** Backslashes and ampersands begin escapes in Graphviz. */
function graphvizText(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;")}"`;
}

/** Mermaid reads `#34;` as the character of that number. */
function mermaidText(text: string): string {
  return text.replace(NOT_PLAIN, (character) => `#${character.codePointAt(0)};`);
}

/** A role may have any name, so the shape of a node also says that it is not a role. */
function nodeLabel({ kind, name }: FlowNode): string {
  if (kind === "role") return shownName(name);
  return kind === "missing" ? `(no role is ${shownName(name)})` : `(${kind})`;
}

function edgeLabel({ messages, causes }: FlowEdge): string {
  const named = causes.slice(0, MAX_CAUSES).map(({ name }) => shownName(name));
  const more = causes.length - named.length;
  return `${messages} ${named.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

function shownName(name: string): string {
  return excerptOf(name, MAX_NAME).replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
