import { join } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { listed, thrownText } from "../kernel/value-text.ts";
import { formatUsd } from "../model/money.ts";
import type { RunResumed } from "../runtime/record/event.ts";
import { roundsOf, type RunState } from "../runtime/record/run-state.ts";
import { turnCount } from "../runtime/record/turn-count.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Run } from "../team/run.ts";
import { KEPT_FOLDER } from "../workspace/kept-files.ts";
import type { RecordedFiles } from "../workspace/recorded-files.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { aboutFor } from "./about.ts";
import { commitWork, subjectOf, watchAgent } from "./agent-work.ts";
import { type Company, inOutFolder, openCompany, provesProduct, workerOf, worksInNamedFolder } from "./company.ts";
import { type ErrorReport, errorReport } from "./error-report.ts";
import type { ExitCode } from "./errors.ts";
import { folderName } from "./host.ts";
import { keepDocuments } from "./kept-documents.ts";
import type { ChosenModel } from "./model-settings.ts";
import { confirmPaidRun } from "./prompt.ts";
import { type ChangeReport, type CommitReport, nextSteps, type ResultReport, resultReport } from "./report.ts";
import { plural, shown } from "./screen/text.ts";
import type { Progress } from "./screen/progress.ts";
import { printSummary } from "./screen/summary.ts";
import { printError, type Session } from "./session.ts";
import type { AgentSettings, CompanySettings } from "./settings.ts";
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
  /** The files that the folder has already, according to the record; undefined: none. */
  readonly files: RecordedFiles | undefined;
  readonly rounds: number;
}

export function earlierRounds(state: RunState, hasMessage: boolean): number {
  return roundsOf(state) - (hasMessage ? 0 : turnCount(state).rounds);
}

export interface NewRun extends Pick<Production, "settings" | "chosen" | "sandbox"> {
  readonly idea: string;
  readonly name: string;
  readonly isConfirmed: boolean;
}

export function inConfirmedFolder<T>(session: Session, run: NewRun, work: (folder: string) => Promise<T>): Promise<T> {
  const { host, interruptions } = session;
  const { settings, chosen, sandbox, idea, name, isConfirmed } = run;
  const { out, force, agent } = settings;
  return inOutFolder({ cwd: host.cwd, out, name, force }, async (folder) => {
    if (chosen.isPaid && !isConfirmed) {
      await confirmPaidRun(session, {
        idea,
        by: workerOf(settings),
        model: chosen.text,
        budget: chosen.budget,
        bounds: boundsOf(settings),
        folder: folderName(host, folder),
        tests: agent === undefined ? testsPlan(settings, sandbox) : toolsText(agent),
      });
    }
    throwIfAborted(interruptions.signal);
    return work(folder);
  });
}

function toolsText({ tools, allow, mcp }: AgentSettings): string {
  const free = allow.length === 0 ? "" : ` except by ${allow.join(", ")}`;
  const servers = mcp === undefined ? "" : ` and those of the servers in ${mcp}`;
  return `${tools.join(", ")}${servers}; what writes or runs is asked for${free}`;
}

