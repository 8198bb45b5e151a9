import type { RunResult } from "../runtime/run-result.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { formatUsd } from "../model/money.ts";
import type { RunResumed } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { type Company, folderName, openCompany } from "./company.ts";
import { type CommitReport, commitWork } from "./agent-commit.ts";
import { workerOf } from "./crew.ts";
import { type ToldError, toldError } from "./errors.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ChosenModel } from "./model-choice.ts";
import { nextSteps } from "./next-steps.ts";
import { type ResultReport, resultReport } from "./report.ts";
import { shortId } from "./run-id.ts";
import type { Progress } from "./screen/progress.ts";
import { plural, shown } from "./screen/text.ts";
import { type Session, tellError } from "./session.ts";
import type { CompanySettings } from "./settings.ts";
import type { Store } from "./store.ts";
import { tellAgent } from "./tell-agent.ts";
import { tellResult } from "./tell-result.ts";

/** Everything that was chosen before a company works. */
export interface Production {
  readonly settings: CompanySettings;
  readonly chosen: ChosenModel;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly store: Store;
  readonly runId: string;
  /** What a run that goes on has behind it; undefined: it begins. */
  readonly past: Past | undefined;
  /** Done once the folder and the store are open, and before the run begins. */
  readonly prepare?: (company: Company) => Promise<void>;
  /** Begins the run, or goes on with it. */
  readonly begin: (company: Company) => Run;
}

/** What happened before. */
export interface Past {
  readonly progress: Progress;
  /** Micro-dollars of calls that are counted in full because nobody told what they cost. */
  readonly held: number;
  /** Whether the folder has its files already. */
  readonly hasFiles: boolean;
}

/**
 * Lets a company work, shows it, and tells what came of it.
 *
 * @throws WorkspaceError, UsageError when the folder cannot be used
 * @throws JournalError when the run cannot begin or go on
 */
export async function produce(session: Session, production: Production): Promise<ExitCode> {
  const { store, past } = production;
  const company = await openCompany(session, { ...production, journal: store.journal, isGoingOn: past?.hasFiles === true });
  try {
    return await produced(session, production, company);
  } finally {
    await company.close();
  }
}

async function produced(session: Session, production: Production, company: Company): Promise<ExitCode> {
  const { screen, host, interruptions } = session;
  const { settings, chosen, folder, store, runId, past } = production;
  await store.ready();
  await production.prepare?.(company);
  const place = folderName(host, folder);
  const short = shortId(
    runId,
    (await store.journal.runs()).map((run) => run.runId),
  );
  screen.say(screen.style.faint(`${boundsText(production, place)}, run ${shown(short)}`));
  const { git } = company.workspace;
  if (git.kind === "none" && !isSent(settings)) screen.say(screen.style.warn(`The project keeps no history: ${shown(git.reason)}.`));

  const run = production.begin(company);
  const profiles = new Map(company.roles.map((role) => [role.name, role.profile]));
  const isAgent = workerOf(settings) === "agent";
  screen.watch(run, {
    rounds: isAgent ? Infinity : settings.rounds,
    isTold: isAgent,
    budget: chosen.budget,
    profiles,
    ...(past === undefined ? {} : { progress: past.progress }),
  });
  if (isAgent) tellAgent(session, run);
  run.on("run.resumed", (event) => tellUncertain(session, event));
  interruptions.signal.addEventListener("abort", () => tellStopping(session), { once: true });
  const report = await finished(session, production, company, run, short);
  await tellResult(session, report, { settings, chosen, place, short });
  return interruptions.first === "pipe" ? 0 : report.exitCode;
}

/** What a run may do, in one line. */
function boundsText(production: Production, place: string): string {
  const { chosen } = production;
  const { budget, text } = chosen;
  const cap = budget === undefined ? "no cap: the price is not known" : `${formatUsd(budget)} at most`;
  return [shown(text), cap, ...workText(production), shown(place)].join(", ");
}

function workText({ settings, sandbox }: Production): readonly string[] {
  return [boundsOf(settings), `${settings.agent === undefined ? "tests" : "commands"} ${testsPlan(settings, sandbox)}`];
}

