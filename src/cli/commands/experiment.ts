import { access } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { succeeds } from "../../kernel/system-error.ts";
import { anExperiment, type AnyExperiment } from "../../research/experiment/experiment.ts";
import { replayCell, runExperiment, verifyExperiment } from "../../research/index.ts";
import type { CellReplay } from "../../research/experiment/replay.ts";
import type { SweepProgress } from "../../research/experiment/sweep.ts";
import type { ExitCode } from "../errors.ts";
import { canDraw } from "../host.ts";
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { counted, elapsed, plural } from "../screen/amounts.ts";
import { LiveRegion, type Size } from "../screen/live-region.ts";
import { shellWord, shown } from "../screen/text.ts";
import { printResult, report, type Session } from "../session.ts";
import { importedModule } from "../text-file.ts";

const MOST = 1_000_000;
const HINT = `Write: export const coins = experiment({ ... }), with experiment of "troupe/research".`;

export async function experimentRun(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds, out: wanted } = await asked(session, module, flags);
  const workers = flags.workers === undefined ? {} : { workers: flags.workers };
  const out = flags.anew === true ? await freeFolder(wanted) : wanted;
  const bar = new Bar(session);
  try {
    const again = flags.again === true;
    const { rows, failed, kept } = await runExperiment(experiment, {
      ...bounds,
      ...workers,
      out,
      again,
      onProgress: (progress) => bar.tell(progress),
    });
    bar.end();
    const exitCode = failed === 0 ? 0 : 1;
    const sentence = `${plural(rows.length, "run")} in ${shown(out)}${failed === 0 ? "" : `, ${counted(failed)} failed`}. See: troupe experiment ${failed === 0 ? "table" : "status"} ${shellWord(relative(session.host.cwd, out) || ".")}`;
    await report(session, sentence, { type: "experiment", out, runs: rows.length, failed, kept, exitCode });
    return exitCode;
  } finally {
    bar.end();
  }
}

export async function experimentVerify(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds } = await asked(session, module, flags);
  const { runs, concurrency, node } = flags;
  const bar = new Bar(session);
  const began = session.host.clock.now();
  const found = await verifyExperiment(experiment, {
    onProgress: ({ total, done }) => bar.tell({ total, done, failed: 0, kept: 0, ms: session.host.clock.now() - began }),
    ...bounds,
    ...(runs === undefined ? {} : { runs }),
    ...(concurrency === undefined ? {} : { concurrency: concurrency.split(",").map((one) => wholeNumber("--concurrency", one, MOST)) }),
    ...(node === undefined ? {} : { nodes: [process.execPath, ...node] }),
  }).finally(() => bar.end());
  const { isEqual, ways, differences, warnings } = found;
  for (const warning of warnings) session.screen.print([session.screen.style.warn(shown(warning, 600))], 2);
  const lines = differences.flatMap(({ job, left, right, text }) => [
    `cell ${job.cell}, repetition ${job.rep}: ${shown(left, 200)} (left) and ${shown(right, 200)} (right) differ`,
    ...text.split("\n").map((line) => `  ${shown(line, 400)}`),
  ]);
  const exitCode = isEqual ? 0 : 1;
  const sum = `${plural(found.runs, "run")} in ${plural(ways.length, "way")}: ${isEqual ? "equal" : `${counted(differences.length)} differ`}`;
  await printResult(session, { type: "verified", exitCode, ...found }, () => [...lines, sum]);
  return exitCode;
}

export async function experimentReplay(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds, out } = await asked(session, module, flags);
  const replay = await replayCell(experiment, {
    ...bounds,
    cell: flags.cell ?? 0,
    rep: flags.rep ?? 0,
    out,
  });
  const { row, journal, place, changed = [], events } = replay;
  const exitCode = changed.length === 0 ? 0 : 1;
  const facts = { type: "replayed", exitCode, row, journal, place: place ?? null, changed, events: events.length };
  await printResult(session, facts, () => replayLines(replay));
  return exitCode;
}

function replayLines({ row, journal, place, changed = [], events }: CellReplay): readonly string[] {
  const store = shellWord(journal?.path ?? "");
  const same =
    changed.length === 0
      ? "The row is the one of the sweep."
      : `The row differs from the one of the sweep in ${changed.map((name) => shown(name, 60)).join(", ")}.`;
  const failed = row["status"] === "failed" ? [`The run failed: ${shown(String(row["error"]), 600)}`] : [];
  return [
    ...failed,
    ...(place === undefined ? [] : [`At ${shown(place, 200)}`]),
    `${plural(events.length, "event")}. ${same}`,
    `See: troupe inspect --store ${store}`,
    `     troupe runs show ${shellWord(journal?.runId ?? "")} --store ${store}`,
  ];
}

