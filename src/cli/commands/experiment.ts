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
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { counted, elapsed, plural } from "../screen/amounts.ts";
import { shellWord, shown } from "../screen/text.ts";
import { printResult, report, type Session } from "../session.ts";
import { importedModule } from "../text-file.ts";

const MAX = 1_000_000;
const HINT = `Write: export const coins = experiment({ ... }), with experiment of "troupe/research".`;

export async function experimentRun(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds, out: wanted } = await asked(session, module, flags);
  const out = flags.anew === true ? await freeFolder(wanted) : wanted;
  const { rows, failed, kept } = await runExperiment(experiment, {
    ...bounds,
    ...(flags.workers === undefined ? {} : { workers: flags.workers }),
    out,
    again: flags.again === true,
    onProgress: progressPrinter(session),
  });
  const exitCode = failed === 0 ? 0 : 1;
  const next = `troupe experiment ${failed === 0 ? "table" : "status"} ${shellWord(relative(session.host.cwd, out) || ".")}`;
  const sentence = `${plural(rows.length, "run")} in ${shown(out)}${failed === 0 ? "" : `, ${counted(failed)} failed`}. See: ${next}`;
  await report(session, sentence, { type: "experiment", out, runs: rows.length, failed, kept, exitCode });
  return exitCode;
}

export async function experimentVerify(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds } = await asked(session, module, flags);
  const { runs, concurrency, node } = flags;
  const { clock } = session.host;
  const began = clock.now();
  const print = progressPrinter(session);
  const found = await verifyExperiment(experiment, {
    onProgress: ({ total, done }) => print({ total, done, failed: 0, kept: 0, ms: clock.now() - began }),
    ...bounds,
    ...(runs === undefined ? {} : { runs }),
    ...(concurrency === undefined ? {} : { concurrency: concurrency.split(",").map((one) => wholeNumber("--concurrency", one, MAX)) }),
    ...(node === undefined ? {} : { nodes: [process.execPath, ...node] }),
  });
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
  const name = shown(file, 200);
  if (!(await succeeds(access(path)))) throw unreadable(`a module with an experiment at ${name}, got no such file. ${HINT}`);
  const exported = Object.values(await importedModule(path, "a module with an experiment", "EXPERIMENT_UNREADABLE"));
  const found = [...new Set(exported)].filter(isExperiment);
  const named = flags.name === undefined ? found : found.filter((one) => one.name === flags.name);
  const [experiment] = named;
  if (experiment === undefined || named.length > 1) {
    const names = found.map((one) => shown(one.name, 60));
    const got = names[0] === undefined ? `none. ${HINT}` : `${names.join(", ")}. Name one: --name ${names[0]}`;
    const which = flags.name === undefined ? "" : ` of the name ${shown(flags.name, 60)}`;
    throw unreadable(`${name} to export one experiment${which}, got ${got}`);
  }
  const { timeLimit, memory } = flags;
  return {
    experiment,
    out: resolve(host.cwd, flags.out ?? `experiments/${folderName(experiment.name)}`),
    bounds: {
      module: pathToFileURL(path).href,
      signal: interruptions.signal,
      ...(timeLimit === undefined ? {} : { timeLimit: timeLimit || Number.MAX_SAFE_INTEGER }),
      ...(memory === undefined ? {} : { memory: wholeNumber("--memory", memory, MAX) }),
    },
  };
}

function unreadable(expected: string): UsageError {
  return new UsageError("EXPERIMENT_UNREADABLE", `Expected ${expected}`);
}

function isExperiment(value: unknown): value is AnyExperiment {
  return anExperiment.fits(value);
}

function folderName(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").replace(/^\.+/, "") || "experiment";
}

const MAX_FOLDERS = 1_000;

async function freeFolder(wanted: string): Promise<string> {
  for (let n = 1; n <= MAX_FOLDERS; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}-${n}`;
    if (!(await succeeds(access(folder)))) return folder;
  }
  throw new UsageError("OPTION_INVALID", `Expected a free folder beside ${shown(wanted)}, got none. Name another by --out.`);
}

const STEPS = 10;

function progressPrinter({ json, screen }: Session): (progress: SweepProgress) => void {
  let last = -1;
  return (progress) => {
    const step = Math.floor((STEPS * progress.done) / Math.max(1, progress.total));
    if (step === last) return;
    last = step;
    if (json === undefined) screen.say(progressText(progress));
    else void json.write({ type: "progress", ...progress });
  };
}

function progressText({ total, done, failed, kept, ms }: SweepProgress): string {
  const now = done - kept;
  const left = now > 0 && done < total ? `, about ${elapsed((ms / now) * (total - done))} left` : "";
  return `${counted(done)} of ${plural(total, "run")}${failed === 0 ? "" : `, ${counted(failed)} failed`}, ${elapsed(ms)}${left}`;
}
