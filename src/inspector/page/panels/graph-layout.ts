import type { GraphEdge, RoleGraph } from "../../view/role-graph.ts";

const NODE = { width: 168, height: 74 } as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly middle: Point;
  readonly points: ReadonlyMap<string, Point>;
}

/** A line between two cards, and where its label stands. */
export interface EdgeLine {
  readonly path: string;
  readonly label: Point;
}

/** The name of what is outside in a layout. No role has an empty name. */
export const OUTSIDE = "";

/**
 * Places roles on an ellipse in the order of hiring, the first one at the left, and what is outside at the top left. Places depend on the roles
 * alone, so that a scrubbed graph does not jump.
 */
export function graphLayout({ nodes }: RoleGraph): GraphLayout {
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

/** Pixels between two labels that do not cover each other. */
const APART = 18;
/** Places of a label on its line, 0 to 1. The first free one is taken. */
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

/** The place on a line with one bend, 0 at its start and 1 at its end. */
function onBend(start: number, turn: number, end: number, t: number): number {
  return (1 - t) ** 2 * start + 2 * t * (1 - t) * turn + t ** 2 * end;
}

/** The point where a line from a card's middle leaves the card. */
function borderOf(middle: Point, towards: Point, name: string): Point {
  const [dx, dy] = [towards.x - middle.x, towards.y - middle.y];
  const half = name === OUTSIDE ? { x: 44, y: 18 } : { x: NODE.width / 2 + 4, y: NODE.height / 2 + 4 };
  const scale = Math.min(half.x / Math.max(1e-6, Math.abs(dx)), half.y / Math.max(1e-6, Math.abs(dy)));
  return { x: middle.x + dx * scale, y: middle.y + dy * scale };
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}
