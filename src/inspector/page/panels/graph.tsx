import { visibleText } from "../../../kernel/value-text.ts";
import { type GraphEdge, type GraphNode, type RoleGraph, roleGraph } from "../../view/role-graph.ts";
import { edgeText, faultCountsText } from "../../view/run-terms.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted, plural } from "../amounts.ts";
import { ChooseMarked, type Column, DataTable, NUMBER } from "../controls.tsx";
import { RoleLink } from "../detail-parts.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";
import { Marker, round } from "./lane-drawing.tsx";

/** More roles are shown as a table alone: a drawing of them would be a knot. */
const MAX_DRAWN = 40;
const MAX_LINES = 300;

export function GraphPanel({ run }: PanelProps) {
  const graph = roleGraph(run.timeline, run.shown.value);
  if (graph.nodes.length === 0) return <p class="empty soft">No role has been hired yet.</p>;
  return (
    <div class="graph body">
      {graph.nodes.length <= MAX_DRAWN ? (
        <Drawing run={run} graph={graph} />
      ) : (
        <p class="note frame small">{plural(graph.nodes.length, "role")} are too many for a drawing.</p>
      )}
      <p class="soft small">
        Solid lines: the receiver watches the cause. Dashed lines: every message was addressed to it. Numbers count messages.
        {graph.edges.some(({ lost }) => lost > 0) && " A cross counts those that the edges lost."}
      </p>
      <Policies run={run} />
      <FlowLines run={run} graph={graph} />
      <Subscriptions run={run} graph={graph} />
    </div>
  );
}

function Drawing({ run, graph }: { readonly run: OpenRun; readonly graph: RoleGraph }) {
  const layout = graphLayout(graph);
  const lines = edgeLines(layout, graph.edges);
  const chosen = run.selection.value?.kind === "role" ? run.selection.value.name : undefined;
  const most = Math.max(1, ...graph.edges.map(({ messages }) => messages));
  return (
    <div class="graph-frame frame" tabIndex={0} role="region" aria-label="Graph of the roles">
      <div class="graph-field" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
        <svg width={layout.width} height={layout.height} aria-hidden="true">
          <defs>
            <Marker id="graph-head" refX={6} size={9}>
              <path d="M0 0.5L8 4L0 7.5Z" fill="context-stroke" />
            </Marker>
          </defs>
          {graph.edges.map((edge, nth) => (
            <Edge key={`${edge.from} > ${edge.to}`} edge={edge} line={lines[nth]} most={most} chosen={chosen} />
          ))}
        </svg>
        <span class="graph-outside small soft" style={placeOf(layout, OUTSIDE)}>
          outside
        </span>
        {graph.nodes.map((node) => (
          <NodeCard key={node.name} run={run} node={node} layout={layout} />
        ))}
      </div>
    </div>
  );
}

function placeOf({ points }: GraphLayout, name: string): { readonly left: string; readonly top: string } {
  const { x, y } = points.get(name) ?? { x: 0, y: 0 };
  return { left: `${x}px`, top: `${y}px` };
}

interface EdgeProps {
  readonly edge: GraphEdge;
  readonly line: EdgeLine | undefined;
  readonly most: number;
  readonly chosen: string | undefined;
}

function Edge({ edge, line, most, chosen }: EdgeProps) {
  if (line === undefined) return null;
  const isFaint = chosen !== undefined && edge.from !== chosen && edge.to !== chosen;
  return (
    <g class={`edge${edge.isSubscribed ? "" : " edge-addressed"}${isFaint ? " faint" : ""}`}>
      <path d={line.path} stroke-width={1 + 3 * Math.sqrt(edge.messages / most)} marker-end="url(#graph-head)" />
      <text class="tiny numbers" x={line.label.x} y={line.label.y} text-anchor="middle" dominant-baseline="central">
        {counted(edge.messages)}
        {edge.lost > 0 && <tspan class="edge-lost">{` ✕${counted(edge.lost)}`}</tspan>}
      </text>
    </g>
  );
}

function NodeCard({ run, node, layout }: { readonly run: OpenRun; readonly node: GraphNode; readonly layout: GraphLayout }) {
  const { name, profile, waiting, isActing, activations, isHired } = node;
  return (
    <ChooseMarked
      class={`graph-node tiny${isActing ? " is-acting" : ""}${isHired ? "" : " is-retired"}`}
      style={placeOf(layout, name)}
      run={run}
      what={{ kind: "role", name }}
    >
      <span class="small strong">{shownLine(name, 24)}</span>
      {profile !== name && profile !== "" && <span class="soft">{shownLine(profile, 26)}</span>}
      <span class="numbers">
        {isActing ? "● acts, " : ""}
        {isHired ? (waiting === 0 ? "empty queue" : `${counted(waiting)} waiting`) : "retired"}
      </span>
      <span class="hidden">, acted {plural(activations, "time")}</span>
    </ChooseMarked>
  );
}

function Policies({ run }: { readonly run: OpenRun }) {
  const { edges, faults } = run.timeline.stateAt(run.shown.value);
  if (edges.length === 0) return null;
  return (
    <section>
      <h2>Edges</h2>
      <ol class="policies small">
        {edges.map((edge, index) => (
          <li key={index}>{shownLine(edgeText(edge), 200)}</li>
        ))}
      </ol>
      <p class="soft small">On the way so far: {faultCountsText(faults)}.</p>
    </section>
  );
}

