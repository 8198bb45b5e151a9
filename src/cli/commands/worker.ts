import { reportDeath } from "../../adapters/postgres-runs.ts";
import { identityText } from "../../adapters/process-identity.ts";
import { serveHealth } from "../../fleet/health.ts";
import { startWorker } from "../../fleet/worker.ts";
import { onAbort, withTimeout } from "../../kernel/abort.ts";
import { replaceDefaultLogger } from "../../kernel/default-logger.ts";
import type { Logger } from "../../kernel/emit.ts";
import { AbortedError } from "../../kernel/errors.ts";
import { jsonLogger } from "../../server/json-logger.ts";
import type { ExitCode } from "../errors.ts";
import { type Fleet, fleetAddress, fleetEngine, withFleet, workerFolders } from "../fleet.ts";
import { addressSecrets, type Host, secretsIn } from "../host.ts";
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { report, type Session } from "../session.ts";
import { teamsOf } from "../team-module.ts";
import { isWorkerChild, type ParentChannel, superviseWorker, toParent } from "../worker-parent.ts";

const MAX_CONCURRENCY = 10_000;

/** Most milliseconds until a worker takes runs: some times the patience with a database that is away. */
const START = 300_000;

/** Milliseconds of a timer that never fires. */
const FOR_EVER = Number.MAX_SAFE_INTEGER;

export async function worker(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const choices = choicesOf(flags);
  const url = fleetAddress(session, flags);
  fleetEngine(session, flags);
  const { host } = session;
  const { logLevel: level = "info" } = flags;
  const keys = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].flatMap((name) => host.env[name] ?? []).filter((key) => key !== "");
  const secrets = [...secretsIn(host.env), ...keys, url, ...addressSecrets(url)];
  const logger = jsonLogger({ level, secrets, clock: host.clock, write: (line) => void host.stderr.write(line) });
  replaceDefaultLogger(logger);
  if (isWorkerChild(host)) return kept(host, () => work(session, module, flags, { choices, logger }));
  const died = async (identity: string): Promise<void> => {
    await reportDeath({ url, ...(flags.schema === undefined ? {} : { schema: flags.schema }) }, identity);
  };
  return superviseWorker(session, { logger, died });
}

type WorkerChoices = ReturnType<typeof choicesOf>;

function choicesOf({ concurrency = "64", tries = 20, grace = 30_000, onTeamChange = "refuse", health }: Flags) {
  return {
    concurrency: wholeNumber("--concurrency", concurrency, MAX_CONCURRENCY),
    tries,
    grace,
    onTeamChange,
    health,
  };
}

/**
 * Keeps the process running until the work is done. A worker may wait for something that does not keep it running, such as an idle
 * connection, and Node would end the process then as if the wait could never end.
 */
async function kept<T>({ clock }: Host, begin: () => Promise<T>): Promise<T> {
  const letGo = clock.timer(FOR_EVER, () => undefined);
  try {
    return await begin();
  } finally {
    letGo();
  }
}

type StartedWorker = Awaited<ReturnType<typeof startedWorker>>;

interface Work {
  readonly choices: WorkerChoices;
  readonly logger: Logger;
}

function work(session: Session, module: string, flags: Flags, o: Work): Promise<ExitCode> {
  const { host, interruptions } = session;
  const begin = async (fleet: Fleet): Promise<ExitCode> => {
    const leaving = new AbortController();
    let drain = (): void => leaving.abort(new AbortedError("the worker was asked to end before it took runs"));
    const parent = toParent(() => drain());
    const letGo = onAbort(interruptions.signal, () => drain());
    if (interruptions.signal.aborted) drain();
    try {
      const start = (): Promise<StartedWorker> => startedWorker(session, module, flags, { ...o, fleet });
      const working = await withTimeout(host.clock, START, "the start of the worker", leaving.signal, start);
      drain = () => void working.started.drain();
      await worked(session, working, o.choices, parent);
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    } finally {
      letGo();
    }
    parent.drained();
    parent.close();
    return 0;
  };
  return withFleet(session, flags, begin, o.logger);
}

async function startedWorker(
  session: Session,
  module: string,
  flags: Flags,
  { choices, logger, fleet: { journal, driver } }: Work & { readonly fleet: Fleet },
) {
  const { host } = session;
  const { workspaces, moving } = await workerFolders(session, flags);
  const teams = await teamsOf(module, host.cwd, { journal, driver, logger, workspaces });
  const { health: _health, ...bounds } = choices;
  const stored = moving === undefined ? {} : { workspaces: moving };
  const started = await startWorker({ driver, journal, teams, ...bounds, ...stored, logger, clock: host.clock });
  return { started, teams: teams.map(({ name }) => name) };
}

async function worked(
  session: Session,
  { started, teams }: StartedWorker,
  { health }: WorkerChoices,
  parent: ParentChannel,
): Promise<void> {
  const probe = health === undefined ? undefined : await serveHealth(started, health);
  try {
    // Before the report: whoever reads it may kill the worker, which is to be started again.
    parent.ready(identityText());
    await report(session, `The worker takes runs of ${teams.join(", ")}.`, {
      type: "working",
      pid: process.pid,
      teams,
      ...(probe === undefined ? {} : { health: probe.url }),
    });
    await started.ended;
  } finally {
    await probe?.close();
  }
}
