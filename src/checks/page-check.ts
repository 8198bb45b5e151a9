import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { z } from "zod";
import type { Json } from "../kernel/json.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Criterion, GivenFile, PageStep } from "./acceptance.ts";
import { type Chromium, CHROMIUM_LIMITS, findChromium } from "./chromium.ts";
import { type DriverReport, runDriver } from "./driver.ts";
import type { Fault, Verdict } from "./verification.ts";

export interface PageCheckRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** Path of the page in the project. Default `index.html`. */
  readonly open?: string | undefined;
  readonly criteria: readonly Criterion[];
  /** Milliseconds for everything. Default 180,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly times?: Partial<typeof PAGE_TIMES> | undefined;
}

export interface PageReport {
  readonly by: "browser" | "nothing";
  readonly verdicts: readonly Verdict[];
  /** Errors of the page, each once: uncaught errors, `console.error`, own files that did not load, an empty page. */
  readonly faults: readonly Fault[];
}

/** Milliseconds: for an answer of the page; for an element or what is expected of it; for loading; for all steps of a criterion. */
const PAGE_TIMES = { step: 5_000, wait: 5_000, load: 10_000, criterion: 40_000 };
const TIMEOUT = 180_000;
/** Milliseconds beyond the limit until the driver is killed: it ends by itself, with its report. */
const DRIVER_TIME = 15_000;
/** Milliseconds of one regular expression. */
const RULE_TIME = 500;
const MAX_FAULTS = 20;
const MAX_EVIDENCE = 1_500;

const line = z.string().max(2_000);
const problems = { errors: z.array(line).max(50).default([]), notes: z.array(line).max(50).default([]) };
const outcome = z.enum(["proven", "failed", "not checked"]);
const PageEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("started") }),
  z.object({
    kind: z.literal("opened"),
    fault: line.optional(),
    /** True when it could not be opened at all. */
    isDead: z.boolean(),
    ...problems,
  }),
  z.object({ kind: z.literal("begun"), id: z.string() }),
  z.object({ kind: z.literal("result"), id: z.string(), outcome, evidence: line, ...problems }),
  z.object({ kind: z.literal("done") }),
  z.object({ kind: z.literal("trouble"), reason: line }),
]);
type PageEvent = z.infer<typeof PageEvent>;
type EventOf<Kind extends PageEvent["kind"]> = Extract<PageEvent, { kind: Kind }>;

interface Findings {
  opened: Omit<EventOf<"opened">, "kind"> | undefined;
  readonly results: Map<string, Omit<EventOf<"result">, "kind">>;
}

interface PageCriterion {
  readonly criterion: Criterion;
  readonly steps: readonly PageStep[];
  readonly given: readonly GivenFile[];
}

/**
 * Plays the page steps of criteria on a page of a project, in Chromium inside the sandbox. Each criterion has a fresh page with empty storage. A page
 * that loops, floods or crashes fails alone. Without Chromium every verdict is `not checked`.
 */
export async function checkPages(request: PageCheckRequest): Promise<PageReport> {
  checkPath(request.open ?? "index.html");
  const criteria = request.criteria.flatMap((criterion): PageCriterion[] =>
    criterion.check.kind === "page" ? [{ criterion, steps: criterion.check.steps, given: safeFiles(criterion.check.given) }] : [],
  );
  const chromium = findChromium(request.sandbox);
  const findings = typeof chromium === "string" ? chromium : await playPages(request, criteria, chromium);
  if (typeof findings !== "string") return reportOf(request, criteria, findings);
  const evidence = visible(`No page was opened: ${findings}`, MAX_EVIDENCE);
  const verdicts = criteria.map(({ criterion: { id, priority } }): Verdict => ({
    id,
    priority,
    outcome: "not checked",
    by: "nothing",
    evidence,
  }));
  return { by: "nothing", verdicts, faults: [] };
}

/** Without files at paths that lead outside: the page fails without them. */
function safeFiles(given: readonly GivenFile[] = []): readonly GivenFile[] {
  return given.flatMap((file) => {
    try {
      return [{ ...file, path: checkPath(file.path) }];
    } catch {
      return [];
    }
  });
}

/** Runs the driver until each criterion has a result: a page that takes the whole driver with it fails, and the driver starts again. */
async function playPages(request: PageCheckRequest, criteria: readonly PageCriterion[], chromium: Chromium): Promise<Findings | string> {
  const ends = performance.now() + (request.timeout ?? TIMEOUT);
  const findings: Findings = { opened: undefined, results: new Map() };
  for (let runs = 0; runs <= criteria.length + 1; runs++) {
    const left = criteria.filter(({ criterion }) => !findings.results.has(criterion.id));
    const time = Math.round(ends - performance.now());
    if ((findings.opened !== undefined && left.length === 0) || time <= 0) break;
    const report = await runPages(request, chromium, orderOf(request, left, findings, time));
    if (report.kind === "not run") return report.reason;
    const events = report.values.flatMap((value) => PageEvent.safeParse(value).data ?? []);
    const trouble = troubleOf(events, report);
    if (!events.some(({ kind }) => kind === "started")) return `Chromium did not start: ${visible(trouble, 500)}`;
    if (take(events, findings, trouble)) break;
  }
  return findings;
}

