import { isCount, isRecord } from "../kernel/value-kind.ts";
import type { ConnectedWorker } from "../team/run-driver.ts";
import { type RestateServer, WORKER } from "./restate-server.ts";

export interface RestatePresence {
  readonly id: string;
  readonly since: number;
  jobs(): number;
  drain(): void;
}

/** A worker that the server lists. It may be gone. */
interface ListedWorker {
  readonly id: string;
  readonly deployment: string;
  readonly address: string;
  readonly uri: string;
  readonly listed: number;
}

/** Milliseconds until a question to a worker is given up. The server tries for ten seconds to reach a machine that has vanished. */
const FOUND_GONE = 15_000;

/**
 * Returns the workers that the server did not find gone. The tables answer for one that does not: it may be busy, and the server may be
 * starting. The server lists a dead worker until another one begins.
 */
export async function connectedWorkers(server: RestateServer): Promise<readonly ConnectedWorker[]> {
  const listed = await listedWorkers(server);
  const answers = await Promise.all(listed.map(({ id }) => server.askWorker(id, "look", FOUND_GONE).catch(() => undefined)));
  const calls = answers.includes(undefined) ? await callsInHand(server) : [];
  const workers = listed.flatMap((worker, index): readonly ConnectedWorker[] => {
    const { id, address } = worker;
    const answer = answers[index];
    if (answer === undefined) return [{ id, address, since: worker.listed, jobs: jobsOf(worker, calls) }];
    const { since, jobs } = isRecord(answer.value) ? answer.value : {};
    return isCount(since) && isCount(jobs) ? [{ id, address, since, jobs }] : [];
  });
  return workers.sort((one, other) => one.since - other.since);
}

export async function drainWorkers(server: RestateServer, worker: string | undefined): Promise<void> {
  const listed = (await listedWorkers(server)).filter(({ id }) => worker === undefined || id === worker);
  await Promise.all(listed.map(({ id }) => server.askWorker(id, "drain").catch(() => undefined)));
}

/** Removes workers that the server cannot call any more from its list, so that the list stays as long as the fleet is large. */
export async function forgetDeadWorkers(server: RestateServer): Promise<void> {
  const forget = async ({ id, deployment }: ListedWorker): Promise<void> => {
    // No answer in time proves nothing: the server, or the network, may be slow.
    const answer = await server.askWorker(id, "look", FOUND_GONE).catch(() => undefined);
    if (answer?.isGone === true) await server.remove(deployment);
  };
  await Promise.all((await listedWorkers(server)).map(forget));
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

type CallsInHand = readonly (readonly [uri: string, count: number])[];

async function callsInHand(server: RestateServer): Promise<CallsInHand> {
  const rows = await server.rows(
    `SELECT d.endpoint AS uri, count(*) AS calls FROM sys_invocation i JOIN sys_deployment d ON d.id = i.pinned_deployment_id
     WHERE i.status <> 'completed' GROUP BY d.endpoint`,
  );
  return rows.map(({ uri, calls }) => [String(uri), Number(calls)]);
}

function jobsOf({ uri: own }: ListedWorker, calls: CallsInHand): number {
  const beside = own.slice(0, own.lastIndexOf("/") + 1);
  return calls.reduce((sum, [uri, count]) => (uri !== own && uri.startsWith(beside) ? sum + count : sum), 0);
}
