import { aNumber, numberWith, object, type Shape, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isList } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { aNeighbourhood, type Neighbourhood, streamOf } from "./graphs.ts";
import { checkSize, edge, madeTopology, nodesOf, type Topology, type TopologyEdge } from "./topology.ts";

export type Point = readonly [x: number, y: number];

/** Who is where: plain data, for the state of a role. */
export type Positions = { readonly [name: string]: Point };

export interface SpaceOptions {
  readonly width: number;
  readonly height: number;
  /** True joins opposite borders. Default false. */
  readonly torus?: boolean;
  /** Makes it a grid of cells [0, 0] to [width - 1, height - 1] with steps to a side, or by `moore` also to a corner. Default: a plane. */
  readonly neighbours?: Neighbourhood;
}

/** Functions of positions. None of them changes what it gets. A point outside, or not of a cell, is refused with `POSITION_INVALID`. */
export interface Space {
  /** Returns the names within a distance of a point, or of somebody, who is left out. The nearest come first. */
  near(where: Positions, at: string | Point, radius: number): readonly string[];
  /** Returns the positions after moves, also of newcomers. With `torus`, a point beyond a border comes in on the other side. */
  move(where: Positions, moves: Positions): Positions;
  /** Returns the shortest way from one point to another, as [dx, dy]. */
  way(from: Point, to: Point): Point;
  distance(from: Point, to: Point): number;
  /** Returns the cells of a grid without anybody, row by row. */
  free(where: Positions): readonly Point[];
  /** Returns the graph of who is within a distance of whom. For all names it is much faster than `near` for each. */
  topology(where: Positions, radius: number): Topology;
}

const aLength = numberWith("a finite number above 0", (value) => value > 0 && Number.isFinite(value));
const aRadius = numberWith("a number of 0 or more", (value) => value >= 0);
const positions = object("positions, as { name: [x, y] }");
const aPoint: Shape = { says: "a point [x, y]", fits: (value) => isList(value) && value.length === 2 && value.every(aNumber.fits) };
const spaceOptions: Known<SpaceOptions> = { width: aLength, height: aLength, torus: kinds.boolean, neighbours: aNeighbourhood };

/**
 * Makes a space in which roles have positions: a grid of cells or a plane. A role keeps the positions in its state, and answers the others.
 *
 * @throws UsageError `OPTION_INVALID`; `TOPOLOGY_TOO_LARGE` for more than 1,000,000 cells
 * @example
 * import { space } from "troupe/research";
 *
 * const town = space({ width: 5, height: 5, torus: true, neighbours: "moore" });
 * const then = { ann: [0, 0], bob: [2, 2] } as const;
 * const now = town.move(then, { bob: [-1, 4] });
 * console.log(now["bob"], town.near(then, "ann", 1), town.near(now, "ann", 1)); // [ 4, 4 ] [] [ 'bob' ]
 */
export function space(o: SpaceOptions): Space {
  checkGivenOptions("space", o, spaceOptions);
  const { width, height, neighbours } = o;
  for (const [name, length] of Object.entries({ width, height }))
    takes("space", name, length, neighbours === undefined ? aLength : kinds.size);
  if (neighbours !== undefined) checkSize("nodes", width * height);
  const { checked, wrapped, way, distance } = measured(o);
  const given = (caller: string, where: Positions): readonly (readonly [string, Point])[] => {
    takes(caller, "where", where, positions);
    return Object.entries(where).map(([name, point]) => [name, checked(name, point)]);
  };
  return Object.freeze<Space>({
    near(where, at, radius) {
      takes("near", "radius", radius, aRadius);
      const all = given("near", where);
      const centre = checked(String(at), typeof at === "string" ? all.find(([name]) => name === at)?.[1] : at);
      const found = all.map(([name, point]) => ({ name, away: name === at ? Infinity : distance(centre, point) }));
      return found
        .filter(({ away }) => away <= radius && away < Infinity)
        .sort((one, other) => one.away - other.away)
        .map(({ name }) => name);
    },
    move(where, moves) {
      takes("move", "moves", moves, positions);
      const moved = Object.entries(moves).map(([name, point]) => [name, checked(name, wrapped(point))] as const);
      return Object.fromEntries([...given("move", where), ...moved]);
    },
    way: (from, to) => way(checked("from", from), checked("to", to)),
    distance: (from, to) => distance(checked("from", from), checked("to", to)),
    free(where) {
      if (neighbours === undefined)
        throw new UsageError("OPTION_INVALID", "Expected a space with the option neighbours, got a plane. It has no cells.");
      const taken = new Set(given("free", where).map(([, [x, y]]) => y * width + x));
      const cells = Array.from({ length: width * height }, (_, cell) => cell).filter((cell) => !taken.has(cell));
      return cells.map((cell) => [cell % width, Math.floor(cell / width)] as const);
    },
    topology(where, radius) {
      takes("topology", "radius", radius, aRadius);
      return closeTopology(given("topology", where), radius, { width, height, distance });
    },
  });
}

