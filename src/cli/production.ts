import type { ChatModel } from "../model/chat-model.ts";
import { formatUsd, type MicroUsd } from "../model/money.ts";
import type { Run } from "../team/run.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { type Company, folderName, openCompany } from "./company.ts";
import { type ToldError, toldError } from "./errors.ts";
import type { ExitCode } from "./exit-code.ts";
import { type ResultReport, resultReport } from "./report.ts";
import { DEFAULT_COLUMNS } from "./screen/live-region.ts";
import { styleFor, wantsColor } from "./screen/style.ts";
import { summaryLines } from "./screen/summary.ts";
import { shown } from "./screen/text.ts";
import { type Session, tellError } from "./session.ts";
import type { CompanySettings } from "./settings.ts";

/** Everything that was chosen before a company begins. */
export interface Production {
  readonly idea: string;
  readonly settings: CompanySettings;
  readonly model: ChatModel;
  /** How the model is told of on the screen. */
  readonly modelText: string;
  readonly isScripted: boolean;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: MicroUsd | undefined;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly secrets: readonly string[];
}

/**
 * Lets a company work on an idea, shows it, and tells what came of it.
 *
 * @throws WorkspaceError, UsageError when the folder cannot be used
 */
export async function produce(session: Session, production: Production): Promise<ExitCode> {
  const { screen, host, interruptions } = session;
  const { settings, budget, folder } = production;
  const company = await openCompany(session, production);
  const place = folderName(host, folder);
  screen.say(screen.style.faint(boundsText(production, place)));
  const { git } = company.workspace;
  if (git.kind === "none") screen.say(screen.style.warn(`The project keeps no history: ${shown(git.reason)}.`));

  const run = company.team.run(production.idea, { rounds: settings.rounds, signal: interruptions.signal });
  screen.watch(run, { rounds: settings.rounds, budget, profiles: new Map(company.roles.map((role) => [role.name, role.profile])) });
  interruptions.signal.addEventListener("abort", () => tellStopping(session), { once: true });
  const report = await finished(session, production, company, run);
  await tellResult(session, production, report, place);
  return interruptions.first === "pipe" ? 0 : report.exitCode;
}

function boundsText({ settings, budget, modelText, sandbox }: Production, place: string): string {
  const cap = budget === undefined ? "no cap: the price is not known" : `${formatUsd(budget)} at most`;
  return [shown(modelText), cap, `${settings.rounds} rounds`, `tests ${testsPlan(settings, sandbox)}`, shown(place)].join(", ");
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

/** Watches a run to its end; with `--json` every event is printed as it becomes durable. */
async function finished(session: Session, production: Production, company: Company, run: Run): Promise<ResultReport> {
  const { json, screen, host, interruptions } = session;
  let worstCase = 0;
  run.on("step.ended", ({ basis, cost }) => (worstCase += basis === "hold" ? (cost ?? 0) : 0));
  if (json !== undefined) for await (const event of run) await json.write(event);
  const result = await run.result;
  screen.end();
  const files = await filesOf(session, company);
  const told = (error: unknown): ToldError => toldError(error, host.env);
  const { isScripted, folder: out } = production;
  const report = resultReport(result, { out, files, isScripted, worstCase, interruption: interruptions.first, told });
  if (result.error !== undefined && result.status !== "stopped" && interruptions.first !== "pipe")
    await tellError(session, told(result.error));
  return report;
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

async function tellResult(session: Session, production: Production, report: ResultReport, place: string): Promise<void> {
  const { host, output, screen, json } = session;
  if (json !== undefined) return json.write(report);
  const { settings, budget, model } = production;
  const isTTY = host.stdout.isTTY === true;
  const style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY }));
  const width = isTTY ? (host.stdout.columns ?? DEFAULT_COLUMNS) - 1 : Infinity;
  const facts = {
    style,
    width,
    folder: place,
    roundLimit: settings.rounds,
    budget,
    modelId: model.id,
    price: model.price,
    age: screen.age,
    warnings: screen.unseenWarnings,
  };
  host.stdout.write(`${summaryLines(report, facts).join("\n")}\n`);
}
