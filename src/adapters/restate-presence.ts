import { isCount, isRecord } from "../kernel/value-kind.ts";
import type { ConnectedWorker } from "../team/run-driver.ts";
import { type RestateServer, WORKER } from "./restate-server.ts";

/** A worker as others see it through the server: a service of its own. */
export interface RestatePresence {
  readonly id: string;
  readonly since: number;
  /** Jobs that it has. */
  jobs(): number;
  /** Called when it is asked to give its runs back and to end. */
  drain(): void;
}

/** A worker that the server has in its list. It may be gone. */
interface ListedWorker {
  readonly id: string;
  readonly deployment: string;
  readonly address: string;
  /** The address at which the server finds it. */
  readonly uri: string;
  /** Milliseconds since 1970 when the server took it into its list. */
  readonly listed: number;
}

/** Milliseconds until a question to a worker is given up. The server tries for ten seconds to reach a machine that has vanished. */
const FOUND_GONE = 15_000;

/**
 * Returns the workers that the server did not find gone. What one that gives no answer would tell is taken from the tables: it may be busy, and
 * the server may be starting. One that died is in the list of the server until another one begins.
 */
export async function connectedWorkers(server: RestateServer): Promise<readonly ConnectedWorker[]> {
  const listed = await listedWorkers(server);
  const answers = await Promise.all(listed.map(({ id }) => server.askWorker(id, "look", FOUND_GONE).catch(() => undefined)));
  const calls = answers.includes(undefined) ? await callsInHand(server) : [];
  const workers = listed.flatMap((worker, at): readonly ConnectedWorker[] => {
    const { id, address } = worker;
    const told = answers[at];
    if (told === undefined) return [{ id, address, since: worker.listed, jobs: jobsOf(worker, calls) }];
    const { since, jobs } = isRecord(told.value) ? told.value : {};
    return isCount(since) && isCount(jobs) ? [{ id, address, since, jobs }] : [];
  });
  return workers.sort((one, other) => one.since - other.since);
}

/** Asks a worker, or all, to drain. One that is gone does not hear it. */
export async function drainWorkers(server: RestateServer, worker: string | undefined): Promise<void> {
  const listed = (await listedWorkers(server)).filter(({ id }) => worker === undefined || id === worker);
  await Promise.all(listed.map(({ id }) => server.askWorker(id, "drain").catch(() => undefined)));
}

/** Takes workers out of the list of the server that it cannot call any more, so that the list stays as long as the fleet is large. */
export async function forgetDeadWorkers(server: RestateServer): Promise<void> {
  const listed = await listedWorkers(server);
  await Promise.all(
    listed.map(async ({ id, deployment }) => {
      // No answer in time says nothing: the server, or the way to it, may be slow.
      const told = await server.askWorker(id, "look", FOUND_GONE).catch(() => undefined);
      if (told?.isGone === true) await server.remove(deployment);
    }),
  );
}

async function listedWorkers(server: RestateServer): Promise<readonly ListedWorker[]> {
  const rows = await server.rows(
    `SELECT s.name AS service, d.id AS deployment, d.endpoint AS uri, d.created_at AS listed
     FROM sys_service s JOIN sys_deployment d ON d.id = s.deployment_id
     WHERE s.name LIKE '${WORKER}%'`,
  );
  return rows.map(({ service, deployment, uri, listed }) => {
    const address = URL.canParse(String(uri)) ? new URL(String(uri)).hostname : "";
    const id = String(service).slice(WORKER.length);
    return { id, deployment: String(deployment), address, uri: String(uri), listed: Date.parse(String(listed)) };
  });
}

/** The calls that workers have begun, counted by the address at which the server finds the handler. */
interface CallsInHand {
  readonly uri: string;
  readonly count: number;
}

async function callsInHand(server: RestateServer): Promise<readonly CallsInHand[]> {
  const rows = await server.rows(
    `SELECT d.endpoint AS uri, count(*) AS calls FROM sys_invocation i JOIN sys_deployment d ON d.id = i.pinned_deployment_id
     WHERE i.status <> 'completed' GROUP BY d.endpoint`,
  );
  return rows.map(({ uri, calls }) => ({ uri: String(uri), count: Number(calls) }));
}

/** The jobs that a worker has: the addresses of its teams are beside its own. */
function jobsOf({ uri: own }: ListedWorker, calls: readonly CallsInHand[]): number {
  const beside = own.slice(0, own.lastIndexOf("/") + 1);
  return calls.reduce((sum, { uri, count }) => (uri !== own && uri.startsWith(beside) ? sum + count : sum), 0);
}
