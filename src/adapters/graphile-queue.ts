import { TroupeError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isCount, isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { driverClosed, type JobInfo, parseRunJob, type RunJob } from "../team/run-driver.ts";
import { type PostgresConnection, PostgresDatabase } from "./postgres-database.ts";
import type { PostgresFault, PostgresPart } from "./postgres-errors.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** The `graphile-worker` package. */
export type Graphile = Pick<typeof import("graphile-worker"), "Logger" | "run" | "runMigrations">;

/** Loads the `graphile-worker` package. */
export type LoadGraphile = () => Promise<Graphile>;

/** The most tries that the package can count. A job is given up by its handler alone. */
const MOST_ATTEMPTS = 32_767;

/** Limits of the package's tables. */
const LONGEST_TEAM = 128;
const LONGEST_RUN = 512;

/** The content of a row of the queue, besides the columns of the package. The row also has `behind`: the ids of the rows that it waits for. */
export interface QueuedJob {
  readonly job: RunJob;
  /** Deliveries before this row was written. */
  readonly attempts: number;
}

/** The look of a worker at the queue. */
export interface QueueLook {
  /** True when the server has run for so long that every living worker is connected again. */
  readonly isSettled: boolean;
  /** True when the lock of the worker that looks is held. */
  readonly isHeld: boolean;
  /** Workers with jobs whose lock nobody holds. */
  readonly suspects: readonly string[];
  /** Rows of the jobs that the worker that looks has in the queue. */
  readonly mine: readonly string[];
  /** Those of them that were cancelled. */
  readonly cancelled: readonly string[];
  /** Jobs that can be delivered now, up to a limit. */
  readonly due: number;
}

/** Seconds that a server must have run: after its start the workers connect again one after the other. */
const SETTLING = 5;

const CODES: Readonly<Record<Exclude<PostgresFault, "closed">, string>> = {
  unreachable: "DRIVER_UNREACHABLE",
  refused: "DRIVER_REFUSED",
  full: "DRIVER_REFUSED",
  newer: "DRIVER_NEWER",
  foreign: "DRIVER_FOREIGN",
};

const PART: PostgresPart = {
  name: "queue",
  // The jobs are in a schema of the package, which has versions of its own.
  steps: [],
  error: (fault, message, { cause, data }) =>
    fault === "closed" ? driverClosed() : new TroupeError(CODES[fault], message, { cause, data: data }),
};

/**
 * The statements about the jobs of a Postgres database. The package `graphile-worker` owns the tables, in the schema `<schema>_queue`.
 *
 * GraphileQueue.Q1 (`submit`) one row that waits stands for a run. GraphileQueue.Q2 (`giveBack`) a job goes back only while its worker has it,
 * and never in place of a newer one. GraphileQueue.Q3 (`look`) the jobs of a worker that lives never become free by age. GraphileQueue.Q4 (`#add`,
 * `look`) a row whose run is in the hand of a worker by an older row is due at no time, and is due at once when no worker has that one. GraphileQueue.Q5
 * (`free`, `freeRows`) an older row that its worker has lost is removed, because the newer one stands for the run.
 */
export class GraphileQueue {
  readonly database: PostgresDatabase;
  /** The quoted schema of the package. */
  readonly schema: string;
  /** The channel on which workers hear of commands. */
  readonly channel: string;
  readonly #load: LoadGraphile;
  #migrated: Promise<void> | undefined;

  constructor(server: PostgresServer, load: LoadGraphile) {
    this.database = new PostgresDatabase(PART, server);
    this.schema = `"${server.schema}_queue"`;
    this.channel = `${server.schema}_fleet`;
    this.#load = load;
  }

  /** The same database with another pool of so many connections, which its caller closes. */
  databaseWith(connections: number): PostgresDatabase {
    return new PostgresDatabase(PART, { ...this.database.server, connections });
  }

  /** The schema of the package, without quotes. */
  get schemaName(): string {
    return `${this.database.server.schema}_queue`;
  }

  /** @throws TroupeError `DRIVER_UNREACHABLE`, `DRIVER_REFUSED`; UsageError `PACKAGE_MISSING`, `OPTION_INVALID` */
  async submit(given: RunJob): Promise<void> {
    const job = parseRunJob(given);
    checkLength("the name of a team", job.team, LONGEST_TEAM);
    checkLength("a run id", job.runId, LONGEST_RUN);
    await this.migrated();
    await this.database.patiently((connection) => this.#add(connection, { job, attempts: 0 }, { after: 0 }));
  }

  /**
   * Gives back the job of a row, to be delivered again.
   *
   * @returns false when another worker has the row, or nobody; true when the row may be removed
   */
  giveBack(row: { readonly id: string; readonly worker: string }, queued: QueuedJob, after: number): Promise<boolean> {
    return this.database.transaction(async (connection) => {
      const [found] = await connection.rows<{ key: string | null; locked_by: string | null }>(
        `SELECT key, locked_by FROM ${this.schema}._private_jobs WHERE id = $1 FOR UPDATE`,
        [row.id],
      );
      if (found?.locked_by !== row.worker) return false;
      // Without its key it was cancelled, or submitted anew.
      if (found.key === queued.job.runId) await this.#add(connection, queued, { after, own: row.id });
      return true;
    });
  }

  async cancel(runId: string): Promise<void> {
    await this.migrated();
    await this.database.rows(`SELECT FROM ${this.schema}.remove_job($1)`, [runId]);
    await this.tell({ cancel: runId });
  }

  /** Tells all workers something. A worker that is not connected does not hear it. */
  async tell(told: Json): Promise<void> {
    await this.database.rows("SELECT pg_notify($1, $2)", [this.channel, JSON.stringify(told)]);
  }

  async list(limit: number): Promise<readonly JobInfo[]> {
    await this.migrated();
    const rows = await this.database.rows<ListedRow>(
      `SELECT j.key, t.identifier, j.locked_by IS NOT NULL OR j.run_at = 'infinity' AS is_delivered,
         j.attempts + coalesce((j.payload->>'attempts')::int, 0) AS attempts,
         CASE WHEN j.locked_by IS NULL AND j.run_at > now() AND j.run_at < 'infinity' THEN round(extract(epoch FROM j.run_at) * 1000)::float8 END AS due
       FROM ${this.schema}._private_jobs j JOIN ${this.schema}._private_tasks t ON t.id = j.task_id
       WHERE j.key IS NOT NULL ORDER BY j.id LIMIT $1`,
      [limit],
    );
    return rows.map(({ key, identifier, is_delivered, attempts, due }) => ({
      runId: key,
      team: identifier,
      state: is_delivered ? "delivered" : "waiting",
      attempts,
      ...(due === null ? {} : { due }),
    }));
  }

  /** The workers of this queue that are connected. */
  async workers(): Promise<readonly { readonly id: string; readonly address: string; readonly since: number; readonly jobs: number }[]> {
    await this.migrated();
    return this.database.rows(
      `SELECT split_part(application_name, ' ', 2) AS id, coalesce(host(client_addr), '') AS address,
         round(extract(epoch FROM backend_start) * 1000)::float8 AS since,
         (SELECT count(*)::int FROM ${this.schema}._private_jobs WHERE locked_by = split_part(application_name, ' ', 2)) AS jobs
       FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'troupe pool-%'
         AND application_name = left('troupe ' || split_part(application_name, ' ', 2) || ' ' || $1, 63)
       ORDER BY backend_start`,
      [this.schemaName],
    );
  }

  /** Looks at the queue over the connection that holds the lock of a worker. */
  async look(
    rows: PostgresConnection["rows"],
    o: { readonly worker: string; readonly teams: readonly string[]; readonly most: number },
  ): Promise<QueueLook> {
    const [look] = await rows<QueueLook>(
      `WITH locks AS (
         SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
         WHERE locktype = 'advisory' AND objsubid = 1 AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       ), kept AS (
         UPDATE ${this.schema}._private_jobs SET locked_at = now() WHERE locked_by = $1 AND locked_at < now() - interval '1 hour'
       ), freed AS (
         UPDATE ${this.schema}._private_jobs j SET run_at = now()
         WHERE j.run_at = 'infinity' AND NOT EXISTS (SELECT FROM ${this.schema}._private_jobs o WHERE o.locked_by IS NOT NULL
           AND o.id = ANY (ARRAY(SELECT json_array_elements_text(j.payload->'behind'))::bigint[]))
         RETURNING id
       )
       SELECT now() - pg_postmaster_start_time() > ${SETTLING} * interval '1 second' AS "isSettled",
         EXISTS (SELECT FROM locks WHERE key = hashtextextended($1, 0)) AS "isHeld",
         ARRAY(SELECT DISTINCT locked_by FROM ${this.schema}._private_jobs
           WHERE locked_by IS NOT NULL AND hashtextextended(locked_by, 0) NOT IN (SELECT key FROM locks)) AS suspects,
         ARRAY(SELECT id::text FROM ${this.schema}._private_jobs WHERE locked_by = $1) AS mine,
         ARRAY(${this.#cancelled}) AS cancelled,
         (SELECT count(*)::int FROM freed) + (SELECT count(*)::int FROM (SELECT FROM ${this.schema}._private_jobs j JOIN ${this.schema}._private_tasks t ON t.id = j.task_id
           WHERE j.is_available AND j.run_at <= now() AND t.identifier = ANY ($2) LIMIT $3) AS d) AS due`,
      [o.worker, o.teams, o.most],
    );
    return look ?? { isSettled: false, isHeld: false, suspects: [], mine: [], cancelled: [], due: 0 };
  }

  /** The rows of a worker whose job was cancelled. */
  async cancelled(rows: PostgresConnection["rows"], worker: string): Promise<readonly string[]> {
    return (await rows<{ id: string }>(this.#cancelled, [worker])).map(({ id }) => id);
  }

  /** Frees the jobs of workers that are gone, and wakes the others. */
  async free(rows: PostgresConnection["rows"], workers: readonly string[]): Promise<void> {
    await rows(`DELETE FROM ${this.schema}._private_jobs WHERE locked_by = ANY ($1) AND key IS NULL`, [workers]);
    await rows(`SELECT ${this.schema}.force_unlock_workers($1)`, [workers]);
    await rows("SELECT pg_notify('jobs:insert', $1)", [JSON.stringify({ count: 100 })]);
  }

  /** Frees rows of a worker that has them in the queue only. */
  async freeRows(rows: PostgresConnection["rows"], worker: string, ids: readonly string[]): Promise<void> {
    const these = "WHERE id = ANY ($1::bigint[]) AND locked_by = $2 AND key IS";
    await rows(`DELETE FROM ${this.schema}._private_jobs ${these} NULL`, [ids, worker]);
    await rows(`UPDATE ${this.schema}._private_jobs SET locked_by = NULL, locked_at = NULL, attempts = attempts - 1 ${these} NOT NULL`, [
      ids,
      worker,
    ]);
  }

  /** The package. @throws UsageError `PACKAGE_MISSING` */
  graphile(): Promise<Graphile> {
    return this.#load();
  }

  /** Makes the tables where they are missing. @throws as {@link submit} */
  migrated(): Promise<void> {
    this.#migrated ??= this.#migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  /** A row without its key was cancelled, unless a newer row stands for the run. */
  get #cancelled(): string {
    return `SELECT j.id::text AS id FROM ${this.schema}._private_jobs j WHERE j.locked_by = $1 AND j.key IS NULL
      AND NOT EXISTS (SELECT FROM ${this.schema}._private_jobs n WHERE n.key = j.payload->'job'->>'runId')`;
  }

  async #migrate(): Promise<void> {
    const { runMigrations, Logger } = await this.graphile();
    const { url } = this.database.server;
    await this.database.patiently(async ({ rows }) => {
      const lock = `troupe queue ${this.schema}`;
      // Workers start together, and two of them must not make the tables at the same time.
      await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", [lock]);
      try {
        const logger = new Logger(() => () => undefined);
        await runMigrations({ connectionString: url, schema: this.schemaName, maxPoolSize: 1, logger });
        await rows(`CREATE INDEX IF NOT EXISTS troupe_locked_by ON ${this.schema}._private_jobs (locked_by) WHERE locked_by IS NOT NULL`);
        await rows(`CREATE INDEX IF NOT EXISTS troupe_held ON ${this.schema}._private_jobs (id) WHERE run_at = 'infinity'`);
      } finally {
        await rows("SELECT pg_advisory_unlock(hashtextextended($1, 0))", [lock]);
      }
    });
  }

  /** Adds the row of a job, which takes the place of a waiting one. @param own the row that the worker which gives the job back has */
  async #add({ rows }: PostgresConnection, { job, attempts }: QueuedJob, { after, own = "0" }: Added): Promise<void> {
    await rows(
      `WITH before AS (
         SELECT id, locked_by, payload FROM ${this.schema}._private_jobs WHERE key = $3 AND id <> $6 FOR UPDATE
       ), behind AS (
         SELECT ARRAY(SELECT id::text FROM before WHERE locked_by IS NOT NULL
           UNION ALL SELECT json_array_elements_text(payload->'behind') FROM before) AS rows
       )
       SELECT FROM behind, ${this.schema}.add_job(identifier := $1, job_key := $3, max_attempts := ${MOST_ATTEMPTS},
         payload := json_build_object('job', $2::json, 'attempts', $4::int, 'behind', behind.rows),
         run_at := CASE WHEN behind.rows = '{}' THEN now() + $5 * interval '1 millisecond' ELSE 'infinity' END)`,
      [job.team, JSON.stringify(job), job.runId, attempts, after, own],
    );
  }
}

interface Added {
  /** Milliseconds until the job is due. */
  readonly after: number;
  readonly own?: string;
}

interface ListedRow {
  readonly key: string;
  readonly identifier: string;
  readonly is_delivered: boolean;
  readonly attempts: number;
  readonly due: number | null;
}

/** @throws UsageError `OPTION_INVALID` for a row that this package did not write */
export function queuedJob(payload: unknown): QueuedJob {
  const { job, attempts } = isRecord(payload) ? payload : { job: undefined, attempts: 0 };
  return { job: parseRunJob(job), attempts: isCount(attempts) ? attempts : 0 };
}

function checkLength(what: string, text: string, most: number): void {
  if (text.length <= most) return;
  throw new TroupeError("OPTION_INVALID", `Expected ${what} of at most ${most} characters, got ${valueText(text)}. Choose a shorter one.`);
}
