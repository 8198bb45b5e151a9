import { resolve } from "node:path";
import type { CrewReport } from "../../../roles/index.ts";
import type { CrewFinding } from "../../../roles/crew/check-crew.ts";
import type { RoleBound } from "../../../roles/crew/crew-bound.ts";
import { findNondeterminism } from "../../checks/determinism.ts";
import { UsageError } from "../../kernel/errors.ts";
import { formatUsd, type MicroUsd } from "../../model/money.ts";
import { checkSchedules } from "./check-schedules.ts";
import { boundsLine, crewReport, wishedRun } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import { realModel } from "../model-choice.ts";
import type { Flags } from "../options.ts";
import { column, plural, shown, type TextStyle, wrapped } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import { isFile, readText } from "../text-file.ts";

const USUAL = "company.yaml";
const MAX_PROGRAM = 4 * 1024 * 1024;
/** A base URL that stands for any: nothing is asked. */
const NOWHERE = "http://127.0.0.1:9";
const UNREACHED = {
  code: "MODEL_UNREACHED",
  message: "No model can be reached now: set OPENAI_API_KEY or TROUPE_BASE_URL before a run.",
};

export async function check(session: Session, flags: Flags, file?: string): Promise<ExitCode> {
  if (flags.determinism === true) return checkDeterminism(session, file);
  const named = { ...flags, crew: file ?? (await usualFile(session.host.cwd)) };
  const asked = await wishedRun(session, named);
  const isReached = asked.settings.model.kind === "model";
  const { crew, settings, notes, widens } = isReached ? asked : await wishedRun(session, { ...named, baseUrl: NOWHERE });
  if (crew === undefined)
    throw new UsageError("CREW_UNKNOWN", `Expected a crew that is a file, got ${shown(file ?? "", 80)}, which has settings of its own.`);
  if (flags.explore === true) return checkSchedules(session, crew, flags);
  if (settings.model.kind === "none") throw new UsageError("OPTION_INVALID", "Expected a model, got none.");
  // The check reports a price that is not known.
  const chosen = await realModel(settings.model.model, { ...settings, allowUnpriced: true });
  const found = await crewReport(crew, settings, chosen);
  const report = { ...found, warnings: isReached ? found.warnings : [...found.warnings, UNREACHED] };
  const exitCode = report.faults.length === 0 ? 0 : 2;
  const name = crew.kind === "file" ? crew.name : crew.path;
  await printResult(session, { type: "check", crew: name, exitCode, ...report, asks: widens, bounds: notes }, (o) => [
    ...reportLines(name, report, settings.budget, o),
    ...widens.map((text) => `Before a run you are asked, and without a terminal it is refused: ${shown(text, 300)}.`),
    ...notes.map((note) => shown(note)),
  ]);
  return exitCode;
}

async function usualFile(cwd: string): Promise<string> {
  if (await isFile(resolve(cwd, USUAL))) return USUAL;
  throw new UsageError("CREW_UNKNOWN", `Expected a crew to check: there is no ${USUAL} here. Name a file: troupe check crew.yaml`);
}

type Found = readonly Pick<CrewFinding, "message">[];
type Shown = Omit<CrewReport, "faults" | "warnings"> & { readonly faults: Found; readonly warnings: Found };

function reportLines(name: string, report: Shown, budget: MicroUsd, { style, width }: TextStyle): readonly string[] {
  const { faults, warnings, roles } = report;
  const counts = `${plural(faults.length, "fault")}, ${plural(warnings.length, "warning")}`;
  const findings = [
    ...faults.map(({ message }) => `  ${style.bad("fault")}  ${shown(message, 2_000)}`),
    ...warnings.map(({ message }) => `  ${style.warn("warn")}   ${shown(message, 2_000)}`),
  ].flatMap((line) => wrapped(line, width, 9));
  const names = Math.max(...roles.map((role) => shown(role.name, 40).length), 4);
  const bounds = roles.flatMap((role) => wrapped(`  ${column(shown(role.name, 40), names + 2)}${boundText(role)}`, width, names + 4));
  return [
    `${shown(name, 200)}: ${faults.length === 0 ? style.good(counts) : style.bad(counts)}`,
    ...findings,
    "",
    ...bounds,
    "",
    ...wrapped(boundsLine(report, budget), width, 0),
  ];
}

function boundText({ activations, calls, unbounded = "", cost }: RoleBound): string {
  if (activations === 0) return "never starts";
  const starts = `starts at most ${activations} times`.replace(" 1 times", " once");
  if (calls === undefined) return `${starts}; calls are not bounded: ${shown(unbounded, 300)}`;
  return `${starts}; ${plural(calls, "call")}${cost === undefined ? ", price not known" : `, ${formatUsd(cost)}`} at most`;
}

async function checkDeterminism(session: Session, file: string | undefined): Promise<ExitCode> {
  if (file === undefined)
    throw new UsageError("OPTION_INVALID", "Expected a program to check, got none. Name a file: troupe check --determinism study.js");
  const faults = await findNondeterminism(await readText(session.host, file, "a program to check", MAX_PROGRAM));
  const exitCode = faults.length === 0 ? 0 : 1;
  const nothing =
    "Nothing in the roles, experiments, policies of edges and schedulers of this file differs from run to run, as far as its text shows.";
  await printResult(session, { type: "determinism", file, exitCode, faults }, () =>
    faults.length === 0 ? [nothing] : faults.map((fault) => `${shown(file, 200)}:${fault.line}:${fault.column}  ${fault.text}`),
  );
  return exitCode;
}
