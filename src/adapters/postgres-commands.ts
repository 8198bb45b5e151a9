import { randomUUID } from "node:crypto";
import { withTimeout } from "../kernel/abort.ts";
import { sleep } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { COMMAND_TIMEOUT, type CommandOptions } from "../runtime/record/journal.ts";
import { type Owners, unowned } from "../runtime/record/owners.ts";
import { answerIn, answerText, commandText, MAX_WAITING, tooManyCommands } from "./command-answers.ts";
import { hasDied, identityIn } from "./process-identity.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { Presence } from "./postgres-persistent-connection.ts";
import { isOwnerConnected, knownRow, NOBODY, type RunRow } from "./postgres-runs.ts";
import { sessionChannel } from "./postgres-tables.ts";

const LOOK = 1_000;

interface CommandRow {
  readonly id: string;
  readonly number: number;
  readonly sender: string;
  readonly command: string;
}

/**
 * Commands for the owners of runs, as rows, with their answers. It owns the senders that wait in this process. PostgresCommands.C1 (`take`) the owner
 * takes each command once. PostgresCommands.C2 (`send`) a sender removes its command when it stops waiting; the next command of the run removes those
 * of dead senders. PostgresCommands.C3 (`#put`) at most {@link MAX_WAITING} commands of a run wait. PostgresCommands.C4 (`#answered`, `giveEpoch`) a
 * sender does not wait for an owner that is gone, or that took the command and lost the run.
 */
export class PostgresCommands {
  readonly #db: PostgresDatabase;
  readonly #presence: Presence;
  readonly #owners: Owners;
  readonly #waiting = new Map<string, () => void>();

  constructor(db: PostgresDatabase, presence: Presence, owners: Owners) {
    this.#db = db;
    this.#presence = presence;
    this.#owners = owners;
  }

  heard(id: string): void {
    this.#waiting.get(id)?.();
  }

  async send(runId: string, command: Json, o: CommandOptions): Promise<Json> {
    const { signal = new AbortController().signal, timeout = COMMAND_TIMEOUT } = o;
    return withTimeout(this.#db.server.clock, timeout, `an answer of the owner of run ${runId}`, signal, async (within) => {
      const row = await knownRow(this.#db, runId);
      if (row.session === this.#presence.holder) return this.#owners.ask(runId, command);
      await this.#assertReachable(runId, row);
      const id = randomUUID();
      const letGo = this.#presence.connection.keep();
      try {
        await this.#put(id, runId, row, command, timeout);
        return await this.#answered(id, runId, within);
      } finally {
        letGo();
        this.#waiting.delete(id);
        // The row expires if this fails.
        this.#db.rows(`DELETE FROM ${this.#db.schema}.commands WHERE id = $1`, [id]).catch(() => undefined);
      }
    });
  }

  /** Takes the commands for some runs and answers them. A try whose answer was lost has taken rows under the same name. */
  async take(owned: readonly { readonly number: number; readonly runId: string }[]): Promise<void> {
    if (owned.length === 0) return;
    const names = new Map(owned.map(({ number, runId }) => [number, runId]));
    const taken = await this.#db.rows<CommandRow>(
      `UPDATE ${this.#db.schema}.commands SET taken_by = $2
       WHERE number = ANY ($1::integer[]) AND (taken_by IS NULL OR taken_by = $2) AND expires > now()
       RETURNING id, number, sender, command`,
      [[...names.keys()], randomUUID()],
    );
    for (const row of taken) void this.#answer(names.get(row.number) ?? "", row);
  }

  async #assertReachable(runId: string, row: RunRow): Promise<void> {
    const owner = identityIn(row.owner);
    const isGone = row.session === NOBODY || (owner !== undefined && hasDied(owner));
    if (isGone || !(await isOwnerConnected(this.#db, row.session))) throw unowned(runId);
    if (row.takes_commands) return;
    const text = `Expected an owner of run ${runId} that takes commands, but this one takes none. Wait until it has released the run.`;
    throw new JournalError("RUN_OWNED", text, { data: { runId } });
  }

  async #put(id: string, runId: string, { number, session }: RunRow, command: Json, timeout: number): Promise<void> {
    await this.#presence.connection.opened();
    const { schema, server } = this.#db;
    const put = await this.#db.rows(
      `WITH old AS (DELETE FROM ${schema}.commands WHERE number = $2 AND expires < now()),
         put AS (
           INSERT INTO ${schema}.commands (id, number, sender, expires, command)
           SELECT $1, $2, $3, now() + $4 * interval '1 millisecond', $5
           WHERE (SELECT count(*) FROM ${schema}.commands WHERE number = $2 AND expires >= now() AND id <> $1) < ${MAX_WAITING}
           ON CONFLICT (id) DO UPDATE SET sender = excluded.sender RETURNING id
         )
       SELECT pg_notify('${sessionChannel(server.schema, session)}', 'command') FROM put`,
      [id, number, this.#presence.holder, timeout, commandText(command)],
    );
    if (put.length > 0) return;
    throw tooManyCommands(runId);
  }

  async #answered(id: string, runId: string, within: AbortSignal): Promise<Json> {
    const { schema, server } = this.#db;
    for (;;) {
      const woken = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
      const [row] = await this.#db.rows<{ readonly answer: string | null }>(`SELECT answer FROM ${schema}.commands WHERE id = $1`, [id]);
      if (row === undefined) throw unowned(runId);
      if (row.answer !== null) return answerIn(row.answer);
      const run = await knownRow(this.#db, runId);
      await this.#assertReachable(runId, run);
      await Promise.race([woken, sleep(server.clock, LOOK, within)]);
      // The run may have another owner by now, or this one missed the notification.
      await this.#db.rows("SELECT pg_notify($1, 'command')", [sessionChannel(server.schema, run.session)]);
    }
  }

  async #answer(runId: string, { id, sender, command }: CommandRow): Promise<void> {
    const answer = await answerText(this.#owners, runId, command);
    const { schema, server } = this.#db;
    const text = `WITH answered AS (UPDATE ${schema}.commands SET answer = $2 WHERE id = $1 RETURNING id)
      SELECT pg_notify('${sessionChannel(server.schema, sender)}', 'answer ' || id) FROM answered`;
    // A sender that gets no answer has its own time limit.
    await this.#db.rows(text, [id, answer]).catch(() => undefined);
  }
}
