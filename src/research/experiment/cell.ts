import { takes, object, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, textHash } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { randomStream } from "../../kernel/random.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";

/** A value in a table: what a parameter, a collector or a measure may be. Numbers are finite. */
export type CellValue = number | string | boolean | null;

export type CellParams = { readonly [name: string]: CellValue };

/** The cells of an experiment: for each parameter the values that are combined with all values of the others, or the cells themselves. */
export type ParamSpace<P extends CellParams> = { readonly [N in keyof P]: readonly P[N][] } | readonly P[];

export interface CellJob {
  /** The place of the cell in the list of cells, from 0. */
  readonly cell: number;
  readonly rep: number;
  readonly params: CellParams;
  readonly seed: string;
}

export function jobName({ cell, rep }: Pick<CellJob, "cell" | "rep">): string {
  return `${cell}-${rep}`;
}

export const DEFAULT_ROUNDS = 100;
const MAX_JOBS = 1_000_000;
const SEED_DIGITS = 16;

/** Columns of a row, a series and a table, which no parameter and no measure may have as its name. */
export const OWN_COLUMNS: readonly string[] = [
  ...["cell", "rep", "seed", "status", "ended", "rounds", "tick", "messages", "unread"],
  ...["calls", "usd", "unpriced", "error", "round", "runs", "failed"],
];

