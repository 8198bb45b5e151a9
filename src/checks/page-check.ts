import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { abortReason } from "../kernel/abort.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import { limitText, type Sandbox, type SandboxResult } from "../workspace/sandbox.ts";
import type { Criterion, PageStep } from "./acceptance.ts";
import { findPageMeans, type PageMeans, type PageMeansChoice } from "./page-means.ts";
import { type Opening, type PageRecord, readPageRecord, type StepsResult } from "./page-record.ts";
import { checkRequest, criteriaShape } from "./request.ts";
import type { Fault, Verdict } from "./verification.ts";

/** A page to check, and the steps to do on it. */
export interface PageCheckRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  /** Path of the page in the project. Default `index.html`. */
  readonly open?: string | undefined;
  /** Those with page steps are played; the others are ignored. */
  readonly criteria: readonly Criterion[];
  /** Milliseconds for everything. Default 180,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Path of a Chromium, Chrome or Edge. Default: the environment's `CHROME_PATH`, else the places where systems have them. */
  readonly browser?: string | undefined;
  /** A browser, or a DOM without one. Default `auto`: a browser if there is one. */
  readonly means?: PageMeansChoice | undefined;
  /** True asks for a picture of the opened page. Default false. */
  readonly picture?: boolean | undefined;
  /** Limits of single waits. Default {@link defaultPageTimes}. */
  readonly times?: Partial<PageTimes> | undefined;
}

/** Milliseconds of single waits on a page. */
export interface PageTimes {
  /** A step waits so long for its element, or for what it expects, and then as long for an answer of the page. Default 5,000, as in Playwright's `expect`. */
  readonly step: number;
  /** A page is loaded after so long, with all it needs. Default 10,000. */
  readonly load: number;
  /** All steps of a criterion. Default 40,000. */
  readonly criterion: number;
}

/** The defaults of {@link PageTimes}. */
export const defaultPageTimes: PageTimes = { step: 5_000, load: 10_000, criterion: 40_000 };

const pageCheckRequest: Known<PageCheckRequest> = {
  root: kinds.text,
  sandbox: kinds.sandbox,
  open: kinds.text,
  criteria: kinds.list(kinds.object),
  timeout: kinds.milliseconds,
  signal: kinds.signal,
  browser: kinds.text,
  means: kinds.text,
  picture: kinds.boolean,
  times: kinds.record(kinds.milliseconds),
};

/** The results of a page's checks. Plain JSON but for the picture. */
export interface PageReport {
  readonly by: "browser" | "dom" | "nothing";
  /** One for each criterion with page steps, in their order. */
  readonly verdicts: readonly Verdict[];
  /** Errors of the page, of kind `page`, each once: uncaught errors, `console.error`, own files that did not load, an empty page. */
  readonly faults: readonly Fault[];
  /** Why nothing was run, with the user's remedy. */
  readonly notChecked?: string | undefined;
  /** PNG of 1280 x 800 pixels. */
  readonly picture?: Uint8Array | undefined;
}

const TIMEOUT = 180_000;
/** Milliseconds beyond the limit until the driver is killed: it ends by itself, with its report. */
const DRIVER_TIME = 15_000;
/** Milliseconds of one regular expression. */
const RULE_TIME = 500;
const OUTPUT_BYTES = 8 * 1024 ** 2;
const MOST_FAULTS = 20;
const MOST_EVIDENCE = 1_500;

/** The results of a page after some runs of the driver. */
interface Findings {
  opened: Opening | undefined;
  readonly results: Map<string, StepsResult>;
}

/** The criterion has page steps. */
interface PageCriterion {
  readonly criterion: Criterion;
  readonly steps: readonly PageStep[];
}

