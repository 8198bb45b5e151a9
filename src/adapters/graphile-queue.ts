import { TroupeError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { type ConnectedWorker, driverClosed, type JobInfo, parseRunJob, type RunJob } from "../team/run-driver.ts";
import type { TriedJob } from "./driver-works.ts";
import { PostgresDatabase, type Rows } from "./postgres-database.ts";
import { errorsOf, type PostgresPart, type PostgresServer } from "./postgres-server.ts";

export type LoadGraphile = () => Promise<Pick<typeof import("graphile-worker"), "Logger" | "run" | "runMigrations">>;

/** The most tries that the package can count. A job is given up by its handler alone. */
const MAX_ATTEMPTS = 32_767;
const MAX_TEAM = 128;
const MAX_RUN = 512;
/** Seconds that a server must have run: after its start the workers connect again one after the other. */
const SETTLING = 5;

export interface QueueLook {
  /** True when the server has run for so long that every living worker is connected again. */
  readonly isSettled: boolean;
  readonly isHeld: boolean;
  readonly suspects: readonly string[];
  readonly mine: readonly string[];
  readonly cancelled: readonly string[];
  readonly due: number;
}

const driverError = errorsOf("DRIVER", TroupeError);

const PART: PostgresPart = {
  name: "queue",
  version: 1,
  // The jobs are in a schema of the package, which has versions of its own.
  tables: () => "",
  error: (fault, message, o) => (fault === "closed" ? driverClosed() : driverError(fault === "full" ? "refused" : fault, message, o)),
};

/**
 * The statements about the jobs of a Postgres database. `graphile-worker` owns the tables, in the schema `<schema>_queue`. One waiting row stands for
 * a run. GraphileQueue.Q3 (`look`) no job of a living worker becomes free by age. A job goes back only while its worker has it, and never in place of
 * a newer one (`giveBack`). A row whose run a worker has by an older row becomes due when no worker has that one (`#add`, `look`).
 */
export class GraphileQueue {
  readonly database: PostgresDatabase;
  readonly schemaName: string;
  readonly #jobs: string;
  readonly #tasks: string;
  readonly channel: string;
  readonly load: LoadGraphile;
  #migrated: Promise<void> | undefined;

  constructor(server: PostgresServer, load: LoadGraphile) {
    this.database = new PostgresDatabase(PART, server);
    this.schemaName = `${server.schema}_queue`;
    this.#jobs = `"${this.schemaName}"._private_jobs`;
    this.#tasks = `"${this.schemaName}"._private_tasks`;
    this.channel = `${server.schema}_fleet`;
    this.load = load;
  }

  databaseWith(connections: number): PostgresDatabase {
    return new PostgresDatabase(PART, { ...this.database.server, connections });
  }

  async submit(given: RunJob): Promise<void> {
    const job = parseRunJob(given);
    checkLength("the name of a team", job.team, MAX_TEAM);
    checkLength("a run id", job.runId, MAX_RUN);
    await this.migrated();
    await this.#add(this.database.rows, { job, attempts: 0 }, 0);
  }

  /** Gives back the job of a row, to be delivered again. @returns false when another worker has the row, or none; true when it may be removed */
  giveBack(row: { readonly id: string; readonly worker: string }, queued: TriedJob, after: number): Promise<boolean> {
    return this.database.transaction(async (rows) => {
      const [found] = await rows<{ key: string | null; locked_by: string | null }>(
        `SELECT key, locked_by FROM ${this.#jobs} WHERE id = $1 FOR UPDATE`,
        [row.id],
      );
      if (found?.locked_by !== row.worker) return false;
      // Without its key it was cancelled, or submitted anew.
      if (found.key === queued.job.runId) await this.#add(rows, queued, after, row.id);
      return true;
    });
  }

  async cancel(runId: string): Promise<void> {
    await this.migrated();
    await this.database.rows(`SELECT FROM "${this.schemaName}".remove_job($1)`, [runId]);
    await this.notify({ cancel: runId });
  }

  async notify(what: Json): Promise<void> {
    await this.database.rows("SELECT pg_notify($1, $2)", [this.channel, JSON.stringify(what)]);
  }

  async list(limit: number): Promise<readonly JobInfo[]> {
    await this.migrated();
    const rows = await this.database.rows<Omit<JobInfo, "due"> & { readonly due: number | null }>(
      `SELECT j.key AS "runId", t.identifier AS team, j.attempts + coalesce((j.payload->>'attempts')::int, 0) AS attempts,
         CASE WHEN j.locked_by IS NOT NULL OR j.run_at = 'infinity' THEN 'delivered' ELSE 'waiting' END AS state,
         CASE WHEN j.locked_by IS NULL AND j.run_at > now() AND j.run_at < 'infinity' THEN round(extract(epoch FROM j.run_at) * 1000)::float8 END AS due
       FROM ${this.#jobs} j JOIN ${this.#tasks} t ON t.id = j.task_id WHERE j.key IS NOT NULL ORDER BY j.id LIMIT $1`,
      [limit],
    );
    return rows.map(({ due, ...job }) => ({ ...job, ...(due === null ? {} : { due }) }));
  }

  async workers(): Promise<readonly ConnectedWorker[]> {
    await this.migrated();
    return this.database.rows(
      `SELECT split_part(application_name, ' ', 2) AS id, coalesce(host(client_addr), '') AS address,
         round(extract(epoch FROM backend_start) * 1000)::float8 AS since,
         (SELECT count(*)::int FROM ${this.#jobs} WHERE locked_by = split_part(application_name, ' ', 2)) AS jobs
       FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'troupe pool-%'
         AND application_name = left('troupe ' || split_part(application_name, ' ', 2) || ' ' || $1, 63)
       ORDER BY backend_start`,
      [this.schemaName],
    );
  }

  async look(rows: Rows, worker: string, teams: readonly string[], most: number): Promise<QueueLook> {
    const [look] = await rows<QueueLook>(
      `WITH locks AS (
         SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
         WHERE locktype = 'advisory' AND objsubid = 1 AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       ), kept AS (
         UPDATE ${this.#jobs} SET locked_at = now() WHERE locked_by = $1 AND locked_at < now() - interval '1 hour'
       ), freed AS (
         UPDATE ${this.#jobs} j SET run_at = now()
         WHERE j.run_at = 'infinity' AND NOT EXISTS (SELECT FROM ${this.#jobs} o WHERE o.locked_by IS NOT NULL
           AND o.id = ANY (ARRAY(SELECT json_array_elements_text(j.payload->'behind'))::bigint[]))
         RETURNING id
       )
       SELECT now() - pg_postmaster_start_time() > ${SETTLING} * interval '1 second' AS "isSettled",
         EXISTS (SELECT FROM locks WHERE key = hashtextextended($1, 0)) AS "isHeld",
         ARRAY(SELECT DISTINCT locked_by FROM ${this.#jobs}
           WHERE locked_by IS NOT NULL AND hashtextextended(locked_by, 0) NOT IN (SELECT key FROM locks)) AS suspects,
         ARRAY(SELECT id::text FROM ${this.#jobs} WHERE locked_by = $1) AS mine,
         ARRAY(${this.#cancelled}) AS cancelled,
         (SELECT count(*)::int FROM freed) + (SELECT count(*)::int FROM (SELECT FROM ${this.#jobs} j JOIN ${this.#tasks} t ON t.id = j.task_id
           WHERE j.is_available AND j.run_at <= now() AND t.identifier = ANY ($2) LIMIT $3) AS d) AS due`,
      [worker, teams, most],
    );
    return look ?? { isSettled: false, isHeld: false, suspects: [], mine: [], cancelled: [], due: 0 };
  }

  async cancelled(rows: Rows, worker: string): Promise<readonly string[]> {
    return (await rows<{ id: string }>(this.#cancelled, [worker])).map(({ id }) => id);
  }

  async free(rows: Rows, workers: readonly string[]): Promise<void> {
    await rows(`DELETE FROM ${this.#jobs} WHERE locked_by = ANY ($1) AND key IS NULL`, [workers]);
    await rows(`SELECT "${this.schemaName}".force_unlock_workers($1)`, [workers]);
    await rows("SELECT pg_notify('jobs:insert', $1)", [JSON.stringify({ count: 100 })]);
  }

  async freeRows(rows: Rows, worker: string, ids: readonly string[]): Promise<void> {
    const these = "WHERE id = ANY ($1::bigint[]) AND locked_by = $2 AND key IS";
    await rows(`DELETE FROM ${this.#jobs} ${these} NULL`, [ids, worker]);
    await rows(`UPDATE ${this.#jobs} SET locked_by = NULL, locked_at = NULL, attempts = attempts - 1 ${these} NOT NULL`, [ids, worker]);
  }

  migrated(): Promise<void> {
    this.#migrated ??= this.#migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  /** A row without its key was cancelled, unless a newer row stands for the run. */
  get #cancelled(): string {
    return `SELECT j.id::text AS id FROM ${this.#jobs} j WHERE j.locked_by = $1 AND j.key IS NULL
      AND NOT EXISTS (SELECT FROM ${this.#jobs} n WHERE n.key = j.payload->'job'->>'runId')`;
  }

  async #migrate(): Promise<void> {
    const { runMigrations, Logger } = await this.load();
    await this.database.patiently(async (rows) => {
      const lock = [`troupe queue "${this.schemaName}"`];
      // Workers start together, and two of them must not make the tables at the same time.
      await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", lock);
      try {
        const logger = new Logger(() => () => undefined);
        await runMigrations({ connectionString: this.database.server.url, schema: this.schemaName, maxPoolSize: 1, logger });
        await rows(`CREATE INDEX IF NOT EXISTS troupe_locked_by ON ${this.#jobs} (locked_by) WHERE locked_by IS NOT NULL`);
        await rows(`CREATE INDEX IF NOT EXISTS troupe_held ON ${this.#jobs} (id) WHERE run_at = 'infinity'`);
      } finally {
        await rows("SELECT pg_advisory_unlock(hashtextextended($1, 0))", lock);
      }
    });
  }

  /** Adds the row of a job, in place of a waiting one. @param after milliseconds until it is due @param own the row that its worker has */
  async #add(rows: Rows, { job, attempts }: TriedJob, after: number, own = "0"): Promise<void> {
    await rows(
      `WITH before AS (
         SELECT id, locked_by, payload FROM ${this.#jobs} WHERE key = $3 AND id <> $6 FOR UPDATE
       ), behind AS (
         SELECT ARRAY(SELECT id::text FROM before WHERE locked_by IS NOT NULL
           UNION ALL SELECT json_array_elements_text(payload->'behind') FROM before) AS rows
       )
       SELECT FROM behind, "${this.schemaName}".add_job(identifier := $1, job_key := $3, max_attempts := ${MAX_ATTEMPTS},
         payload := json_build_object('job', $2::json, 'attempts', $4::int, 'behind', behind.rows),
         run_at := CASE WHEN behind.rows = '{}' THEN now() + $5 * interval '1 millisecond' ELSE 'infinity' END)`,
      [job.team, JSON.stringify(job), job.runId, attempts, after, own],
    );
  }
}

function checkLength(what: string, text: string, most: number): void {
  if (text.length <= most) return;
  throw new TroupeError("OPTION_INVALID", `Expected ${what} of at most ${most} characters, got ${valueText(text)}. Choose a shorter one.`);
}