export function isCellValue(value: unknown): value is CellValue {
  return value === null || typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

/**
 * Returns the cells of a space of parameters. The last parameter of a grid changes first.
 *
 * @throws UsageError `EXPERIMENT_PARAMS` for no cell, an invalid value, a repeated cell, cells of different parameters, or the name of a
 * column
 */
export function cellsOf<P extends CellParams>(space: ParamSpace<P>): readonly P[] {
  const cells = isList(space) ? space.map((cell, place) => checkedCell(cell as P, place)) : gridCells<P>(space);
  if (cells.length === 0) throw invalid("at least one cell", "none", "Give each parameter a value, or give a list with a cell.");
  const names = Object.keys(cells[0] ?? {}).sort();
  const taken = names.find((name) => OWN_COLUMNS.includes(name));
  if (taken !== undefined) throw invalid("other names than those of the columns of a row", taken, `Rename the parameter ${taken}.`);
  const known = new Map<string, number>();
  for (const [place, cell] of cells.entries()) {
    if (canonicalJson(Object.keys(cell).sort()) !== canonicalJson(names))
      throw invalid(
        "cells with the same parameters",
        `cell 0 with ${names.join(", ")} and cell ${place} with ${Object.keys(cell).sort().join(", ")}`,
        "Give each cell all parameters.",
      );
    const text = canonicalJson(cell);
    const first = known.get(text);
    if (first !== undefined)
      throw invalid("different cells", `${text} as cell ${first} and as cell ${place}`, "Remove one, or ask for more repetitions by reps.");
    known.set(text, place);
  }
  return cells;
}

function gridCells<P extends CellParams>(space: unknown): readonly P[] {
  if (!isRecord(space)) throw invalid("a grid or a list of cells", valueText(space), "Write params: { n: [10, 100] }.");
  let cells: readonly CellParams[] = [{}];
  for (const [name, values] of Object.entries(space)) {
    if (!isList(values) || values.length === 0)
      throw invalid(`a list with values for ${name}`, valueText(values), `Write ${name}: [value], or leave ${name} out.`);
    if (cells.length * values.length > MAX_JOBS) throw tooMany(cells.length * values.length);
    cells = cells.flatMap((cell) => values.map((value) => ({ ...cell, [name]: checkedValue(name, value) })));
  }
  return Object.keys(space).length === 0 ? [] : (cells as readonly P[]);
}

function checkedCell<P extends CellParams>(cell: P, place: number): P {
  if (!isRecord(cell)) throw invalid("a list of cells", `${valueText(cell)} as cell ${place}`, "Write params: [{ n: 10 }, { n: 100 }].");
  for (const [name, value] of Object.entries(cell)) checkedValue(name, value);
  return { ...cell };
}

function checkedValue(name: string, value: unknown): CellValue {
  if (isCellValue(value)) return value;
  throw invalid(
    `a finite number, a string, true, false or null as a value of ${name}`,
    valueText(value),
    "Name other things by a string, and look them up in world.",
  );
}

function tooMany(count: number): UsageError {
  return invalid(`at most ${MAX_JOBS} runs`, String(count), "Divide the experiment into several.");
}

function invalid(expected: string, got: string, remedy: string): UsageError {
  return new UsageError("EXPERIMENT_PARAMS", `Expected ${expected} in params of an experiment, got ${got}. ${remedy}`);
}

export type Seeds = "common" | "independent";

export function jobsOf(
  cells: readonly CellParams[],
  o: { readonly reps: number; readonly seed: string; readonly seeds: Seeds },
): readonly CellJob[] {
  if (cells.length * o.reps > MAX_JOBS) throw tooMany(cells.length * o.reps);
  const reps = Array.from({ length: o.reps }, (_, rep) => rep);
  return cells.flatMap((params, cell) =>
    reps.map((rep) => ({ cell, rep, params, seed: seedOf(o.seed, rep, o.seeds === "common" ? null : params) })),
  );
}

/** A seed depends on the experiment's and the repetition, so that all cells of a repetition share random numbers; independent ones on the parameters too. */
function seedOf(seed: string, rep: number, params: CellParams | null): string {
  return textHash(canonicalJson(["experiment", seed, rep, params])).slice(0, SEED_DIGITS);
}

export interface ParamRange {
  readonly from: number;
  readonly to: number;
  /** True for whole numbers, `to` included. Default false. */
  readonly whole?: boolean;
  /** `log`: equal shares of the logarithm; `from` is above 0 then. Default `linear`. */
  readonly scale?: "linear" | "log";
}

const rangeOptions: Known<ParamRange> = { from: kinds.number, to: kinds.number, whole: kinds.boolean, scale: kinds.oneOf("linear", "log") };

export interface LatinHypercubeOptions {
  readonly n: number;
  /** Default 1. The same seed gives the same cells on every machine. */
  readonly seed?: string | number;
}

const manyCells = numberWith("a whole number from 1 to 1,000,000", (value) => Number.isInteger(value) && value >= 1 && value <= MAX_JOBS);
const hypercubeOptions: Known<LatinHypercubeOptions> = { n: manyCells, seed: kinds.seed };

/**
 * Returns `n` cells that cover ranges of parameters evenly: each range is divided into `n` equal shares, and each share holds exactly one
 * cell (McKay, Beckman and Conover, 1979).
 *
 * @throws UsageError `EXPERIMENT_PARAMS` for a range that holds no number
 */
export function latinHypercube<N extends string>(
  ranges: { readonly [Name in N]: ParamRange },
  o: LatinHypercubeOptions,
): readonly { readonly [Name in N]: number }[] {
  takes("latinHypercube", "ranges", ranges, object("an object of ranges"));
  checkGivenOptions("latinHypercube", o, hypercubeOptions);
  const { n, seed = 1 } = o;
  takes("latinHypercube", "n", n, manyCells);
  const names = Object.keys(ranges) as N[];
  const columns = names.map((name) => sharesOf(name, ranges[name], n, String(seed)));
  return Array.from(
    { length: n },
    (_, place) => Object.fromEntries(names.map((name, nth) => [name, columns[nth]?.[place] ?? 0])) as { readonly [Name in N]: number },
  );
}

function sharesOf(name: string, range: ParamRange, n: number, seed: string): readonly number[] {
  checkRange(name, range);
  const random = randomStream(seed, "latin-hypercube", name);
  const points = Array.from({ length: n }, (_, share) => pointOf(range, (share + random()) / n));
  for (let last = n - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [points[last], points[other]] = [points[other] ?? 0, points[last] ?? 0];
  }
  return points;
}

function checkRange(name: string, range: ParamRange): void {
  checkGivenOptions(`the range ${name} of latinHypercube`, range, rangeOptions);
  const { from, to, whole = false, scale = "linear" } = range;
  const isRange = Number.isFinite(from) && Number.isFinite(to) && from <= to && (scale === "linear" || (scale === "log" && from > 0));
  const isWhole = !whole || Math.ceil(from) <= Math.floor(to);
  if (isRange && isWhole) return;
  throw invalid(
    `a range { from, to } for ${name}`,
    valueText(range),
    "from is not above to, and above 0 on a log scale; a whole range holds a whole number.",
  );
}

function pointOf({ from, to, whole = false, scale = "linear" }: ParamRange, share: number): number {
  const [low, high] = whole ? [Math.ceil(from), Math.floor(to) + 1] : [from, to];
  const point = scale === "log" ? low * (high / low) ** share : low + (high - low) * share;
  return whole ? Math.min(Math.floor(point), high - 1) : point;
}