export function newProduction(
  { host, interruptions }: Session,
  parts: Pick<Production, "settings" | "chosen" | "sandbox" | "folder" | "store"> & { readonly idea: string },
): Production {
  const { idea, settings, store } = parts;
  const runId = freshRunId(host.clock.now());
  let about: Json = null;
  return {
    ...parts,
    runId,
    past: undefined,
    prepare: async ({ agent }) => {
      about = aboutFor({ ...parts, settings: { ...settings, agent }, version: host.version, seal: await sealOf(store, runId) });
    },
    begin: ({ team }) => team.run(idea, { id: runId, rounds: settings.rounds, signal: interruptions.signal, about }),
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
  sayUncommitted(session, settings, company);
  const rounds = settings.rounds + (past?.rounds ?? 0);
  const printsWork = workerOf(settings) !== "company" && !session.output.isTalk;
  const run = production.begin(company);
  screen.watch(run, {
    rounds: settings.agent === undefined ? rounds : Infinity,
    isPrinted: printsWork,
    budget: chosen.budget,
    profiles: new Map(company.roles.map((role) => [role.name, role.profile])),
    ...(past === undefined ? {} : { progress: past.progress }),
  });
  if (printsWork) watchAgent(session, run);
  run.on("run.resumed", (event) => warnOfUncertain(session, event));
  showNews(session, run);
  const stopping = (): void => {
    if (interruptions.first !== "pipe") screen.say(screen.style.warn("Stopping, and keeping what is there. Ctrl-C again ends at once."));
  };
  interruptions.signal.addEventListener("abort", stopping, { once: true });
  const report = await finished(session, production, company, run, short);
  interruptions.signal.removeEventListener("abort", stopping);
  const { budget, model } = chosen;
  await printSummary(session, report, { folder, run: short, roundLimit: rounds, budget, model });
  return interruptions.first === "pipe" ? 0 : report.exitCode;
}

function sayUncommitted({ screen }: Session, settings: CompanySettings, { workspace: { git }, existing }: Company): void {
  if (git.kind !== "none" || worksInNamedFolder(settings)) return;
  const why =
    existing?.place.kind === "folder"
      ? `Nothing is committed, for ${existing.place.reason}; what files of yours held is kept in ${KEPT_FOLDER}.`
      : `The project keeps no history: ${git.reason}.`;
  screen.say(screen.style.warn(shown(why)));
}

function boundsText({ chosen, settings, sandbox }: Production, folder: string): string {
  const { budget, text } = chosen;
  const cap = budget === undefined ? "no cap: the price is not known" : `${formatUsd(budget)} at most`;
  const tests = `${settings.agent === undefined ? "tests" : "commands"} ${testsPlan(settings, sandbox)}`;
  return [shown(text), cap, boundsOf(settings), tests, shown(folder)].join(", ");
}

function boundsOf({ agent, rounds }: Pick<CompanySettings, "agent" | "rounds">): string {
  if (agent === undefined) return `${rounds} rounds`;
  return agent.plan === true ? `a plan, ${agent.steps} steps for each of its steps` : `${agent.steps} steps`;
}

function testsPlan(settings: Pick<CompanySettings, "runTests">, sandbox: Sandbox): string {
  if (!settings.runTests) return "not run (--no-run-tests)";
  if (sandbox.kind === "bubblewrap") return "run in bubblewrap";
  return sandbox.kind === "none" ? "run without isolation" : "not run";
}

function showNews({ screen }: Session, run: Run): void {
  const show = (content: string): void => screen.say(screen.style.strong(`Received: ${shown(content, 200)}`));
  const watch = (): unknown => run.on("message", ({ message }) => show(message.content));
  // A run that never began has its error in its result.
  run.started.then(watch, () => undefined);
}

/** Reports the calls that were in flight when the process died: they may have been billed, and they are made again. */
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
  sayKept(session, out, company);
  const { messages, error, status } = result;
  // Without a message nothing happened: the journal or the team refused to run.
  if (messages.length === 0 && (error instanceof JournalError || error instanceof UsageError)) throw error;
  const describe = (thrown: unknown): ErrorReport => errorReport(thrown, host.env);
  const { isScripted, budget } = chosen;
  const report = resultReport(result, {
    out,
    files: (await orWarn(session, "The project's folder cannot be listed", () => company.workspace.list())) ?? [],
    isScripted,
    worstCase: held + result.uncertain,
    interruption: interruptions.first,
    describe,
    store: store.path,
    next: nextSteps(result, { short, store, budget, isForced: settings.force }),
    by: workerOf(settings),
    proves: provesProduct(settings),
    isSpec: settings.crew.kind === "software-company" ? settings.crew.isSpec : undefined,
    output: company.output,
    commit: await committed(session, production, company, result),
    change: await orWarn(session, "The changes cannot be listed", () => finishedChange(session, production, company, result)),
  });
  // The summary shows the questions of a run that waits.
  const isShown =
    status === "stopped" || status === "moved" || (status === "waiting" && json === undefined) || interruptions.first === "pipe";
  if (error !== undefined && !isShown) await printError(session, describe(error));
  return report;
}

/** A failure of git or of the folder is a warning: the result is printed anyway. */
async function orWarn<T>({ screen }: Session, what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    screen.warn(`${what}: ${thrownText(error)}`);
    return undefined;
  }
}

const NAMED = 5;

function sayKept({ screen, host }: Session, folder: string, { workspace: { kept } }: Company): void {
  if (kept.length === 0) return;
  const paths = kept.map(({ path }) => shown(path));
  const place = shown(join(folderName(host, folder), KEPT_FOLDER));
  const files = `${plural(kept.length, "file")} of yours had to make room: ${listed(paths, NAMED)}`;
  screen.say(screen.style.warn(`${files}. What they held is kept in ${place}.`));
}

async function committed(
  session: Session,
  { runId }: Production,
  { workspace, agent }: Company,
  { status, messages }: RunResult,
): Promise<CommitReport | undefined> {
  if (agent === undefined || status !== "finished") return undefined;
  const commit = { task: messages[0]?.content ?? "", runId, date: session.host.clock.now(), signal: session.interruptions.signal };
  const none: { readonly commit: CommitReport | undefined } = { commit: { files: 0, note: "not made: git failed, see --verbose" } };
  const work = async (): Promise<typeof none> => ({ commit: await commitWork(workspace, agent, commit) });
  return ((await orWarn(session, "The changes are not committed", work)) ?? none).commit;
}

async function finishedChange(
  { host, interruptions: { signal } }: Session,
  { runId, folder }: Production,
  { existing }: Company,
  { status, messages }: RunResult,
): Promise<ChangeReport | undefined> {
  if (existing === undefined) return undefined;
  await keepDocuments(folder, messages);
  const { kind, ...place } = existing.place;
  // The newest wish of the user.
  const message = subjectOf(messages.findLast(({ sentFrom }) => sentFrom === "")?.content ?? "");
  const commit = { message, author: "Troupe", date: host.clock.now(), trailers: { "Troupe-Run": runId }, signal };
  const changes = status === "finished" ? await existing.finish(commit) : await existing.changes(signal);
  return { place: kind, ...place, ...changes };
}
