import { nextMacrotask } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { isOfTheDisk, patiently, unwritable } from "./sqlite-damage.ts";
import type { Database, Outlives } from "./sqlite-database.ts";
import type { FileOptions } from "./sqlite-file.ts";

/** Changes the database inside a transaction that it shares with others. It refuses, by a JournalError, before it changes anything. */
export type Change<T> = (db: Database) => T;

interface Asked {
  readonly change: Change<unknown>;
  readonly outlives: Outlives;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: what is asked in one turn of the event loop goes to the disk in one transaction, in the order asked. It owns the changes
 * that wait; the file is the journal's.
 *
 * C1 a change is resolved only after COMMIT, and one that must outlive the machine when it is on the disk, with all that came before it.
 * C2 a change that is refused harms no other. C3 when a commit fails, every change in it is rejected and nothing of it stays. C4 a record
 * that is damaged fails alone: the others are committed without it.
 * What waits is bounded by who asks: a run asks for its next append when the last one is done.
 */
export class Commits {
  readonly #options: FileOptions;
  readonly #open: () => Promise<Database>;
  #waiting: Asked[] = [];
  #work: Promise<void> | undefined;

  constructor(options: FileOptions, open: () => Promise<Database>) {
    this.#options = options;
    this.#open = open;
  }

  /** @throws JournalError what `change` refuses by; `JOURNAL_FULL`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED` */
  commit<T>(change: Change<T>, outlives: Outlives = "the machine"): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ change, outlives, resolve, reject });
      this.#work ??= this.#drain();
    });
  }

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextMacrotask();
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#together(batch);
    }
    this.#work = undefined;
  }

  async #together(batch: readonly Asked[]): Promise<void> {
    const { file, clock, patience } = this.#options;
    try {
      const db = await this.#open();
      const outlives = batch.every(isOfTheProcess) ? "the process" : "the machine";
      const work = (): (() => void)[] => db.transaction("IMMEDIATE", () => batch.map((asked) => answered(db, asked)), outlives);
      const answers = await patiently(work, clock, patience);
      for (const answer of answers) answer();
    } catch (error) {
      if (batch.length === 1 || isOfTheDisk(error) || error instanceof JournalError) {
        for (const { reject } of batch) reject(unwritable(file, error));
      } else {
        for (const asked of batch) await this.#together([asked]);
      }
    }
  }
}

function isOfTheProcess({ outlives }: Asked): boolean {
  return outlives === "the process";
}

/** What to tell who asked, once the transaction is on the disk. */
function answered(db: Database, { change, resolve, reject }: Asked): () => void {
  try {
    const value = change(db);
    return () => resolve(value as never);
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return () => reject(error);
  }
}
