import type { FleetDriver } from "../team/run-driver.ts";
import { engineDriver } from "./driver-works.ts";
import { GraphileQueue, type LoadGraphile } from "./graphile-queue.ts";
import { GraphileWork } from "./graphile-work.ts";
import { optionalPackage } from "./optional-package.ts";
import { type PostgresOptions, postgresServer } from "./postgres-server.ts";

export type { PostgresOptions } from "./postgres-server.ts";

/**
 * Delivers runs by a queue in Postgres, over the package `graphile-worker`: Postgres alone is enough for a fleet. The tables of the queue are in
 * a schema of their own, `schema` with `_queue` behind it. Each worker holds an advisory lock on a connection of its own while it lives; the jobs
 * of a worker whose lock is free are free again within about two seconds. Behind a pooler such as PgBouncer that needs its mode `session`. The
 * packages `pg` and `graphile-worker` are loaded at the first use; without one, that call throws UsageError `PACKAGE_MISSING`. Other errors of
 * the database have the codes `DRIVER_UNREACHABLE` and `DRIVER_REFUSED`.
 *
 * @throws UsageError `POSTGRES_URL_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { graphileDriver } from "troupe/graphile";
 *
 * export const driver = graphileDriver({ url: "postgres://troupe@127.0.0.1:5432/troupe" });
 * await driver.close();
 */
export function graphileDriver(options: PostgresOptions): FleetDriver {
  const server = postgresServer("graphileDriver", options);
  const queue = new GraphileQueue(server, loaded);
  return engineDriver({
    submit: (job) => queue.submit(job),
    start: (handler, o) => GraphileWork.start(queue, handler, o),
    cancel: (runId) => queue.cancel(runId),
    list: (limit) => queue.list(limit),
    workers: () => queue.workers(),
    drain: (worker) => queue.notify({ drain: worker ?? true }),
    release: () => queue.database.close(),
  });
}

const loaded: LoadGraphile = () => optionalPackage("graphile-worker", "0.17.3", () => import("graphile-worker"));
