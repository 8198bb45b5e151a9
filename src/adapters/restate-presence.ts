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
}

/** Returns the workers that answer. One that died is in the list of the server until another one begins. */
export async function connectedWorkers(server: RestateServer): Promise<readonly ConnectedWorker[]> {
  const listed = await listedWorkers(server);
  const asked = listed.map(async ({ id, address }): Promise<readonly ConnectedWorker[]> => {
    const told = await server.askWorker(id, "look").catch(() => undefined);
    const { since, jobs } = isRecord(told?.value) ? told.value : {};
    return isCount(since) && isCount(jobs) ? [{ id, address, since, jobs }] : [];
  });
  return (await Promise.all(asked)).flat().sort((one, other) => one.since - other.since);
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
      const told = await server.askWorker(id, "look").catch(() => undefined);
      if (told?.isGone === true) await server.remove(deployment);
    }),
  );
}

async function listedWorkers(server: RestateServer): Promise<readonly ListedWorker[]> {
  const rows = await server.rows(
    `SELECT s.name AS service, d.id AS deployment, d.endpoint AS uri FROM sys_service s JOIN sys_deployment d ON d.id = s.deployment_id
     WHERE s.name LIKE '${WORKER}%'`,
  );
  return rows.map(({ service, deployment, uri }) => {
    const address = URL.canParse(String(uri)) ? new URL(String(uri)).hostname : "";
    return { id: String(service).slice(WORKER.length), deployment: String(deployment), address };
  });
}