/**
 * Opens a page of a project as a file, as its user does, and plays the page steps of criteria on it: in Chromium inside the sandbox, else in
 * a DOM there. Each criterion begins with a fresh page and empty storage; `reload` keeps the storage. Nothing is written to the project, no
 * request leaves the sandbox. A page that loops, floods or crashes fails within the time limits and does not spoil other criteria.
 *
 * Chromium needs the package `playwright-core`, the DOM needs `happy-dom`; without either, or with a sandbox that refuses, every verdict is
 * `not checked`, and `notChecked` has the reason. The DOM knows no layout: steps that need one are `not checked`.
 *
 * @throws ControlError when the signal aborts.
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID` for an invalid request.
 * @throws WorkspaceError when the project cannot be copied, `WORKSPACE_PATH` for a page outside the project.
 */
export async function checkPages(request: PageCheckRequest): Promise<PageReport> {
  checkRequest("checkPages", request, pageCheckRequest, { criteria: criteriaShape });
  checkPath(request.open ?? "index.html");
  const { means: choice = "auto", timeout = TIMEOUT, sandbox } = request;
  if (!(timeout > 0)) throw new UsageError("OPTION_INVALID", `Expected timeout in milliseconds above 0, got ${String(timeout)}.`);
  const criteria = request.criteria.flatMap((criterion): PageCriterion[] =>
    criterion.check.kind === "page" ? [{ criterion, steps: criterion.check.steps }] : [],
  );
  const { means, missing } = findPageMeans(sandbox, { choice, browser: request.browser ?? process.env["CHROME_PATH"] });
  const reasons = [...missing];
  for (const one of means) {
    const ran = await runPages(request, criteria, one);
    if (typeof ran !== "string") return reportOf(request, criteria, one, ran);
    reasons.push(ran);
  }
  return nothing(criteria, reasons.join("; "));
}

/** Runs the driver until each criterion has a result: a page that takes the whole driver with it fails, and the driver starts again. */
async function runPages(request: PageCheckRequest, criteria: readonly PageCriterion[], means: PageMeans): Promise<Findings | string> {
  const ends = performance.now() + (request.timeout ?? TIMEOUT);
  const findings: Findings = { opened: undefined, results: new Map() };
  for (let runs = 0; runs <= criteria.length + 1; runs++) {
    const left = criteria.filter(({ criterion }) => !findings.results.has(criterion.id));
    if (findings.opened !== undefined && left.length === 0) break;
    const time = Math.round(ends - performance.now());
    if (time <= 0) break;
    const nonce = randomBytes(16).toString("hex");
    const order = { ...orderOf(request, left, findings), ...means.order, nonce, totalTime: time };
    const result = await runDriver(request, means, order, time + DRIVER_TIME);
    const record = recordOf(result, nonce, request.signal);
    if (typeof record === "string") return record;
    if (record.means === undefined)
      return `${means.by === "browser" ? "Chromium" : "the DOM"} did not start: ${visible(troubleOf(record, result), 500)}`;
    take(record, findings, troubleOf(record, result));
    if (record.isDone) break;
  }
  return findings;
}

async function runDriver(
  { root, sandbox, signal }: PageCheckRequest,
  { script, mounts, limits, order: { blocks } }: PageMeans,
  order: object,
  timeout: number,
): Promise<SandboxResult> {
  const command = ["node", "--input-type=commonjs", "-e", script] as const;
  // Without isolation the temporary folder has a long name, and only this process is sure to be there at the end.
  const link = blocks && process.platform !== "win32" ? `/tmp/troupe-${randomBytes(6).toString("hex")}` : undefined;
  try {
    const input = JSON.stringify({ ...order, link });
    return await sandbox.run({ root, command, input, mounts, limits, timeout, outputLimit: OUTPUT_BYTES, signal });
  } finally {
    if (link !== undefined) await rm(link, { force: true });
  }
}

function orderOf(request: PageCheckRequest, left: readonly PageCriterion[], { opened }: Findings): object {
  const { step, load, criterion: all } = { ...defaultPageTimes, ...request.times };
  return {
    open: request.open ?? "index.html",
    picture: request.picture ?? false,
    skipOpening: opened !== undefined,
    criteria: left.map(({ criterion, steps }) => ({ id: criterion.id, steps })),
    ...{ stepTime: step, loadTime: load, criterionTime: all, ruleTime: RULE_TIME },
  };
}

