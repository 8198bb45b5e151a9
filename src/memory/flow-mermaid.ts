import { takes } from "../kernel/argument.ts";
import { edgeLabel, isBroadcastEdge, nodeLabel } from "./flow-label.ts";
import { aFlow, type FlowEdge, type FlowNode, type MessageFlow } from "./message-flow.ts";

/** Mermaid draws no more edges than this unless it is told to. */
const MOST_EDGES = 500;
/** Everything else could be a word of Mermaid, of Markdown or of HTML; a colon takes the end off a number that follows it. */
const NOT_PLAIN = /[^\p{L}\p{N} .,…()-]/gu;

/**
 * A flow as a Mermaid flowchart. Broadcasts are dotted; an edge says how many messages and what caused them. Of more than 500 edges, which
 * Mermaid does not draw, the heaviest are kept, and a comment tells how many are not.
 */
export function flowMermaid(flow: MessageFlow): string {
  takes("flowMermaid", "flow", flow, aFlow);
  const edges = heaviest(flow.edges);
  const left = flow.edges.length - edges.length;
  return [
    "flowchart LR",
    ...(left === 0 ? [] : [`  %% ${left} lighter edges are not drawn`]),
    ...flow.nodes.map((node) => `  ${node.id}${shaped(node)}`),
    ...edges.map((edge) => `  ${edge.from} ${isBroadcastEdge(edge) ? "-.->" : "-->"}|"${escaped(edgeLabel(edge))}"| ${edge.to}`),
  ].join("\n");
}

function heaviest(edges: readonly FlowEdge[]): readonly FlowEdge[] {
  if (edges.length <= MOST_EDGES) return edges;
  const kept = new Set([...edges].sort((a, b) => b.messages - a.messages).slice(0, MOST_EDGES));
  return edges.filter((edge) => kept.has(edge));
}

function shaped(node: FlowNode): string {
  const label = `"${escaped(nodeLabel(node))}"`;
  return node.kind === "role" ? `[${label}]` : `([${label}])`;
}

/** Characters by their numbers, as Mermaid writes them: quotes, brackets, backticks and tags are text then. */
function escaped(text: string): string {
  return text.replace(NOT_PLAIN, (character) => `#${character.codePointAt(0)};`);
}
