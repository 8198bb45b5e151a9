import { aFunction, aNumber, aText, either, iterable, listOf, object, type Shape, takes, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { mean, standardError } from "../statistics/sample.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { freshSeed } from "../../kernel/random.ts";

export type FigureRelation = "equal" | "at most" | "at least";

/** A value of the literature, and what a study found for it. */
export interface FigureOptions {
  readonly name: string;
  readonly source: string;
  readonly expected: number;
  /** One number, which must be met exactly; or the independent samples of a random one, at least two, whose mean is compared. */
  readonly found: number | readonly number[];
  readonly relation?: FigureRelation;
  /** The known error of the published value itself, such as the next term of an expansion, in its unit. Default 0. */
  readonly tolerance?: number;
  /** The standard errors that a mean of many samples may be away, more than 0. Default 4: a right program misses that once in 16,000 times. */
  readonly standardErrors?: number;
}

const figureOptions: Known<FigureOptions> = {
  name: kinds.text,
  source: kinds.text,
  expected: kinds.number,
  found: kinds.checked,
  relation: kinds.oneOf("equal", "at most", "at least"),
  tolerance: kinds.amount,
  standardErrors: numberWith("a number above 0", (value) => value > 0),
};

export interface Figure {
  readonly name: string;
  readonly source: string;
  readonly expected: number;
  readonly relation: FigureRelation;
  readonly found: number;
  /** The standard error of the mean; of zeros and ones, that which `expected` predicts. Left out for one value. */
  readonly standardError?: number;
  /** The mean less and plus the standard errors that it may be away. Left out for one value. */
  readonly interval?: readonly [low: number, high: number];
  readonly samples: number;
  /** True when `found` has the relation to `expected`, within the tolerance and the standard errors. */
  readonly holds: boolean;
}

/** Rounding of sums of floating-point numbers, relative. */
const ROUNDING = 1e-9;

/** Compares a number exactly, and samples by their mean. @throws UsageError `FIGURE_INVALID` for an infinite number, or a single sample */
export function figure(options: FigureOptions): Figure {
  checkGivenOptions("figure", options, figureOptions);
  takes("figure", "what is given", options, someFigure);
  const { name, source, expected, found, relation = "equal", tolerance = 0, standardErrors = 4 } = options;
  const samples = typeof found === "number" ? [found] : found;
  const wrong = [expected, tolerance, standardErrors, ...samples].find((number) => !Number.isFinite(number));
  if (wrong !== undefined) throw invalid(name, "finite numbers", valueText(wrong));
  if (typeof found !== "number" && samples.length < 2) throw invalid(name, "at least two samples", `${samples.length}`);
  const middle = mean(samples);
  const half = typeof found === "number" ? undefined : standardErrors * errorOf(samples, expected);
  const room = tolerance + (half ?? 0) + ROUNDING * Math.max(Math.abs(expected), Math.abs(middle));
  const above = middle - expected;
  const holds = { equal: Math.abs(above) <= room, "at most": above <= room, "at least": -above <= room }[relation];
  const interval =
    half === undefined ? {} : { interval: Object.freeze([middle - half, middle + half] as const), standardError: half / standardErrors };
  return Object.freeze({ name, source, expected, relation, found: middle, ...interval, samples: samples.length, holds });
}

/** Zeros and ones have the error that the published share predicts (Wilson 1927): their own is too small where nearly all are equal. */
function errorOf(samples: readonly number[], expected: number): number {
  const isShare = expected >= 0 && expected <= 1 && samples.every((one) => one === 0 || one === 1);
  return isShare ? Math.sqrt((expected * (1 - expected)) / samples.length) : standardError(samples);
}

const someFigure: Shape = object("the name, source, expected and found value of a figure", {
  name: aText,
  source: aText,
  found: either(aNumber, listOf(aNumber)),
});

function invalid(name: string, expected: string, got: string): UsageError {
  return new UsageError(
    "FIGURE_INVALID",
    `Expected ${expected} for the figure ${valueText(name)}, got ${got}. Look at what the study measured.`,
  );
}

const SIGNS: Readonly<Record<FigureRelation, string>> = { equal: "", "at most": "<= ", "at least": ">= " };

/** Returns a table of figures: what was expected and found, the interval of a mean, its samples, and the source. */
export function figuresText(figures: Iterable<Figure>): string {
  const rows = [["", "figure", "expected", "found", "interval", "samples", "source"], ...[...figures].map(rowOf)];
  const widths = rows[0]?.map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0)) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function rowOf({ name, source, expected, relation, found, interval, samples, holds }: Figure): readonly string[] {
  const range = interval?.map(numberText).join(" to ") ?? "exact";
  return [holds ? "ok" : "FAILED", name, SIGNS[relation] + numberText(expected), numberText(found), range, `${samples}`, source];
}

function numberText(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toPrecision(5);
}

export interface StudyOptions {
  /** The subject of the study: the begin of the name of each figure, before a colon. */
  readonly name: string;
  /** The publication, with its year, of figures that name none. */
  readonly source?: string;
  /** Default: the environment variable `SEED`, else a fresh one. */
  readonly seed?: string | number;
  /** Ends {@link Study.samples} before its next repetition. */
  readonly signal?: AbortSignal;
  /** Takes the table. Default: standard output. */
  readonly print?: (text: string) => void;
}

const studyOptions: Known<StudyOptions> = {
  name: kinds.text,
  source: kinds.text,
  seed: kinds.seed,
  signal: kinds.signal,
  print: kinds.function,
};

/** A value of the literature, and what a study found for it. Its source is that of the study where it names none. */
export type StudyFigure = Omit<FigureOptions, "source"> & Partial<Pick<FigureOptions, "source">>;

/** A program that compares what it finds with the literature. */
export interface Study {
  readonly seed: string;
  /** Calls `once` for each repetition, whose seed is the same in every call: comparisons share random numbers. @throws ControlError when the signal aborts */
  samples<T>(reps: number, once: (seed: string, rep: number) => T | Promise<T>): Promise<readonly T[]>;
  /** Compares values with the literature and prints the table. Where one is missed it prints the seed, and sets the exit code to 1. */
  report(figures: Iterable<StudyFigure>): readonly Figure[];
}

/** Starts a study: it repeats something with fresh seeds and compares the results with the literature. The variable `SEED` repeats them. */
export function study(options: StudyOptions): Study {
  checkGivenOptions("study", options, studyOptions);
  takes("study", "name", options.name, aText);
  const { name, source, signal, print = toStandardOutput } = options;
  const seed = String(options.seed ?? (process.env["SEED"] || freshSeed()));
  return {
    seed,
    async samples(reps, once) {
      takes("samples of a study", "reps", reps, kinds.size);
      takes("samples of a study", "once", once, aFunction);
      const found = [];
      for (let rep = 0; rep < reps; rep += 1) {
        throwIfAborted(signal);
        found.push(await once(`${seed}/${rep}`, rep));
      }
      return found;
    },
    report(given) {
      takes("report of a study", "figures", given, iterable("figures"));
      const figures = Array.from(given, (one) => {
        takes("report of a study", "a figure", one, object("the name, expected and found value of a figure", { name: aText }));
        return figure({ ...(source === undefined ? {} : { source }), ...one, name: `${name}: ${one.name}` } as FigureOptions);
      });
      const missed = figures.filter(({ holds }) => !holds).length;
      print(figuresText(figures));
      if (missed > 0) {
        print(`${missed} of ${figures.length} figures missed with SEED=${seed}`);
        process.exitCode = 1;
      }
      return figures;
    },
  };
}

function toStandardOutput(text: string): void {
  process.stdout.write(`${text}\n`);
}