interface Measured extends Pick<Space, "way" | "distance"> {
  checked(name: string, point: unknown): Point;
  wrapped(point: Point): Point;
}

function measured({ width, height, torus = false, neighbours }: SpaceOptions): Measured {
  const isGrid = neighbours !== undefined;
  const most = isGrid ? [width - 1, height - 1] : [width, height];
  const isWithin = (at: number, axis: number): boolean => at >= 0 && at <= (most[axis] ?? 0) && (!isGrid || Number.isInteger(at));
  const round = (at: number, length: number): number => (Number.isFinite(at) ? ((at % length) + length) % length : at);
  const shortest = (by: number, length: number): number => (torus ? by - length * Math.round(by / length) : by);
  const way = (from: Point, to: Point): Point => [shortest(to[0] - from[0], width), shortest(to[1] - from[1], height)];
  return {
    checked(name, point) {
      if (aPoint.fits(point) && (point as Point).every(isWithin)) return point as Point;
      const expected = `${isGrid ? "a cell" : "a point"} [x, y] from [0, 0] to [${most.join(", ")}]`;
      throw new UsageError("POSITION_INVALID", `Expected the position of ${valueText(name)} to be ${expected}, got ${valueText(point)}.`);
    },
    wrapped: (point) => (torus && aPoint.fits(point) ? [round(point[0], width), round(point[1], height)] : point),
    way,
    distance(from, to) {
      const [x, y] = way(from, to);
      if (!isGrid) return Math.hypot(x, y);
      return neighbours === "moore" ? Math.max(Math.abs(x), Math.abs(y)) : Math.abs(x) + Math.abs(y);
    },
  };
}

/** Joins the points within a distance. Each is compared with those in its field of a grid and in the eight around it, over borders too. */
function closeTopology(
  points: readonly (readonly [name: string, at: Point])[],
  radius: number,
  { width, height, distance }: Pick<Space, "distance"> & Pick<SpaceOptions, "width" | "height">,
): Topology {
  const names = nodesOf(
    "topology",
    points.map(([name]) => name),
  );
  const [columns, rows] = [width, height].map((length) => Math.max(1, Math.floor(Math.min(length / radius, Math.sqrt(names.length))))) as [
    number,
    number,
  ];
  const fieldOf = ([x, y]: Point): Point => [
    Math.min(columns - 1, Math.floor((x / width) * columns)),
    Math.min(rows - 1, Math.floor((y / height) * rows)),
  ];
  const fields = Array.from({ length: columns * rows }, (): number[] => []);
  for (const [index, [, at]] of points.entries()) {
    const [column, row] = fieldOf(at);
    fields[row * columns + column]?.push(index);
  }
  const edges: TopologyEdge[] = [];
  const around = [-1, 0, 1];
  for (const [index, [name, at]] of points.entries()) {
    const [column, row] = fieldOf(at);
    const near = around.flatMap((down) =>
      around.map((right) => ((row + down + rows) % rows) * columns + ((column + right + columns) % columns)),
    );
    const others = [...new Set(near)].flatMap((field) => (fields[field] ?? []).filter((other) => other > index));
    const close = others.filter((other) => distance(at, points[other]?.[1] ?? at) <= radius);
    for (const other of close.sort((one, two) => one - two)) edges.push(edge(name, names[other]));
    checkSize("edges", edges.length);
  }
  return madeTopology(names, edges, false);
}

export interface RandomGeometricOptions extends Pick<SpaceOptions, "torus"> {
  /** The distance up to which two nodes have an edge. */
  readonly radius: number;
  readonly seed: string | number;
}

const geometricOptions: Known<RandomGeometricOptions> = { radius: aRadius, torus: kinds.boolean, seed: kinds.seed };

/**
 * Makes a random geometric graph (Gilbert 1961): nodes at random points of a square with sides of 1, and an edge between two that are near.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`
 * @example
 * import { randomGeometric, topologyMetrics } from "troupe/research";
 *
 * console.log(topologyMetrics(randomGeometric(100, { radius: 0.2, seed: 1 })).components); // 1
 */
export function randomGeometric(nodes: number | Iterable<string>, o: RandomGeometricOptions): Topology {
  checkGivenOptions("randomGeometric", o, geometricOptions);
  const { radius, torus = false } = o;
  takes("randomGeometric", "radius", radius, aRadius);
  const random = streamOf("randomGeometric", o.seed);
  const names = nodesOf("randomGeometric", nodes);
  const { distance } = space({ width: 1, height: 1, torus });
  const points = names.map((name) => [name, [random(), random()]] as const);
  return closeTopology(points, radius, { width: 1, height: 1, distance });
}
