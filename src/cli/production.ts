import { join } from "node:path";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { listed, thrownText } from "../kernel/value-text.ts";
import { formatUsd } from "../model/money.ts";
import type { ActEnded, RunResumed } from "../runtime/record/event.ts";
import { roundsOf, type RunState } from "../runtime/record/run-state.ts";
import { turnCount } from "../runtime/record/turn-count.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Run } from "../team/run.ts";
import { KEPT_FOLDER } from "../workspace/kept-files.ts";
import type { RecordedFiles } from "../workspace/recorded-files.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { aboutFor } from "./about.ts";
import type { CommitReport } from "./agent-work.ts";
import { type Company, openCompany, provesProduct, workerOf, worksInNamedFolder } from "./company.ts";
import { type ErrorReport, errorReport } from "./error-report.ts";
import type { ExitCode } from "./errors.ts";
import { folderName } from "./host.ts";
import type { ChosenModel } from "./model-settings.ts";
import { type ChangeReport, nextSteps, type ResultReport, resultReport } from "./report.ts";
import { plural } from "./screen/amounts.ts";
import type { Progress } from "./screen/progress.ts";
import { printSummary } from "./screen/summary.ts";
import { shown } from "./screen/text.ts";
import { printError, type Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";
import { sealOf, type Store } from "./store.ts";
import { shortIdIn } from "./stored-run.ts";

export interface Production {
  readonly settings: CompanySettings;
  readonly chosen: ChosenModel;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly store: Store;
  readonly runId: string;
  /** The earlier part of a run that continues; undefined: it begins. */
  readonly past: EarlierPart | undefined;
  readonly prepare?: (company: Company) => Promise<void>;
  readonly begin: (company: Company) => Run;
}

export interface EarlierPart {
  readonly progress: Progress;
  /** Micro-dollars of calls with unknown cost, counted in full. */
  readonly held: number;
  /** The files that the folder has already, as the record tells them; undefined: none. */
  readonly files: RecordedFiles | undefined;
  readonly rounds: number;
}

/** Returns the rounds of the turns before the one that continues. @param isTold true where a message begins a new turn */
export function earlierRounds(state: RunState, isTold: boolean): number {
  return roundsOf(state) - (isTold ? 0 : turnCount(state).rounds);
}

export interface NewRun extends Pick<Production, "settings" | "chosen" | "sandbox" | "folder" | "store"> {
  readonly idea: string;
}

export function newRun({ host, interruptions }: Session, parts: NewRun): Production {
  const { idea, settings, store } = parts;
  const { rounds } = settings;
  const runId = freshRunId(host.clock.now());
  let about: Json = null;
  return {
    ...parts,
    runId,
    past: undefined,
    prepare: async ({ agent }) => {
      about = aboutFor({ ...parts, settings: { ...settings, agent }, version: host.version, seal: await sealOf(store, runId) });
    },
    begin: ({ team }) => team.run(idea, { id: runId, rounds, signal: interruptions.signal, about }),
  };
}

export async function produce(session: Session, production: Production): Promise<ExitCode> {
  const { store, past } = production;
  const company = await openCompany(session, { ...production, journal: store.journal, past: past?.files });
  try {
    return await produced(session, production, company);
  } finally {
    await company.close();
  }
}

async function produced(session: Session, production: Production, company: Company): Promise<ExitCode> {
  const { screen, host, interruptions } = session;
  const { settings, chosen, store, runId, past } = production;
  await store.ready();
  await production.prepare?.(company);
  const folder = folderName(host, production.folder);
  const short = await shortIdIn(store.journal, runId);
  screen.say(screen.style.faint(`${boundsText(production, folder)}, run ${shown(short)}`));
  const { git } = company.workspace;
  if (git.kind === "none" && !worksInNamedFolder(settings)) {
    const why =
      company.existing?.place.kind === "folder"
        ? `Nothing is committed, for ${company.existing.place.reason}; what files of yours held is kept in ${KEPT_FOLDER}.`
        : `The project keeps no history: ${git.reason}.`;
    screen.say(screen.style.warn(shown(why)));
  }

  const rounds = settings.rounds + (past?.rounds ?? 0);
  const isAgent = settings.agent !== undefined;
  const isTold = workerOf(settings) !== "company";
  const watchAgent = isTold ? (await import("./agent-work.ts")).watchAgent : undefined;
  const run = production.begin(company);
  screen.watch(run, {
    rounds: isAgent ? Infinity : rounds,
    isTold,
    budget: chosen.budget,
    profiles: new Map(company.roles.map((role) => [role.name, role.profile])),
    ...(past === undefined ? {} : { progress: past.progress }),
  });
  watchAgent?.(session, run);
  if (settings.crew.kind === "software-company" && settings.crew.approve === "plan") run.on("act.ended", sayIfNoPlan(session));
  run.on("run.resumed", (event) => warnOfUncertain(session, event));
  const stopping = (): void => sayStopping(session);
  interruptions.signal.addEventListener("abort", stopping, { once: true });
  const report = await finished(session, production, company, run, short);
  interruptions.signal.removeEventListener("abort", stopping);
  const { budget, model } = chosen;
  await printSummary(session, report, { folder, run: short, roundLimit: rounds, budget, model });
  return interruptions.first === "pipe" ? 0 : report.exitCode;
}

function boundsText({ chosen, settings, sandbox }: Production, folder: string): string {
  const { budget, text } = chosen;
  const cap = budget === undefined ? "no cap: the price is not known" : `${formatUsd(budget)} at most`;
  const tests = `${settings.agent === undefined ? "tests" : "commands"} ${testsPlan(settings, sandbox)}`;
  return [shown(text), cap, boundsOf(settings), tests, shown(folder)].join(", ");
}

export function boundsOf({ agent, rounds }: Pick<CompanySettings, "agent" | "rounds">): string {
  if (agent === undefined) return `${rounds} rounds`;
  return agent.plan === true ? `a plan, ${agent.steps} steps for each of its steps` : `${agent.steps} steps`;
}

export function testsPlan(settings: Pick<CompanySettings, "runTests">, sandbox: Sandbox): string {
  if (!settings.runTests) return "not run (--no-run-tests)";
  if (sandbox.kind === "bubblewrap") return "run in bubblewrap";
  return sandbox.kind === "none" ? "run without isolation" : "not run";
}

/** Tells at the end of the triage that a product of size S has no design, so that nobody waits to be asked for a yes. */
function sayIfNoPlan({ screen }: Session): (event: ActEnded) => void {
  let isTold = false;
  return ({ said }) => {
    const isSmall = said.some(({ message: { instructContent } }) => {
      const { kind, size } = (instructContent ?? {}) as { readonly kind?: unknown; readonly size?: unknown };
      return kind === "order" && size === "S";
    });
    if (!isSmall || isTold) return;
    isTold = true;
    screen.say(screen.style.warn("This product is of size S, which has no plan: nothing is asked, in spite of --approve plan."));
  };
}

function sayStopping({ interruptions, screen }: Session): void {
  if (interruptions.first === "pipe") return;
  screen.say(screen.style.warn("Stopping, and keeping what is there. Ctrl-C again ends at once."));
}

/** Reports the calls that were in flight when the process died: nobody knows whether they were billed, and they are made again. */
function warnOfUncertain({ screen }: Session, { uncertain }: RunResumed): void {
  const paid = uncertain.filter(({ hold }) => hold > 0);
  if (paid.length === 0) return;
  const amount = formatUsd(paid.reduce((sum, { hold }) => sum + hold, 0));
  const [calls, was] = [plural(paid.length, "model call"), paid.length === 1 ? "was" : "were"];
  screen.say(screen.style.warn(`${calls} ${was} in flight when the run was cut off: counted in full (${amount}) until asked again.`));
}

async function finished(session: Session, production: Production, company: Company, run: Run, short: string): Promise<ResultReport> {
  const { json, screen, host, interruptions } = session;
  const { chosen, settings, folder: out, store, past } = production;
  let held = past?.held ?? 0;
  run.on("step.ended", ({ basis, cost }) => (held += basis === "hold" ? (cost ?? 0) : 0));
  if (json !== undefined) for await (const event of run) await json.write(event);
  const result = await run.result;
  screen.end();
  sayKept(session, production, company);
  const { messages, error, status } = result;
  // Without a message nothing happened: the journal or the team refused to run.
  if (messages.length === 0 && (error instanceof JournalError || error instanceof UsageError)) throw error;
  const describe = (thrown: unknown): ErrorReport => errorReport(thrown, host.env);
  const { isScripted, budget } = chosen;
  const report = resultReport(result, {
    out,
    files: await filesOf(session, company),
    isScripted,
    worstCase: held + result.uncertain,
    interruption: interruptions.first,
    describe,
    store: store.path,
    next: nextSteps(result, { short, store, budget, isForced: settings.force }),
    by: workerOf(settings),
    proves: provesProduct(settings),
    output: company.output,
    ...(await committed(session, production, company, result)),
    ...(await finishedChange(session, production, company, result)),
  });
  // The summary shows the questions of a run that waits.
  const isTold =
    status === "stopped" || status === "moved" || (status === "waiting" && json === undefined) || interruptions.first === "pipe";
  if (error !== undefined && !isTold) await printError(session, describe(error));
  return report;
}

const NAMED = 5;

function sayKept({ screen, host }: Session, { folder }: Production, { workspace }: Company): void {
  const { kept } = workspace;
  if (kept.length === 0) return;
  const names = listed(
    kept.map(({ path }) => shown(path)),
    NAMED,
  );
  const place = shown(join(folderName(host, folder), KEPT_FOLDER));
  screen.say(screen.style.warn(`${plural(kept.length, "file")} of yours had to make room: ${names}. What they held is kept in ${place}.`));
}

/** Commits the changes of an agent that has finished. A failure of git is a warning: the result is printed anyway. */
async function committed(
  { host, screen, interruptions }: Session,
  { runId }: Production,
  { workspace, agent }: Company,
  { status, messages }: RunResult,
): Promise<{ readonly commit?: CommitReport }> {
  if (agent === undefined || status !== "finished") return {};
  const { commitWork } = await import("./agent-work.ts");
  const task = messages[0]?.content ?? "";
  try {
    const commit = await commitWork(workspace, agent, { task, runId, date: host.clock.now(), signal: interruptions.signal });
    return commit === undefined ? {} : { commit };
  } catch (error) {
    screen.warn(`The changes are not committed: ${thrownText(error)}`);
    return { commit: { files: 0, note: "not made: git failed, see --verbose" } };
  }
}

/** Characters of the first line of a commit. */
const SUBJECT = 72;

function subjectOf(idea: string): string {
  const [line = ""] = idea.trim().split("\n");
  return line.length <= SUBJECT ? line : `${line.slice(0, SUBJECT - 1).trimEnd()}…`;
}

async function finishedChange(
  { host, screen, interruptions }: Session,
  { runId }: Production,
  { existing }: Company,
  { status, messages }: RunResult,
): Promise<{ readonly change?: ChangeReport }> {
  if (existing === undefined) return {};
  const { place } = existing;
  const branch = place.kind === "folder" ? {} : { branch: place.branch };
  const reason = place.kind === "in place" ? {} : { reason: place.reason };
  const { signal } = interruptions;
  try {
    const request = {
      message: subjectOf(messages[0]?.content ?? ""),
      author: "Troupe",
      date: host.clock.now(),
      trailers: { "Troupe-Run": runId },
      signal,
    };
    const changes = status === "finished" ? await existing.finish(request) : await existing.changes(signal);
    return { change: { place: place.kind, ...branch, ...reason, ...changes } };
  } catch (error) {
    screen.warn(`What was changed cannot be told: ${thrownText(error)}`);
    return {};
  }
}

/** The project's files. A folder that can no longer be read is a warning: the result is printed anyway. */
async function filesOf({ screen }: Session, { workspace }: Company): Promise<readonly string[]> {
  try {
    return await workspace.list();
  } catch (error) {
    screen.warn(`The project's folder cannot be listed: ${thrownText(error)}`);
    return [];
  }
}
