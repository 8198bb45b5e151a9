import { reportDeath } from "../../adapters/postgres-runs.ts";
import { identityText } from "../../adapters/process-identity.ts";
import { serveHealth } from "../../fleet/health.ts";
import { startWorker } from "../../fleet/worker.ts";
import { onAbort, withTimeout } from "../../kernel/abort.ts";
import { replaceDefaultLogger } from "../../kernel/default-logger.ts";
import type { Logger } from "../../kernel/emit.ts";
import { AbortedError } from "../../kernel/errors.ts";
import { defined } from "../../kernel/value-kind.ts";
import { jsonLogger } from "../../server/json-logger.ts";
import type { ExitCode } from "../errors.ts";
import { type Fleet, fleetAddress, fleetEngine, withFleet, workerFolders } from "../fleet.ts";
import { addressSecrets, secretsIn } from "../host.ts";
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { report, type Session } from "../session.ts";
import { teamsOf } from "../team-module.ts";
import { isWorkerChild, type ParentChannel, superviseWorker, toParent } from "../worker-parent.ts";

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
  return superviseWorker(session, { logger, died: (identity) => reportDeath({ url, ...defined({ schema }) }, identity) });
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
