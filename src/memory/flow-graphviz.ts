import { takes } from "../kernel/argument.ts";
import { edgeLabel, isBroadcastEdge, nodeLabel } from "./flow-label.ts";
import { aFlow, type MessageFlow } from "./message-flow.ts";

/** More than this pulls no two nodes closer together, and makes the layout slow. */
const HEAVIEST = 1_000;

/** A flow in the language of Graphviz. Broadcasts are dashed; an edge says how many messages and what caused them, and weighs as much. */
export function flowGraphviz(flow: MessageFlow): string {
  takes("flowGraphviz", "flow", flow, aFlow);
  return [
    "digraph troupe {",
    "  rankdir=LR;",
    "  node [shape=box];",
    ...flow.nodes.map((node) => `  ${node.id} [label=${quoted(nodeLabel(node))}${node.kind === "role" ? "" : ", shape=ellipse"}];`),
    ...flow.edges.map((edge) => {
      const style = isBroadcastEdge(edge) ? ", style=dashed" : "";
      return `  ${edge.from} -> ${edge.to} [label=${quoted(edgeLabel(edge))}, weight=${Math.min(edge.messages, HEAVIEST)}${style}];`;
    }),
    "}",
  ].join("\n");
}

/** A backslash begins an escape of its own there, and an ampersand an entity of HTML. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;")}"`;
}