/** The driver's record, or why there is none and never will be. */
function recordOf(result: SandboxResult, nonce: string, signal: AbortSignal | undefined): PageRecord | string {
  if (result.kind === "aborted") throw signal?.aborted === true ? abortReason(signal) : new AbortedError();
  if (result.kind === "refused") return `${result.reason}. ${result.hint}`;
  return readPageRecord("stdout" in result ? result.stdout : "", nonce);
}

function troubleOf({ trouble }: PageRecord, result: SandboxResult): string {
  if (trouble !== undefined) return trouble;
  switch (result.kind) {
    case "limit":
      return `the page used ${limitText(result)}`;
    case "timeout":
      return "the page did not end in time";
    case "exited":
      return `the program that opens it ended with code ${result.code}: ${result.stderr.trim().slice(0, 300)}`;
    case "signalled":
      return `the program that opens it was ended by ${result.signal}`;
    default:
      return "the program that opens it could not be started";
  }
}

/** Adds a record. What was going on when the driver ended early is at fault. */
function take(record: PageRecord, findings: Findings, trouble: string): void {
  findings.opened ??= record.opened;
  for (const result of record.results) findings.results.set(result.id, result);
  if (record.isDone) return;
  if (record.begun !== undefined)
    findings.results.set(record.begun, { id: record.begun, outcome: "failed", evidence: trouble, errors: [], notes: [] });
  findings.opened ??= { fault: trouble, isDead: true, errors: [], notes: [] };
}

function reportOf(request: PageCheckRequest, criteria: readonly PageCriterion[], { by }: PageMeans, findings: Findings): PageReport {
  const { opened, results } = findings;
  const file = request.open ?? "index.html";
  const atOpening = [...(opened?.fault === undefined ? [] : [opened.fault]), ...(opened?.errors ?? [])].map(shown);
  const atSteps = [...results.values()].flatMap(({ errors }) => errors.map(shown)).filter((message) => !atOpening.includes(message));
  const faults = [
    ...[...new Set(atOpening)].map((message): Fault => ({ kind: "page", file, message })),
    ...[...new Set(atSteps)].map((message): Fault => ({ kind: "page", message })),
  ];
  return {
    by,
    verdicts: criteria.map(({ criterion }) => verdictOf(criterion, results.get(criterion.id), by)),
    faults: faults.slice(0, MOST_FAULTS),
    picture: opened?.picture === undefined ? undefined : Buffer.from(opened.picture, "base64"),
  };
}

function verdictOf({ id, priority }: Criterion, result: StepsResult | undefined, by: "browser" | "dom"): Verdict {
  if (result === undefined) return { id, priority, outcome: "not checked", by: "nothing", evidence: "the time for page checks was over" };
  const { outcome, evidence, errors, notes } = result;
  const parts = [evidence, ...(outcome === "proven" ? [] : errors), ...(outcome === "proven" ? [] : notes)];
  return { id, priority, outcome, by: outcome === "not checked" ? "nothing" : by, evidence: visible(parts.join("; "), MOST_EVIDENCE) };
}

/** A message for a person; some of Chromium need an explanation, because a page opened as a file has no server. */
function shown(said: string): string {
  const message = visible(said, MOST_EVIDENCE);
  const isModule = /Access to script at 'file:.*CORS|module script|Cannot use import statement/i.test(message);
  return isModule ? `${message}. A page opened as a file cannot load ES modules: use classic scripts.` : message;
}

function nothing(criteria: readonly PageCriterion[], reason: string): PageReport {
  const verdicts = criteria.map(({ criterion: { id, priority } }): Verdict => ({
    id,
    priority,
    outcome: "not checked",
    by: "nothing",
    evidence: visible(reason, MOST_EVIDENCE),
  }));
  return { by: "nothing", verdicts, faults: [], notChecked: `No page was opened: ${visible(reason, MOST_EVIDENCE)}` };
}
