import type { Shape } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import type { Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type CellJob, jobsOf } from "./cell.ts";
import type { ExperimentPlan } from "./experiment.ts";

export interface AskedRuns {
  /** Repetitions of each cell. Default: those of the experiment. */
  readonly reps?: number;
  /** Default: the seed of the experiment. */
  readonly seed?: string | number;
  /** Only these cells: the column `cell` of their rows. */
  readonly cells?: readonly number[];
  /** One of several equal parts, such as `3/20`, each with a folder of its own: `troupe experiment merge` joins them. */
  readonly part?: string;
}

const aPart: Shape = { says: "a part such as 3/20", fits: (value) => typeof value === "string" && partIn(value) !== undefined };
export const askedRuns: Known<AskedRuns> = {
  reps: kinds.size,
  seed: kinds.seed,
  cells: kinds.list(kinds.count),
  part: aPart,
};

interface Part {
  readonly nth: number;
  readonly of: number;
}

function partIn(text: string): Part | undefined {
  const [, nth, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  return nth === undefined || Number(nth) > Number(of) ? undefined : { nth: Number(nth), of: Number(of) };
}

/** The runs that a folder was ever asked for: its cells, each with so many repetitions. A folder only grows. */
export interface FolderPlan {
  /** All cells, in the order in which they came, with the most repetitions. */
  readonly experiment: ExperimentPlan;
  /** Repetitions of each cell. */
  readonly asked: readonly number[];
  readonly part: string | null;
}

/** Returns the plan of a folder for the runs that are asked for. @throws UsageError `EXPERIMENT_CELL` for an unknown cell */
export function askedPlan(own: ExperimentPlan, o: AskedRuns, known?: FolderPlan): FolderPlan {
  const { reps = own.reps, seed = own.seed, part = null } = o;
  const cells = [...(known?.experiment.cells ?? [])];
  const numbers = new Map(cells.map((cell, n) => [canonicalJson(cell), n]));
  for (const cell of own.cells) {
    if (numbers.has(canonicalJson(cell))) continue;
    numbers.set(canonicalJson(cell), cells.length);
    cells.push(cell);
  }
  const unknown = o.cells?.find((n) => n >= cells.length);
  if (unknown !== undefined)
    throw new UsageError("EXPERIMENT_CELL", `Expected cells of ${own.name} from 0 to ${cells.length - 1}, got ${unknown}.`);
  const wanted = new Set(o.cells ?? own.cells.map((cell) => numbers.get(canonicalJson(cell))));
  const asked = cells.map((_, n) => Math.max(known?.asked[n] ?? 0, wanted.has(n) ? reps : 0));
  return { experiment: { ...own, cells, seed: String(seed), reps: Math.max(1, ...asked) }, asked, part };
}

/** The runs of a folder, in the order of cells and repetitions. */
export function folderJobs({ experiment, asked, part }: FolderPlan): readonly CellJob[] {
  const { nth, of } = (part === null ? undefined : partIn(part)) ?? { nth: 1, of: 1 };
  return jobsOf(experiment.cells, experiment).filter(({ cell, rep }) => rep < (asked[cell] ?? 0) && (cell + rep) % of === nth - 1);
}

/** The first difference of an experiment from the one of a folder, apart from more cells and repetitions; undefined if there is none. */
export function planDifference(known: FolderPlan, now: FolderPlan): string | undefined {
  const [before, after] = [known.experiment, now.experiment];
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])] as (keyof ExperimentPlan)[];
  for (const name of names) {
    if (name === "cells" || name === "reps" || canonicalJson(before[name] ?? null) === canonicalJson(after[name] ?? null)) continue;
    return `${name} was ${valueText(before[name])} and is ${valueText(after[name])}`;
  }
  const [old, added] = [before.cells, after.cells].map((cells) => Object.keys(cells.at(-1) ?? {}).sort());
  if (canonicalJson(old ?? []) !== canonicalJson(added ?? [])) return `its parameters were ${old?.join(", ")} and are ${added?.join(", ")}`;
  return known.part === now.part ? undefined : `its part was ${known.part ?? "all"} and is ${now.part ?? "all"}`;
}

/** Returns the plan of both of two folders, whose cells have the same numbers. */
export function joinedPlan(one: FolderPlan, other: FolderPlan): Omit<FolderPlan, "part"> {
  const [long, short] = one.asked.length >= other.asked.length ? [one, other] : [other, one];
  const asked = long.asked.map((reps, n) => Math.max(reps, short.asked[n] ?? 0));
  return { experiment: { ...long.experiment, reps: Math.max(1, ...asked) }, asked };
}

/** The first cell that has another number in another folder; undefined if there is none. */
export function cellDifference(known: FolderPlan, now: FolderPlan): string | undefined {
  const most = Math.min(known.experiment.cells.length, now.experiment.cells.length);
  for (let n = 0; n < most; n += 1) {
    const [before, after] = [known.experiment.cells[n], now.experiment.cells[n]];
    if (canonicalJson(before) !== canonicalJson(after)) return `cell ${n} was ${valueText(before)} and is ${valueText(after)}`;
  }
  return undefined;
}
