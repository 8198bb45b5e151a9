import { throwIfAborted } from "../../kernel/abort.ts";
import { aFunction, aNumber, aText, either, having, iterable, object, orNothing, type Shape, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { freshSeed } from "../../kernel/random.ts";
import { isCount } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { figure, type Figure, type FigureOptions, figuresText } from "./figure.ts";

/** Options of a study. */
export interface StudyOptions {
  /** What is studied: the begin of the name of each figure, before a colon. */
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
  /**
   * Calls `once` for each repetition, one after another, with a seed of its own, and returns what it returned. Repetition 3 has the same seed in every
   * call, so that what is compared shares its random numbers.
   *
   * @param reps the number of repetitions, a whole number from 1
   * @throws UsageError `OPTION_INVALID`, `ARGUMENT_INVALID`
   * @throws ControlError when the signal aborts
   */
  samples<T>(reps: number, once: (seed: string, rep: number) => T | Promise<T>): Promise<readonly T[]>;
  /**
   * Compares each value with the literature as {@link figure} does, prints the table, and returns the figures. Where one is missed it prints the seed
   * too, and sets the exit code of the process to 1.
   *
   * @throws UsageError `FIGURE_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
   */
  report(figures: Iterable<StudyFigure>): readonly Figure[];
}

/**
 * Begins a study: a program that repeats something with fresh seeds and compares what it finds with the literature. With the variable `SEED` it finds the
 * same once more.
 *
 * @throws UsageError `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { Environment } from "troupe";
 * import { study } from "troupe/research";
 *
 * const { samples, report } = study({ name: "dice", source: "Huygens 1657", seed: 1 });
 * const pips = await samples(500, (seed) => Math.ceil(6 * new Environment({ seed }).stream("die")()));
 * const [mean] = report([{ name: "mean of one die", expected: 3.5, found: pips }]);
 * console.log(mean?.name, mean?.holds); // dice: mean of one die true
 */
export function study(options: StudyOptions): Study {
  takes("study", "what is given", options, someOptions);
  checkKnownOptions("study", options, studyOptions);
  const { name, source, signal, print = toStandardOutput } = options;
  const seed = String(options.seed ?? (process.env["SEED"] || freshSeed()));
  return {
    seed,
    async samples(reps, once) {
      checkReps(reps);
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

const someOptions: Shape = object("the name of a study, and options", {
  name: aText,
  source: orNothing(aText),
  seed: orNothing(either(aText, aNumber)),
  signal: orNothing(having("a signal", "throwIfAborted")),
  print: orNothing(aFunction),
});

function toStandardOutput(text: string): void {
  process.stdout.write(`${text}\n`);
}

function checkReps(reps: unknown): void {
  if (isCount(reps) && reps > 0) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the repetitions of samples of a study to be a whole number of at least 1, got ${valueText(reps)}.`,
  );
}
