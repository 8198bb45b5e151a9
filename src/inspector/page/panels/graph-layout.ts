import type { GraphEdge, RoleGraph } from "../../view/role-graph.ts";

/** Pixels. */
const NODE = { width: 168, height: 74 } as const;

/** The middle of a role's card. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The places of the roles in a graph. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly points: ReadonlyMap<string, Point>;
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
  return { width: middle.x * 2, height: middle.y + down + NODE.height / 2 + 30, points };
}

/** A line of an edge, bent to one side so that both directions are seen, and where its label stands. */
export function edgeLine({ points }: GraphLayout, { from, to }: GraphEdge): { readonly path: string; readonly label: Point } | undefined {
  const [a, b] = [points.get(from), points.get(to)];
  if (a === undefined || b === undefined) return undefined;
  if (from === to) {
    const top = a.y - NODE.height / 2;
    return {
      path: `M${a.x - 26} ${top}C${a.x - 40} ${top - 44} ${a.x + 40} ${top - 44} ${a.x + 26} ${top}`,
      label: { x: a.x, y: top - 34 },
    };
  }
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy);
  const bend = Math.min(60, length / 6);
  const turn: Point = { x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend };
  const [start, end] = [borderOf(a, turn, from), borderOf(b, turn, to)];
  const path = `M${round(start.x)} ${round(start.y)}Q${round(turn.x)} ${round(turn.y)} ${round(end.x)} ${round(end.y)}`;
  return { path, label: { x: (start.x + end.x) / 4 + turn.x / 2, y: (start.y + end.y) / 4 + turn.y / 2 } };
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
