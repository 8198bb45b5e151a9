import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { errorRecord } from "../kernel/errors.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";

/** Milliseconds until a run that found no place tries again. */
const NEXT_TRY = 60_000;

interface Watch {
  readonly questions: readonly PendingQuestion[];
  /** Milliseconds since 1970: deadlines up to here count no more, because the run was resumed after them. */
  readonly after: number;
  readonly resume: () => Promise<unknown>;
}

/**
 * Resumes runs that wait for a person when the deadline of a question passes, so that its default is taken without a request. It owns one timer
 * for each such run, for the earliest deadline of a question with a default; a restart of the server sets them again from the record.
 *
 * Deadlines.D1 (`watch`) a run resumes once the earliest of its deadlines with a default has passed. Deadlines.D2 (`close`) afterwards no run resumes and no timer is set.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #timers = new Map<string, () => void>();
  #isClosed = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  watch(runId: string, { questions, after, resume }: Watch): void {
    this.#timers.get(runId)?.();
    this.#timers.delete(runId);
    const due = questions.flatMap(({ deadline, default: byDefault }) =>
      deadline === undefined || byDefault === undefined ? [] : [deadline],
    );
    const open = due.filter((deadline) => deadline > after);
    if (open.length > 0) this.#wait(runId, Math.max(0, Math.min(...open) - this.#clock.now()), resume);
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #wait(runId: string, ms: number, resume: Watch["resume"]): void {
    if (this.#isClosed) return;
    const cancel = this.#clock.timer(ms, () => {
      this.#timers.delete(runId);
      resume().catch((error: unknown) => {
        const { code, message } = errorRecord(error);
        this.#logger.warn("A run does not resume after the deadline of a question.", { run: runId, code, reason: message });
        if (code === "RUNS_TOO_MANY" && !this.#timers.has(runId)) this.#wait(runId, NEXT_TRY, resume);
      });
    });
    this.#timers.set(runId, cancel);
  }
}
