import { JournalError } from "../../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../../kernel/json.ts";
import type { ClaimOptions } from "./journal.ts";

interface Owner extends Pick<ClaimOptions, "lost" | "command"> {
  readonly epoch: number;
}

/**
 * The owners that claimed their runs through one journal object. It owns their callbacks; the journal owns the epochs.
 *
 * Owners.W1 (`began`) an owner is notified once when its epoch ends, also by a later claim through the same object.
 * Owners.W2 (`ended`, `clear`) an owner that released its run, or whose journal was closed, is not notified.
 */
export class Owners {
  readonly #owners = new Map<string, Owner>();

  has(runId: string): boolean {
    return this.#owners.has(runId);
  }

  /** Stores a claim. If the answers of two claims come in the wrong order, the newer claim counts. */
  began(runId: string, epoch: number, { lost, command }: ClaimOptions): void {
    const before = this.#owners.get(runId);
    if (before !== undefined && before.epoch > epoch) return lost?.();
    this.#owners.set(runId, { epoch, ...(lost && { lost }), ...(command && { command }) });
    before?.lost?.();
  }

  ended(runId: string, epoch: number): void {
    if (this.#owners.get(runId)?.epoch === epoch) this.#owners.delete(runId);
  }

  /** Notifies an owner that its epoch is over; without an epoch the present owner. */
  lose(runId: string, epoch?: number): void {
    const owner = this.#owners.get(runId);
    if (owner === undefined || (epoch !== undefined && owner.epoch !== epoch)) return;
    this.#owners.delete(runId);
    owner.lost?.();
  }

  /** Gives a command to the owner of a run. @throws JournalError `RUN_UNOWNED`, `RUN_OWNED` when the owner takes none; errors of the owner */
  async ask(runId: string, command: Json): Promise<Json> {
    const owner = this.#owners.get(runId);
    if (owner === undefined) throw unowned(runId);
    if (owner.command === undefined) {
      const text = `Expected the owner of run ${runId} to take commands, but it does not. Wait until it has released the run.`;
      throw new JournalError("RUN_OWNED", text, { data: { runId } });
    }
    return jsonRoundTrip(await owner.command(jsonRoundTrip(command)));
  }

  clear(): void {
    this.#owners.clear();
  }
}

export function unowned(runId: string): JournalError {
  const text = `Expected run ${runId} to have a living owner, but it has none. Resume the run, or make the change in it yourself.`;
  return new JournalError("RUN_UNOWNED", text, { data: { runId } });
}