/** What binds a run besides its money. */
export function boundsOf({ agent, rounds }: Pick<CompanySettings, "agent" | "rounds">): string {
  return agent === undefined
    ? `${rounds} rounds`
    : agent.plan === true
      ? `a plan, ${agent.steps} steps for each of its steps`
      : `${agent.steps} steps`;
}

/** Where the project's tests will run, in a few words. */
export function testsPlan(settings: Pick<CompanySettings, "runTests">, sandbox: Sandbox): string {
  if (!settings.runTests) return "not run (--no-run-tests)";
  if (sandbox.kind === "bubblewrap") return "run in bubblewrap";
  return sandbox.kind === "none" ? "run without isolation" : "not run";
}

function tellStopping({ interruptions, screen }: Session): void {
  if (interruptions.first === "pipe") return;
  screen.say(screen.style.warn("Stopping, and keeping what is there. Ctrl-C again ends at once."));
}

/** What was in flight when the process died before: nobody knows whether it was paid, and it is asked again. */
function tellUncertain({ screen }: Session, { uncertain }: RunResumed): void {
  const paid = uncertain.filter(({ hold }) => hold > 0);
  if (paid.length === 0) return;
  const amount = formatUsd(paid.reduce((sum, { hold }) => sum + hold, 0));
  const [calls, was] = [plural(paid.length, "model call"), paid.length === 1 ? "was" : "were"];
  screen.say(screen.style.warn(`${calls} ${was} in flight when the run was cut off: counted in full (${amount}), and asked again.`));
}

/** Watches a run to its end; with `--json` every event is printed as it becomes durable. */
async function finished(session: Session, production: Production, company: Company, run: Run, short: string): Promise<ResultReport> {
  const { json, screen, host, interruptions } = session;
  const { chosen, folder: out, store, past } = production;
  let held = past?.held ?? 0;
  run.on("step.ended", ({ basis, cost }) => (held += basis === "hold" ? (cost ?? 0) : 0));
  if (json !== undefined) for await (const event of run) await json.write(event);
  const result = await run.result;
  screen.end();
  const refusal = refusalIn(result);
  if (refusal !== undefined) throw refusal;
  const files = await filesOf(session, company);
  const told = (error: unknown): ToldError => toldError(error, host.env);
  const { isScripted, budget } = chosen;
  const next = nextSteps(result, { short, store, budget, isForced: production.settings.force });
  const facts = {
    out,
    files,
    isScripted,
    worstCase: held + result.uncertain,
    interruption: interruptions.first,
    told,
    store: store.path,
    next,
    by: workerOf(production.settings),
  };
  const report = resultReport(result, { ...facts, ...(await committed(session, production, company, result)) });
  if (result.error !== undefined && result.status !== "stopped" && interruptions.first !== "pipe")
    await tellError(session, told(result.error));
  return report;
}

/** Of an agent that is through, its changes as a commit. What git cannot do hides no result. */
async function committed(
  { host, screen, interruptions }: Session,
  { runId }: Production,
  { workspace, agent }: Company,
  { status, messages }: RunResult,
): Promise<{ readonly commit?: CommitReport }> {
  if (agent === undefined || status !== "finished") return {};
  const { signal } = interruptions;
  const task = messages[0]?.content ?? "";
  try {
    const commit = await commitWork(workspace, agent, { task, runId, date: host.clock.now(), signal });
    return commit === undefined ? {} : { commit };
  } catch (error) {
    screen.warn(`The changes are not committed: ${error instanceof Error ? error.message : String(error)}`);
    return { commit: { files: 0, note: "not made: git failed, see --verbose" } };
  }
}

/** Whether an agent works in a folder that the user named. */
function isSent({ agent, out }: CompanySettings): boolean {
  return agent !== undefined && out !== undefined;
}

/** Nothing happened: the journal or the team refused. That is no result of a run. */
function refusalIn({ messages, error }: RunResult): JournalError | UsageError | undefined {
  return messages.length === 0 && (error instanceof JournalError || error instanceof UsageError) ? error : undefined;
}

/** A folder that can no longer be read must not hide what the run has to say. */
async function filesOf({ screen }: Session, { workspace }: Company): Promise<readonly string[]> {
  try {
    return await workspace.list();
  } catch (error) {
    screen.warn(`The project's folder cannot be listed: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
