import { reportDeath } from "../../adapters/postgres-runs.ts";
import { identityText } from "../../adapters/process-identity.ts";
import { serveHealth } from "../../fleet/health.ts";
import { startWorker } from "../../fleet/worker.ts";
import { onAbort, withTimeout } from "../../kernel/abort.ts";
import { replaceDefaultLogger } from "../../kernel/default-logger.ts";
import type { Logger } from "../../kernel/emit.ts";
import { AbortedError, UsageError } from "../../kernel/errors.ts";
import { defined, isObject } from "../../kernel/value-kind.ts";
import { jsonLogger } from "../../server/json-logger.ts";
import type { ExitCode } from "../errors.ts";
import { type Fleet, fleetAddress, fleetEngine, withFleet, workerFolders } from "../fleet.ts";
import { addressSecrets, secretsIn } from "../host.ts";
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { report, type Session } from "../session.ts";
import { isWorkerChild, type ParentChannel, superviseWorker, toParent } from "../worker-parent.ts";
import { resolve } from "node:path";
import type { RunWorkspaces } from "../../fleet/index.ts";
import { listed, thrownText, valueText } from "../../kernel/value-text.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import type { RunDriver } from "../../team/run-driver.ts";
import type { Team } from "../../team/team.ts";
import { shown } from "../screen/text.ts";
import { importedModule, isFile } from "../text-file.ts";

const MAX_CONCURRENCY = 10_000;
/** Milliseconds until a worker takes runs: some times the patience with a database that is away. */
const START = 300_000;

export async function worker(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const bounds = boundsOf(flags);
  const url = fleetAddress(session, flags);
  fleetEngine(session, flags);
  const { host } = session;
  const { logLevel: level = "info", schema } = flags;
  const keys = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].flatMap((name) => host.env[name] ?? []).filter((key) => key !== "");
  const secrets = [...secretsIn(host.env), ...keys, url, ...addressSecrets(url)];
  const logger = jsonLogger({ level, secrets, clock: host.clock, write: (line) => void host.stderr.write(line) });
  replaceDefaultLogger(logger);
  if (isWorkerChild(host)) {
    // A worker may wait for something that does not keep the process running, such as an idle connection.
    const letGo = host.clock.timer(Number.MAX_SAFE_INTEGER, () => undefined);
    return work(session, flags, { module, bounds, logger }).finally(letGo);
  }
  return superviseWorker(session, logger, (identity) => reportDeath({ url, ...defined({ schema }) }, identity));
}

function boundsOf({ concurrency = "64", tries = 20, grace = 30_000, onTeamChange = "refuse" }: Flags) {
  return { concurrency: wholeNumber("--concurrency", concurrency, MAX_CONCURRENCY), tries, grace, onTeamChange };
}

interface Work {
  readonly module: string;
  readonly bounds: ReturnType<typeof boundsOf>;
  readonly logger: Logger;
}

function work(session: Session, flags: Flags, o: Work): Promise<ExitCode> {
  const { host, interruptions } = session;
  const begin = async (fleet: Fleet): Promise<ExitCode> => {
    const stopping = new AbortController();
    let drain = (): void => stopping.abort(new AbortedError("the worker was asked to end before it took runs"));
    const parent = toParent(() => drain());
    const letGo = onAbort(interruptions.signal, () => drain());
    if (interruptions.signal.aborted) drain();
    try {
      const start = (): ReturnType<typeof startedWorker> => startedWorker(session, flags, o, fleet);
      const { started, teams } = await withTimeout(host.clock, START, "the start of the worker", stopping.signal, start);
      drain = () => void started.drain();
      await worked(session, started, { teams, health: flags.health, parent });
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    } finally {
      letGo();
    }
    parent.drained();
    parent.close();
    return 0;
  };
  return withFleet(session, flags, begin, o.logger);
}

async function startedWorker(session: Session, flags: Flags, { module, bounds, logger }: Work, { journal, driver }: Fleet) {
  const { cwd, clock } = session.host;
  const { workspaces, moving } = await workerFolders(session, flags);
  const teams = await teamsOf(module, cwd, { journal, driver, logger, workspaces });
  const started = await startWorker({ driver, journal, teams, ...bounds, ...defined({ workspaces: moving }), logger, clock });
  return { started, teams: teams.map(({ name }) => name) };
}

async function worked(
  session: Session,
  started: Awaited<ReturnType<typeof startWorker>>,
  { teams, health, parent }: { readonly teams: readonly string[]; readonly health: number | undefined; readonly parent: ParentChannel },
): Promise<void> {
  const probe = health === undefined ? undefined : await serveHealth(started, health);
  try {
    // Before the report: its reader may kill the worker, which is to be started again.
    parent.ready(identityText());
    const facts = { type: "working", pid: process.pid, teams, ...defined({ health: probe?.url }) };
    await report(session, `The worker takes runs of ${teams.join(", ")}.`, facts);
    await started.ended;
  } finally {
    await probe?.close();
  }
}

export interface TeamMeans {
  readonly journal: Journal;
  readonly driver: RunDriver;
  readonly logger: Logger;
  /** The folders of runs, below `--folder`: roles of a run are made with `folderOf(runId)`. */
  readonly workspaces: Pick<RunWorkspaces, "folderOf">;
}

const HINT = "Export functions that return a team: export const writers = ({ journal }) => new Team({ name, roles, model, journal });";

/** Makes the teams of a module: each function that it exports returns a team, also in a list. Other exports are left alone. */
export async function teamsOf(file: string, cwd: string, means: TeamMeans): Promise<readonly Team[]> {
  const path = resolve(cwd, file);
  const name = shown(file, 200);
  if (!(await isFile(path))) throw new UsageError("TEAMS_UNREADABLE", `Expected a module of teams at ${name}, got no such file. ${HINT}`);
  const loaded = await importedModule(path, "a module of teams", "TEAMS_UNREADABLE");
  const makers = Object.entries(loaded).flatMap(([key, given]) => {
    const all: readonly unknown[] = Array.isArray(given) ? given : [given];
    return all.some((one) => isMaker(one) || isTeam(one)) ? all.map((maker) => [key, maker] as const) : [];
  });
  if (makers.length === 0) {
    const names = Object.keys(loaded).map((key) => shown(key, 60));
    throw invalid(`${name} to export functions that return teams`, names.length === 0 ? "nothing" : listed(names, 10));
  }
  const teams: Team[] = [];
  for (const [key, maker] of makers) teams.push(await made(`${name}, export ${shown(key, 60)}`, maker, means));
  return teams;
}

async function made(where: string, maker: unknown, means: TeamMeans): Promise<Team> {
  if (!isMaker(maker)) throw invalid(`a function that returns a team in ${where}`, valueText(maker));
  let team: unknown;
  try {
    team = await maker(means);
  } catch (cause) {
    const text = `Expected a team of ${where}, but its function failed: ${shown(thrownText(cause), 300)}`;
    throw new UsageError("TEAMS_INVALID", text, { cause });
  }
  if (!isTeam(team)) throw invalid(`a team of ${where}`, valueText(team));
  if (team.journal === means.journal) return team;
  throw invalid(`the team of ${where} to have the journal that its function was given`, "another one");
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("TEAMS_INVALID", `Expected ${expected}, got ${got}. ${HINT}`);
}

function isMaker(value: unknown): value is (means: TeamMeans) => unknown {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

/** A module may have another copy of this package than the command. */
function isTeam(value: unknown): value is Team {
  if (!isObject(value)) return false;
  return ["run", "resume", "send", "submit"].every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
