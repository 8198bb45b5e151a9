import { type Shape, takes } from "../../kernel/argument.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isList } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { difference, differenceText } from "../../index.ts";
import type { CellJob } from "./cell.ts";
import { anExperiment, type AnyExperiment, type CellReply, type CellRequest } from "./experiment.ts";
import { cellRunner, type CellRunner, checkProcessOptions, type ProcessBounds, processBounds, WRITE_MODULE } from "./process-slot.ts";
import { rowOf } from "./tables.ts";

export interface VerifyOptions extends ProcessBounds {
  /** Numbers of concurrent activations. Default 1, 2 and 64. */
  readonly concurrency?: readonly number[];
  /** Paths of programs of Node. Default: the one of this process. Needs `module`. */
  readonly nodes?: readonly string[];
  /** The most runs that are repeated, spread over the experiment. Default: all. */
  readonly runs?: number;
  readonly onProgress?: (progress: { readonly total: number; readonly done: number; readonly different: number }) => void;
}

const filled = ({ says, fits }: Shape): Shape => ({
  says: `${says}, not empty`,
  fits: (value) => fits(value) && isList(value) && value.length > 0,
});
const verifyOptions: Known<VerifyOptions> = {
  ...processBounds,
  concurrency: filled(kinds.list(kinds.size)),
  nodes: filled(kinds.texts),
  runs: kinds.size,
  onProgress: kinds.function,
};

export interface VerifyDifference {
  readonly job: CellJob;
  /** The two ways in which it ran: `concurrency 1`, `concurrency 64, node 22.18.0`. */
  readonly left: string;
  readonly right: string;
  readonly text: string;
}

/** The result of {@link verifyExperiment}. */
export interface Verification {
  readonly isEqual: boolean;
  readonly runs: number;
  readonly ways: readonly string[];
  readonly differences: readonly VerifyDifference[];
  readonly warnings: readonly string[];
}

const CONCURRENCIES: readonly number[] = [1, 2, 64];

interface Way {
  readonly name: string;
  run(request: Omit<CellRequest, "signal" | "concurrency">): Promise<CellReply>;
  close(): void;
}

/**
 * Runs an experiment in several ways and compares the rows and the canonical records: at several concurrencies, with `module` also in a
 * process that has run other cells before, in one of its own, and with several versions of Node.
 *
 * @throws UsageError `EXPERIMENT_UNREADABLE`, `EXPERIMENT_CHANGED`
 * @throws ControlError when the signal aborts
 */
export async function verifyExperiment(experiment: AnyExperiment, o: VerifyOptions = {}): Promise<Verification> {
  takes("verifyExperiment", "experiment", experiment, anExperiment);
  checkKnownOptions("verifyExperiment", o, verifyOptions);
  checkProcessOptions("verifyExperiment", o);
  if (o.nodes !== undefined && o.module === undefined)
    throw new UsageError("OPTION_INVALID", `Expected module with nodes of verifyExperiment, got none. ${WRITE_MODULE}`);
  const { clock = systemClock, signal = new AbortController().signal } = o;
  const jobs = spread(experiment.jobs, o.runs ?? Infinity);
  const ways = waysOf(experiment, o, clock, signal);
  const differences: VerifyDifference[] = [];
  const warnings = new Set<string>();
  try {
    for (const [nth, job] of jobs.entries()) {
      throwIfAborted(signal);
      const found = await differenceOf(job, ways, warnings);
      if (found !== undefined) differences.push(found);
      o.onProgress?.({ total: jobs.length, done: nth + 1, different: differences.length });
    }
  } finally {
    for (const way of ways) way.close();
  }
  return { isEqual: differences.length === 0, runs: jobs.length, ways: ways.map(({ name }) => name), differences, warnings: [...warnings] };
}

function spread<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, nth) => list[Math.floor((nth * list.length) / most)] as T);
}

function waysOf(experiment: AnyExperiment, o: VerifyOptions, clock: Clock, signal: AbortSignal): readonly Way[] {
  const { module, concurrency: concurrencies = CONCURRENCIES, nodes = [process.execPath] } = o;
  return nodes.flatMap((node) => {
    const suffix = node === process.execPath ? "" : `, ${node}`;
    const runner = (): CellRunner => cellRunner(experiment, { ...o, node }, { clock, signal });
    const shared = runner();
    const [first = 1] = concurrencies;
    const together = concurrencies.map((concurrency): Way => ({
      name: `concurrency ${concurrency}${suffix}`,
      run: (request) => shared.run({ ...request, concurrency }),
      close: () => shared.close(),
    }));
    const alone: Way = {
      name: `a process of its own${suffix}`,
      async run(request) {
        const own = runner();
        return own.run({ ...request, concurrency: first }).finally(() => own.close());
      },
      close: () => undefined,
    };
    return module === undefined ? together : [...together, alone];
  });
}

const PARTIAL =
  "The record of a run does not begin with its start, so the rows alone are compared. Publish the first messages in begin, and not in world; give a world of your own the method on.";

async function differenceOf(job: CellJob, ways: readonly Way[], warnings: Set<string>): Promise<VerifyDifference | undefined> {
  const [first, ...others] = ways;
  if (first === undefined) return undefined;
  const known = await first.run({ job, record: "hash" });
  if (known.hash === undefined && known.end.kind === "done") warnings.add(PARTIAL);
  if (!known.usesConcurrency)
    warnings.add(
      "The world does not take the concurrency that it is given, so all ways have the same one. Write world: ({ seed, concurrency }) => new Environment({ seed, concurrency }).",
    );
  if (known.end.kind === "failed") warnings.add(`Run ${job.rep} of cell ${job.cell} fails: ${known.end.code}. Only its error is compared.`);
  for (const other of others) {
    const reply = await other.run({ job, record: "hash" });
    if (reply.hash === known.hash && rowText(job, reply) === rowText(job, known)) continue;
    return { job, left: first.name, right: other.name, text: await differenceIn(job, first, other) };
  }
  return undefined;
}

async function differenceIn(job: CellJob, left: Way, right: Way): Promise<string> {
  const [one, two] = [await left.run({ job, record: "events" }), await right.run({ job, record: "events" })];
  const found = difference(one.events ?? [], two.events ?? []);
  if (found !== undefined) return differenceText(found);
  const [a, b] = [rowOf(job, one.end), rowOf(job, two.end)];
  const column = [...new Set([...Object.keys(a), ...Object.keys(b)])].find((name) => a[name] !== b[name]);
  if (column === undefined)
    return "The two differed once and were equal when they ran again: what they do depends on time or on what ran before in the process.";
  return `the row, column ${column}\nleft: ${valueText(a[column])}\nright: ${valueText(b[column])}`;
}

function rowText(job: CellJob, { end }: CellReply): string {
  return canonicalJson([rowOf(job, end), end.kind === "done" ? end.series : []]);
}