async function runPages(request: PageCheckRequest, { blocks, mounts, executable }: Chromium, order: Order): Promise<DriverReport> {
  const { root, sandbox, signal } = request;
  // Without isolation the temporary folder has a long name, and only this process is sure to be there at the end.
  const link = blocks ? `/tmp/troupe-${randomBytes(6).toString("hex")}` : undefined;
  const given = { ...order, blocks, executable, ...(link === undefined ? {} : { link }) };
  const timeout = order.totalTime + DRIVER_TIME;
  try {
    return await runDriver({ root, sandbox, driver: "page.mjs", order: given, mounts, limits: CHROMIUM_LIMITS, timeout, signal });
  } finally {
    if (link !== undefined) await rm(link, { force: true });
  }
}

type Order = Readonly<Record<string, Json>> & { readonly totalTime: number };

function orderOf(request: PageCheckRequest, left: readonly PageCriterion[], { opened }: Findings, totalTime: number): Order {
  const { step, load, criterion: all, wait } = { ...PAGE_TIMES, wait: request.times?.step ?? PAGE_TIMES.wait, ...request.times };
  return {
    open: request.open ?? "index.html",
    skipOpening: opened !== undefined,
    criteria: left.map(({ criterion: { id }, steps, given }) => JSON.parse(JSON.stringify({ id, steps, given })) as Json),
    ...{ totalTime, stepTime: step, waitTime: wait, loadTime: load, criterionTime: all, ruleTime: RULE_TIME },
  };
}

function troubleOf(events: readonly PageEvent[], report: DriverReport): string {
  const trouble = events.find((event) => event.kind === "trouble")?.reason;
  return trouble ?? (report.kind === "broken" ? `the page ${report.reason}` : "the driver ended without a report");
}

function take(events: readonly PageEvent[], findings: Findings, trouble: string): boolean {
  const { results } = findings;
  findings.opened ??= events.find((event) => event.kind === "opened");
  for (const event of events) if (event.kind === "result") results.set(event.id, event);
  if (events.some(({ kind }) => kind === "done")) return true;
  const begun = events.findLast((event) => event.kind === "begun")?.id;
  const nothing = { errors: [], notes: [] };
  if (begun !== undefined && !results.has(begun)) results.set(begun, { id: begun, outcome: "failed", evidence: trouble, ...nothing });
  findings.opened ??= { fault: trouble, isDead: true, ...nothing };
  return false;
}

function reportOf(request: PageCheckRequest, criteria: readonly PageCriterion[], { opened, results }: Findings): PageReport {
  const file = request.open ?? "index.html";
  const atOpening = new Set([...(opened?.fault === undefined ? [] : [opened.fault]), ...(opened?.errors ?? [])].map(shown));
  const atSteps = new Set([...results.values()].flatMap(({ errors }) => errors.map(shown)).filter((message) => !atOpening.has(message)));
  const faults = [
    ...[...atOpening].map((message): Fault => ({ kind: "page", file, message })),
    ...[...atSteps].map((message): Fault => ({ kind: "page", message })),
  ];
  return {
    by: "browser",
    verdicts: criteria.map(({ criterion }) => verdictOf(criterion, results.get(criterion.id))),
    faults: faults.slice(0, MAX_FAULTS),
  };
}

function verdictOf({ id, priority }: Criterion, result: Omit<EventOf<"result">, "kind"> | undefined): Verdict {
  if (result === undefined) return { id, priority, outcome: "not checked", by: "nothing", evidence: "the time for page checks was over" };
  const { errors, notes } = result;
  const parts = result.outcome === "proven" ? [result.evidence] : [result.evidence, ...errors, ...notes];
  const by = result.outcome === "not checked" ? "nothing" : "browser";
  return { id, priority, outcome: result.outcome, by, evidence: visible(parts.join("; "), MAX_EVIDENCE) };
}

/** A message for a person; some of Chromium need an explanation, because a page opened as a file has no server. */
function shown(said: string): string {
  const message = visible(said, MAX_EVIDENCE);
  const isModule = /Access to script at 'file:.*CORS|module script|Cannot use import statement/i.test(message);
  return isModule ? `${message}. A page opened as a file cannot load ES modules: use classic scripts.` : message;
}
