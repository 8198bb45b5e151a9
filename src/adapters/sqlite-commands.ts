import { randomUUID } from "node:crypto";
import { withTimeout } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import type { Json } from "../kernel/json.ts";
import { COMMAND_TIMEOUT, type CommandOptions } from "../runtime/record/journal.ts";
import { type Owners, unowned } from "../runtime/record/owners.ts";
import { answerIn, answerText, commandText, MAX_WAITING, tooManyCommands } from "./command-answers.ts";
import { type Database, textOf } from "./sqlite-database.ts";
import { type AskFile, headOf, knownRun, NOBODY } from "./sqlite-runs.ts";
import { idOf } from "./stored-runs.ts";

/** Polling intervals in milliseconds: of an owner for commands, and of a sender for its answer. */
const [OWNER_LOOK, SENDER_LOOK] = [250, 50];
/** Looks of a sender between two checks that the owner lives. */
const LOOKS = 20;

interface Parts {
  readonly clock: Clock;
  readonly owners: Owners;
  readonly ask: AskFile;
  /** As `ask`, in a transaction. */
  readonly commit: AskFile;
  /** True for a run that no living process owns. */
  readonly isFree: (runId: string) => Promise<boolean>;
}

/**
 * Commands for the owners of runs, as rows, with their answers. It owns the runs that this process drives, and the timer of its looks.
 *
 * SqliteCommands.C1 (`takeCommands`) only the newest epoch of a run takes a command, and once. SqliteCommands.C2 (`send`) a sender removes its
 * command when it stops waiting; the next command of the run removes those of dead senders. SqliteCommands.C3 (`putCommand`) at most
 * {@link MAX_WAITING} commands of a run wait. SqliteCommands.C4 (`#answered`, `giveEpoch`) a sender does not wait for an owner that is gone, or that
 * took the command and lost the run. SqliteCommands.C5 (`heed`, `ignore`) the file is looked at only while this process owns a run that takes commands,
 * and the timer keeps no process alive.
 */
export class SqliteCommands {
  readonly #parts: Parts;
  /** The epochs of the runs that take commands. */
  readonly #heeded = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  heed(runId: string, epoch: number): void {
    this.#heeded.set(runId, Math.max(epoch, this.#heeded.get(runId) ?? 0));
    this.#timer ??= setInterval(() => void this.#look(), OWNER_LOOK).unref();
  }

  ignore(runId: string, epoch: number): void {
    if (this.#heeded.get(runId) === epoch) this.#heeded.delete(runId);
    if (this.#heeded.size === 0) this.close();
  }

  close(): void {
    this.#heeded.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async send(runId: string, command: Json, o: CommandOptions): Promise<Json> {
    const { signal = new AbortController().signal, timeout = COMMAND_TIMEOUT } = o;
    const { clock, owners, ask, commit } = this.#parts;
    return withTimeout(clock, timeout, `an answer of the owner of run ${runId}`, signal, async (within) => {
      const { epoch } = await ask((db) => knownRun(db, runId));
      if (owners.has(runId)) return owners.ask(runId, command);
      if (epoch === NOBODY) throw unowned(runId);
      const [id, text, now] = [randomUUID(), commandText(command), clock.now()];
      await commit((db) => putCommand(db, runId, [id, text], now, now + timeout));
      try {
        return await this.#answered(id, runId, within);
      } finally {
        // The row expires if this fails.
        commit((db) => db.run("DELETE FROM commands WHERE id = ?", [id])).catch(() => undefined);
      }
    });
  }

  async #answered(id: string, runId: string, within: AbortSignal): Promise<Json> {
    for (let looks = 1; ; looks += 1) {
      const row = await this.#parts.ask((db) => db.first("SELECT CAST(answer AS BLOB) FROM commands WHERE id = ?", [id]));
      if (row === undefined) throw unowned(runId);
      const answer = textOf(row[0]);
      if (answer !== undefined) return answerIn(answer);
      if (looks % LOOKS === 0 && (await this.#parts.isFree(runId))) throw unowned(runId);
      await sleep(this.#parts.clock, SENDER_LOOK, within);
    }
  }

  /** Ignores a read error: the next append of the owner reports the fault, and the command stays for a later look. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, ask, commit } = this.#parts;
    try {
      for (const runId of await ask(runsWithCommands)) {
        const epoch = this.#heeded.get(runId);
        if (epoch === undefined) continue;
        for (const command of await commit((db) => takeCommands(db, runId, epoch, clock.now()))) void this.#answer(runId, command);
      }
    } catch {
      return;
    } finally {
      this.#isLooking = false;
    }
  }

  async #answer(runId: string, [id, text]: Command): Promise<void> {
    const answer = await answerText(this.#parts.owners, runId, text);
    // A sender that gets no answer has its own time limit.
    await this.#parts.commit((db) => db.run("UPDATE commands SET answer = ? WHERE id = ?", [answer, id])).catch(() => undefined);
  }
}

type Command = readonly [id: string, text: string];

function putCommand(db: Database, runId: string, [id, text]: Command, now: number, expires: number): void {
  const { number } = knownRun(db, runId);
  const waiting = db.first("SELECT count(*) FROM commands WHERE number = ? AND expires >= ?", [number, now])?.[0];
  if (Number(waiting) >= MAX_WAITING) throw tooManyCommands(runId);
  db.run("DELETE FROM commands WHERE number = ? AND expires < ?", [number, now]);
  db.run("INSERT INTO commands (id, number, expires, command) VALUES (?, ?, ?, ?)", [id, number, expires, text]);
}

function runsWithCommands(db: Database): readonly string[] {
  const rows = db.all("SELECT DISTINCT CAST(run AS BLOB) FROM commands JOIN runs USING (number) WHERE commands.epoch IS NULL");
  return rows.flatMap(([run]) => idOf(textOf(run)) ?? []);
}

function takeCommands(db: Database, runId: string, epoch: number, now: number): readonly Command[] {
  const head = headOf(db, runId);
  if (head?.epoch !== epoch) return [];
  const rows = db.all(
    "UPDATE commands SET epoch = ? WHERE number = ? AND epoch IS NULL AND expires >= ? RETURNING CAST(id AS BLOB), CAST(command AS BLOB), rowid",
    [epoch, head.number, now],
  );
  return rows.toSorted(([, , one], [, , other]) => Number(one) - Number(other)).map(([id, text]) => [textOf(id) ?? "", textOf(text) ?? ""]);
}