async function asked({ host, interruptions }: Session, file: string, flags: Flags) {
  const path = resolve(host.cwd, file);
  if (!(await succeeds(access(path))))
    throw new UsageError("EXPERIMENT_UNREADABLE", `Expected a module with an experiment at ${shown(file, 200)}, got no such file. ${HINT}`);
  const found = [...new Set(Object.values(await importedModule(path, "a module with an experiment", "EXPERIMENT_UNREADABLE")))].filter(
    isExperiment,
  );
  const named = flags.name === undefined ? found : found.filter(({ name }) => name === flags.name);
  const [experiment] = named;
  if (experiment === undefined || named.length > 1) {
    const names = found.map(({ name }) => shown(name, 60)).join(", ");
    const got = found.length === 0 ? `none. ${HINT}` : `${names}. Name one: --name ${shown(found[0]?.name ?? "", 60)}`;
    throw new UsageError(
      "EXPERIMENT_UNREADABLE",
      `Expected ${shown(file, 200)} to export one experiment${flags.name === undefined ? "" : ` of the name ${shown(flags.name, 60)}`}, got ${got}`,
    );
  }
  const { timeLimit, memory } = flags;
  return {
    experiment,
    out: resolve(host.cwd, flags.out ?? `experiments/${folderName(experiment.name)}`),
    bounds: {
      module: pathToFileURL(path).href,
      signal: interruptions.signal,
      ...(timeLimit === undefined ? {} : { timeLimit: timeLimit || Number.MAX_SAFE_INTEGER }),
      ...(memory === undefined ? {} : { memory: wholeNumber("--memory", memory, MOST) }),
    },
  };
}

function isExperiment(value: unknown): value is AnyExperiment {
  return anExperiment.fits(value);
}

function folderName(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").replace(/^\.+/, "") || "experiment";
}

const MOST_FOLDERS = 1_000;

/** The folder, or the first one with a number behind its name, that is not there yet. */
async function freeFolder(wanted: string): Promise<string> {
  for (let n = 1; n <= MOST_FOLDERS; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}-${n}`;
    if (!(await succeeds(access(folder)))) return folder;
  }
  throw new UsageError("OPTION_INVALID", `Expected a free folder beside ${shown(wanted)}, got none. Name another by --out.`);
}

/** Shares of the work after which a line is printed where nothing can be drawn. */
const STEPS = 10;
const BAR = 30;
const LEAST_BAR = 5;

/**
 * Shows how far a sweep is: a bar on a terminal, elsewhere a line for each tenth. It owns the last progress that was told.
 *
 * Bar.B1 (`tell`) without a terminal at most eleven lines are printed, whatever the number of runs.
 */
class Bar {
  readonly #session: Session;
  readonly #region: LiveRegion | undefined;
  readonly #offExit: () => void;
  #last: SweepProgress | undefined;
  #step = -1;

  constructor(session: Session) {
    this.#session = session;
    const { host, output } = session;
    const isLive = !output.isQuiet && session.json === undefined && canDraw(host);
    this.#region = isLive ? new LiveRegion(host.stderr, host.clock, (size) => this.#lines(size)) : undefined;
    this.#offExit = host.onExit(() => this.#region?.restore());
  }

  tell(progress: SweepProgress): void {
    this.#last = progress;
    if (this.#region !== undefined) return this.#region.start();
    const { total, done } = progress;
    const step = Math.floor((STEPS * done) / Math.max(1, total));
    if (step === this.#step) return;
    this.#step = step;
    const { json, screen } = this.#session;
    if (json === undefined) screen.say(progressText(progress));
    else void json.write({ type: "progress", ...progress });
  }

  end(): void {
    this.#offExit();
    this.#region?.stop();
  }

  #lines({ width }: Size): readonly string[] {
    if (this.#last === undefined) return [];
    return [barLine(this.#last, width)];
  }
}

/** The bar before its text. A narrow terminal has a shorter bar, or none, so that the text can be read. */
export function barLine(progress: SweepProgress, width: number): string {
  const { total, done } = progress;
  const text = progressText(progress);
  const length = Math.min(BAR, width - text.length - 1);
  const filled = Math.round((length * done) / Math.max(1, total));
  return length < LEAST_BAR ? text.slice(0, width) : `${"█".repeat(filled)}${"░".repeat(length - filled)} ${text}`;
}

export function progressText({ total, done, failed, kept, ms }: SweepProgress): string {
  const now = done - kept;
  const left = now > 0 && done < total ? `, about ${elapsed((ms / now) * (total - done))} left` : "";
  return `${counted(done)} of ${plural(total, "run")}${failed === 0 ? "" : `, ${counted(failed)} failed`}, ${elapsed(ms)}${left}`;
}
