import { z } from "zod";
import { type Json, utf8Length } from "../kernel/json.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { SOURCE_FOLDER } from "../workspace/bubblewrap.ts";
import type { CommandStep, GivenFile } from "./acceptance.ts";
import { runDriver } from "./driver.ts";

/** A step as in a check; `any` exit code is one more rule. */
export type JobStep = Omit<CommandStep, "exit"> & { readonly exit?: CommandStep["exit"] | "any" };

export interface Job {
  /** Files that are written into the copy first. Their paths have passed `checkPath`. */
  readonly given: readonly GivenFile[];
  readonly steps: readonly JobStep[];
  /** True: the steps after one with problems run too. Default false. */
  readonly continues?: boolean | undefined;
}

export interface JobsRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly jobs: readonly Job[];
  /** Milliseconds for all the steps of one job. */
  readonly timeout: number;
  /** Characters of stdout, and of stderr, in a report: 16,000 at most. Default 1,500. */
  readonly shown?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StepReport {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly flooded: boolean;
  readonly missing: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The expectations that were not met. Empty when the step did as it should. */
  readonly problems: readonly string[];
}

/** `unfit`: a rule cannot be applied. `broken`: it ended the checks themselves; the reason completes a sentence that begins with "it". */
export type JobReport =
  | { readonly kind: "ran"; readonly steps: readonly StepReport[] }
  | { readonly kind: "unfit"; readonly steps: readonly StepReport[]; readonly reason: string }
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "not run"; readonly reason: string };

/** Bytes of stdout, and of stderr, that rules see. A command that prints more is stopped. */
const OUTPUT_BYTES = 1_000_000;
/** Bytes of a file that rules see. */
const FILE_BYTES = 1_000_000;
const SHOWN = 1_500;
const MOST_SHOWN = 16_000;
/** Milliseconds for one regular expression. */
const MATCH_TIME = 1_000;
/** Milliseconds for starting the sandbox with a large project, and for copying it again before one job. */
const START_TIME = 10_000;
const COPY_TIME = 1_000;
/** Milliseconds for removing what a job left, and for copying the project again. */
const CLEAN_TIME = 20_000;
/** Bytes of the jobs of one order; a sandbox takes more. One job is smaller. */
const ORDER_BYTES = 10_000_000;
const MAX_BREAKS = 5;

const shown = z.string().max(MOST_SHOWN * 2);
const StepReportSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().max(20).nullable(),
  timedOut: z.boolean(),
  flooded: z.boolean(),
  missing: z.string().max(50).nullable(),
  stdout: shown,
  stderr: shown,
  problems: z.array(z.string().max(2_000)).max(10),
});
const LineSchema = z.union([
  z.object({ began: z.int() }),
  z.object({
    id: z.int(),
    steps: z.array(StepReportSchema).max(1_000),
    unfit: z.string().max(2_000).optional(),
    broken: z.string().max(2_000).optional(),
  }),
]);
type Line = z.infer<typeof LineSchema>;

/** Runs jobs in one sandbox, each in a fresh copy of the project. After a job that ends the sandbox, the next run in another one. */
export async function runJobs(request: JobsRequest): Promise<JobReport[]> {
  const reports = new Map<number, JobReport>();
  let breaks = 0;
  while (reports.size < request.jobs.length) {
    const open = request.jobs.flatMap((job, id) => (reports.has(id) ? [] : [{ id, job }]));
    if (breaks > MAX_BREAKS) {
      for (const { id } of open) reports.set(id, { kind: "not run", reason: "Commands before it ended the sandbox too often." });
      break;
    }
    const before = reports.size;
    const batch = batchOf(open);
    await runOpen(request, batch, reports);
    breaks += batch.every(({ id }) => reports.get(id)?.kind === "ran") ? 0 : 1;
    if (reports.size === before) break;
  }
  return request.jobs.map((_, id) => reports.get(id) ?? { kind: "not run", reason: "It has no report." });
}

type OpenJob = { readonly id: number; readonly job: Job };

function batchOf(open: readonly OpenJob[]): readonly OpenJob[] {
  let bytes = 0;
  const end = open.findIndex(({ job }, at) => (bytes += utf8Length(JSON.stringify(job))) > ORDER_BYTES && at > 0);
  return end === -1 ? open : open.slice(0, end);
}

async function runOpen(
  { root, sandbox, timeout, shown: most = SHOWN, signal }: JobsRequest,
  open: readonly OpenJob[],
  reports: Map<number, JobReport>,
): Promise<void> {
  const order = {
    source: sandbox.kind === "bubblewrap" ? SOURCE_FOLDER : null,
    outputBytes: OUTPUT_BYTES,
    fileBytes: FILE_BYTES,
    shown: most,
    matchTime: MATCH_TIME,
    cleanTime: CLEAN_TIME,
    jobs: open.map(({ id, job }) => ({ id, timeout, given: job.given, steps: job.steps, continues: job.continues })),
  };
  const report = await runDriver({
    root,
    sandbox,
    driver: "command.mjs",
    order: JSON.parse(JSON.stringify(order)) as Record<string, Json>,
    timeout: START_TIME + open.length * (timeout + COPY_TIME),
    signal,
  });
  if (report.kind === "not run") {
    for (const { id } of open) reports.set(id, { kind: "not run", reason: report.reason });
    return;
  }
  const lines = report.values.flatMap((value) => LineSchema.safeParse(value).data ?? []);
  for (const { id } of open) {
    const reported = reportIn(lines, id);
    if (reported !== undefined) reports.set(id, reported);
  }
  const rest = open.filter(({ id }) => !reports.has(id));
  const begun = rest.find(({ id }) => lines.some((line) => "began" in line && line.began === id));
  // No job had begun after the last one that ended: the sandbox could not be cleaned, and none of the rest is guilty.
  const guilty = begun ?? (rest.length < open.length ? undefined : rest[0]);
  if (guilty === undefined) return;
  const reason = report.kind === "broken" ? report.reason : "ended the process that runs it";
  reports.set(guilty.id, { kind: "broken", reason });
}

function reportIn(lines: readonly Line[], id: number): JobReport | undefined {
  const reported = lines.filter((line) => "id" in line && line.id === id);
  const [line] = reported;
  if (line === undefined || !("id" in line)) return undefined;
  if (reported.length > 1) return { kind: "broken", reason: "wrote into the report of the checks" };
  if (line.broken !== undefined) return { kind: "broken", reason: `could not be prepared: ${line.broken}` };
  return line.unfit === undefined ? { kind: "ran", steps: line.steps } : { kind: "unfit", steps: line.steps, reason: line.unfit };
}
