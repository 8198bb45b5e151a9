import { TroupeError } from "../kernel/errors.ts";
import { checkPath, visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { CommandStep, Criterion, GivenFile } from "./acceptance.ts";
import { type Job, type JobReport, type JobStep, runJobs, type StepReport } from "./jobs.ts";
import type { Verdict } from "./verification.ts";

export interface CommandChecksRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly criteria: readonly Criterion[];
  /** Milliseconds for all the commands of one criterion. Default 15,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds for one criterion. */
const CRITERION_TIMEOUT = 15_000;
const MAX_STEPS = 50;
const MAX_GIVEN = 1_000_000;
/** Characters of a command, and of an output, in evidence. */
const COMMAND_LENGTH = 200;
const OUTPUT_LENGTH = 400;
const SHOWN_STEPS = 3;
const SHOWN_LENGTH = 250;

/** Checks criteria by their commands, each in a fresh copy of the project. One is `not checked` where the check is at fault, or nothing can be run. */
export async function checkCommands(request: CommandChecksRequest): Promise<Verdict[]> {
  const { root, sandbox, timeout = CRITERION_TIMEOUT, signal } = request;
  const prepared = request.criteria.flatMap((criterion) => {
    const { check } = criterion;
    return check.kind === "command" ? [{ criterion, job: jobOf(check.given ?? [], check.steps) }] : [];
  });
  const jobs = prepared.flatMap(({ job }) => (typeof job === "string" ? [] : [job]));
  const reports = jobs.length === 0 ? [] : await runJobs({ root, sandbox, jobs, timeout, signal });
  let next = 0;
  return prepared.map(({ criterion, job }): Verdict => {
    const { id, priority } = criterion;
    if (typeof job === "string") return { id, priority, outcome: "not checked", by: "nothing", evidence: job };
    const report = reports[next++] ?? { kind: "not run", reason: "It has no report." };
    return { id, priority, ...judge(report, job) };
  });
}

type CommandJob = Job & { readonly steps: readonly CommandStep[] };

function jobOf(given: readonly GivenFile[], steps: readonly CommandStep[]): CommandJob | string {
  if (steps.length > MAX_STEPS) return `The check has ${steps.length} steps, where at most ${MAX_STEPS} are allowed.`;
  if (JSON.stringify([given, steps]).length > MAX_GIVEN) return `The check has more than ${MAX_GIVEN} characters.`;
  for (const { run, stdin } of steps) {
    if ([...run, stdin ?? ""].some((word) => word.includes("\0"))) return "The check has a NUL character in a command.";
    if (run[0].trim() === "") return "The check has a command without a program.";
  }
  try {
    return {
      continues: true,
      given: given.map((file) => ({ ...file, path: checkPath(file.path) })),
      steps: steps.map((step) =>
        step.files === undefined ? step : { ...step, files: step.files.map((file) => ({ ...file, path: checkPath(file.path) })) },
      ),
    };
  } catch (error) {
    if (TroupeError.isInstance(error)) return `The check is at fault: ${error.message}`;
    throw error;
  }
}

type Judged = Pick<Verdict, "outcome" | "by" | "evidence">;

function failed(evidence: string): Judged {
  return { outcome: "failed", by: "command", evidence };
}

function judge(report: JobReport, job: CommandJob): Judged {
  if (report.kind === "broken") return failed(`${job.steps.map(commandText).join(", ")}: it ${visible(report.reason, 500)}.`);
  if (report.kind !== "ran") {
    const evidence = report.kind === "unfit" ? `The check is at fault: ${visible(report.reason, 500)}` : report.reason;
    return { outcome: "not checked", by: "nothing", evidence };
  }
  const [last, step] = [report.steps.at(-1), job.steps[report.steps.length - 1]];
  if (last === undefined || step === undefined) return failed("No command of it was run.");
  if (report.steps.some(({ problems }) => problems.length > 0)) return failed(evidenceOf(report.steps, job));
  if (report.steps.length < job.steps.length) return failed("Not all of its commands were run.");
  return { outcome: "proven", by: "command", evidence: proofOf(step, last, job.steps.length) };
}

function evidenceOf(reports: readonly StepReport[], { given, steps }: CommandJob): string {
  const all = reports.flatMap((report, at) => {
    const step = steps[at];
    return step === undefined || report.problems.length === 0 ? [] : [{ report, step, at }];
  });
  const [first, ...later] = all;
  if (first === undefined) return "";
  const place = (at: number): string => (steps.length === 1 ? "" : ` (step ${at + 1} of ${steps.length})`);
  const says = ({ problems }: StepReport, limit: number): string => problems.map((problem) => visible(problem, limit)).join("; ");
  const more = later.length - SHOWN_STEPS;
  const open = steps.length - reports.length;
  return [
    `${commandText(first.step)}${place(first.at)}: ${says(first.report, 1_200)}.`,
    ...contextOf(first.step, given, steps.slice(0, first.at)),
    ...outputOf(first.report),
    ...later
      .slice(0, SHOWN_STEPS)
      .map(({ report, step, at }) => `${commandText(step)}${place(at)}, perhaps for the same reason: ${says(report, SHOWN_LENGTH)}.`),
    ...(more > 0 ? [`${more} later ${more === 1 ? "step" : "steps"} failed too.`] : []),
    ...(open > 0 ? [`${open} later ${open === 1 ? "step was" : "steps were"} not run.`] : []),
  ].join("\n");
}

function contextOf({ stdin = "" }: JobStep, given: readonly GivenFile[], before: readonly JobStep[]): string[] {
  const quoted = (text: string): string =>
    visible(JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)} [...]` : text), 600);
  const files = given
    .slice(0, SHOWN_STEPS)
    .map(
      ({ path, content, base64 = "" }) =>
        `${visible(path)} ${content === undefined ? `of ${Buffer.from(base64, "base64").length} bytes` : quoted(content)}`,
    );
  const more = given.length > SHOWN_STEPS ? ` and ${given.length - SHOWN_STEPS} more` : "";
  return [
    ...(files.length === 0 ? [] : [`given: ${files.join(", ")}${more}`]),
    ...(stdin === "" ? [] : [`stdin: ${quoted(stdin)}`]),
    ...(before.length === 0 ? [] : [`before it: ${before.slice(-SHOWN_STEPS).map(commandText).join("; ")}`]),
  ];
}

function outputOf({ stdout, stderr, problems }: StepReport): string[] {
  const isShown = (name: string): boolean => problems.some((problem) => problem.startsWith(`${name} `));
  return [
    ...(isShown("stdout") || stdout.trim() === "" ? [] : [`stdout: ${visibleLines(stdout.trim(), OUTPUT_LENGTH)}`]),
    ...(isShown("stderr") || stderr.trim() === "" ? [] : [`stderr: ${visibleLines(stderr.trim(), OUTPUT_LENGTH)}`]),
  ];
}

function proofOf(step: CommandStep, { code, stdout }: StepReport, steps: number): string {
  const commands = steps === 1 ? commandText(step) : `${steps} commands, the last ${commandText(step)}`;
  const said = stdout.trim() === "" ? "" : `; stdout: ${visible(stdout.trim(), 200)}`;
  return `${commands}: exit code ${code ?? ""} and output as expected${said}`;
}

/** A command as a person would type it, for a screen. */
export function commandText({ run }: Pick<CommandStep, "run">): string {
  const words = run.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)));
  return visible(words.join(" "), COMMAND_LENGTH);
}