function FlowLines({ run, graph }: { readonly run: OpenRun; readonly graph: RoleGraph }) {
  const edges = graph.edges.toSorted((a, b) => b.messages - a.messages);
  const columns: readonly Column<GraphEdge>[] = [
    ["From", undefined, ({ from }) => (from === OUTSIDE ? "outside" : <RoleLink run={run} name={from} />)],
    ["To", undefined, ({ to }) => <RoleLink run={run} name={to} />],
    ["Messages", NUMBER, ({ messages }) => counted(messages)],
    ["Lost", NUMBER, ({ lost }) => counted(lost)],
    [
      "Causes",
      undefined,
      ({ causes }) =>
        causes
          .slice(0, 5)
          .map((one) => `${visibleText(one.name)} ${counted(one.messages)}`)
          .join(", "),
    ],
    ["Heard because", undefined, ({ isSubscribed }) => (isSubscribed ? "it watches" : "addressed")],
  ];
  return (
    <section>
      <h2>Messages</h2>
      <DataTable
        label="Messages between roles"
        columns={columns}
        rows={edges.slice(0, MAX_LINES)}
        keyOf={({ from, to }) => `${from} > ${to}`}
      />
      {edges.length > MAX_LINES && <p class="soft small">and {counted(edges.length - MAX_LINES)} more</p>}
    </section>
  );
}

function Subscriptions({ run, graph }: { readonly run: OpenRun; readonly graph: RoleGraph }) {
  const columns: readonly Column<GraphNode>[] = [
    ["Role", "row", ({ name }) => <RoleLink run={run} name={name} />],
    ["Watches", undefined, ({ watch, observesAll }) => (observesAll ? "everything" : watch.map(visibleText).join(", ") || "nothing")],
    ["Queue", NUMBER, ({ waiting }) => counted(waiting)],
    ["Acted", NUMBER, ({ activations }) => counted(activations)],
  ];
  return (
    <section>
      <h2>Subscriptions</h2>
      <DataTable label="Subscriptions and queues" columns={columns} rows={graph.nodes.slice(0, MAX_LINES)} keyOf={({ name }) => name} />
    </section>
  );
}

const NODE = { width: 168, height: 74 } as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type GraphLayout = ReturnType<typeof graphLayout>;

export interface EdgeLine {
  readonly path: string;
  readonly label: Point;
}

/** The name of what is outside in a layout. No role has an empty name. */
const OUTSIDE = "";

/** Places depend on the roles alone, so that a scrubbed graph does not jump. What is outside is at the top left. */
export function graphLayout({ nodes }: RoleGraph) {
  const count = Math.max(1, nodes.length);
  const across = Math.max(250, (count * NODE.width * 1.25) / Math.PI / 1.6);
  const down = Math.max(150, (count * NODE.height * 1.9) / Math.PI / 1.6);
  const middle = { x: across + NODE.width / 2 + 40, y: down + NODE.height / 2 + 70 };
  const points = new Map<string, Point>([[OUTSIDE, { x: 70, y: 40 }]]);
  for (const [nth, { name }] of nodes.entries()) {
    const angle = Math.PI + (2 * Math.PI * nth) / count;
    points.set(name, { x: middle.x + across * Math.cos(angle), y: middle.y + down * Math.sin(angle) });
  }
  return { width: middle.x * 2, height: middle.y + down + NODE.height / 2 + 46, middle, points };
}

const APART = 18;
const PLACES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74] as const;

/** The lines of edges, in their order; undefined where an end has no card. Labels keep away from those of the edges before. */
export function edgeLines(layout: GraphLayout, edges: readonly GraphEdge[]): readonly (EdgeLine | undefined)[] {
  const labels: Point[] = [];
  return edges.map((edge) => {
    const line = edgeLine(layout, edge, labels);
    if (line !== undefined) labels.push(line.label);
    return line;
  });
}

/** A line of an edge, bent to one side so that both directions are seen. */
function edgeLine({ points, middle }: GraphLayout, { from, to }: GraphEdge, labels: readonly Point[]): EdgeLine | undefined {
  const [a, b] = [points.get(from), points.get(to)];
  if (a === undefined || b === undefined) return undefined;
  if (from === to) return ownLine(a, a.y > middle.y ? 1 : -1);
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy);
  const bend = Math.min(60, length / 6);
  const turn: Point = { x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend };
  const [start, end] = [borderOf(a, turn, from), borderOf(b, turn, to)];
  const path = `M${round(start.x)} ${round(start.y)}Q${round(turn.x)} ${round(turn.y)} ${round(end.x)} ${round(end.y)}`;
  const at = (t: number): Point => ({ x: onBend(start.x, turn.x, end.x, t), y: onBend(start.y, turn.y, end.y, t) });
  const isFree = ({ x, y }: Point): boolean => labels.every((other) => Math.hypot(other.x - x, other.y - y) >= APART);
  return { path, label: PLACES.map(at).find(isFree) ?? at(PLACES[0]) };
}

/** The line of a role to itself, at the side that is away from the others: below the card for 1, above it for -1. */
function ownLine({ x, y }: Point, side: 1 | -1): EdgeLine {
  const edge = y + (side * NODE.height) / 2;
  const far = edge + side * 44;
  return { path: `M${x - 26} ${edge}C${x - 40} ${far} ${x + 40} ${far} ${x + 26} ${edge}`, label: { x, y: edge + side * 34 } };
}

function onBend(start: number, turn: number, end: number, t: number): number {
  return (1 - t) ** 2 * start + 2 * t * (1 - t) * turn + t ** 2 * end;
}

function borderOf(middle: Point, towards: Point, name: string): Point {
  const [dx, dy] = [towards.x - middle.x, towards.y - middle.y];
  const half = name === OUTSIDE ? { x: 44, y: 18 } : { x: NODE.width / 2 + 4, y: NODE.height / 2 + 4 };
  const scale = Math.min(half.x / Math.max(1e-6, Math.abs(dx)), half.y / Math.max(1e-6, Math.abs(dy)));
  return { x: middle.x + dx * scale, y: middle.y + dy * scale };
}
