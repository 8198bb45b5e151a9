import { AbortedError } from "../kernel/errors.ts";

/** A delivery that has not ended. */
export interface JobInHand {
  /** Aborts when the job was cancelled. */
  readonly signal: AbortSignal;
  /** Takes the delivery out of the list. */
  end(): void;
}

interface InHand {
  readonly row: string;
  readonly runId: string;
  readonly abort: AbortController;
}

/**
 * The deliveries of a worker that have not ended. It owns their list.
 *
 * JobsInHand.H1 (`begin`) a row that comes back to the worker while its former delivery goes on is in hand until both have ended.
 * JobsInHand.H2 (`ended`) who waits for the end of all is told when there is none.
 */
export class JobsInHand {
  readonly #all = new Set<InHand>();
  readonly #waiting = new Set<() => void>();

  begin(row: string, runId: string): JobInHand {
    const one = { row, runId, abort: new AbortController() };
    this.#all.add(one);
    return { signal: one.abort.signal, end: () => this.#end(one) };
  }

  get size(): number {
    return this.#all.size;
  }

  /** Resolves when no delivery goes on. */
  async ended(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  has(row: string): boolean {
    return [...this.#all].some((one) => one.row === row);
  }

  /** Aborts the deliveries of a run. */
  cancelRun(runId: string): void {
    for (const one of this.#all) if (one.runId === runId) one.abort.abort(new AbortedError("the job of the run was cancelled"));
  }

  #end(one: InHand): void {
    this.#all.delete(one);
    if (this.#all.size > 0) return;
    for (const tell of this.#waiting) tell();
    this.#waiting.clear();
  }

  /** Aborts the deliveries of the run that a row belongs to. */
  cancelRow(row: string): void {
    for (const one of this.#all) if (one.row === row) this.cancelRun(one.runId);
  }
}
