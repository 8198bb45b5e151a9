import { onAbort } from "../../kernel/abort.ts";

/**
 * The watchers of runs in one process. It owns the functions that wake them.
 *
 * Watchers.V1 (`watch`) a watcher gets at least one value after each growth; several growths that it has not seen are one value.
 */
export class Watchers {
  readonly #byRun = new Map<string, Set<() => void>>();

  /** Wakes the watchers of a run: it has grown, or is gone. */
  grew(runId: string): void {
    for (const wake of this.#byRun.get(runId) ?? []) wake();
  }

  allGrew(): void {
    for (const runId of this.#byRun.keys()) this.grew(runId);
  }

  /** Yields at the start and after growth, until the signal aborts or the run is gone. @param isThere returns false for a run that is gone */
  async *watch(runId: string, signal: AbortSignal, isThere: () => boolean): AsyncGenerator<void, void> {
    if (signal.aborted) return;
    let hasGrown = true;
    let proceed = (): void => {};
    const wake = (): void => {
      hasGrown = true;
      proceed();
    };
    const letGo = onAbort(signal, wake);
    this.#add(runId, wake);
    try {
      while (!signal.aborted && isThere()) {
        if (!hasGrown) await new Promise<void>((resolve) => (proceed = resolve));
        else {
          hasGrown = false;
          yield;
        }
      }
    } finally {
      letGo();
      this.#remove(runId, wake);
    }
  }

  #add(runId: string, wake: () => void): void {
    const known = this.#byRun.get(runId);
    if (known === undefined) this.#byRun.set(runId, new Set([wake]));
    else known.add(wake);
  }

  #remove(runId: string, wake: () => void): void {
    const known = this.#byRun.get(runId);
    known?.delete(wake);
    if (known?.size === 0) this.#byRun.delete(runId);
  }
}
