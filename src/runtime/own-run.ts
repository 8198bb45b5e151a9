import { resumption } from "./record/resumption.ts";
import type { Claim, FormerOwner, Journal } from "./record/journal.ts";
import type { OwnedRun, RunLog } from "./record/run-log.ts";
import type { LastSnapshot } from "./snapshot/snapshot-writer.ts";

/** A run of a journal that was claimed and read. */
export interface ClaimedRecord {
  readonly claim: Claim;
  readonly last: LastSnapshot | undefined;
}

/**
 * The record of an environment in a journal. It owns the claim of its run.
 *
 * OwnRun.O1 (`#claimed`) the run is claimed before its first event is written, and after a release before the next one.
 * OwnRun.O2 (`begin`) a run that has ended, or that was found in a journal, goes on with `run.resumed`.
 */
export class OwnRun {
  /** The right to write, as the log uses it. It is claimed when the log writes first. */
  readonly owned: OwnedRun;
  readonly last: LastSnapshot | undefined;
  readonly #journal: Journal;
  readonly #runId: string;
  #isCreated: boolean;
  #claim: Promise<Claim> | undefined;
  /** How the owner before left the run, until the run goes on. Undefined for a run that began here. */
  #former: FormerOwner | undefined;

  /** @param found undefined for a new run */
  constructor(journal: Journal, runId: string, found?: ClaimedRecord) {
    this.#journal = journal;
    this.#runId = runId;
    this.#isCreated = found !== undefined;
    this.#claim = found && Promise.resolve(found.claim);
    this.#former = found?.claim.former;
    this.last = found?.last;
    const append: Journal["append"] = async (id, _, seq, events) => journal.append(id, (await this.#claimed()).epoch, seq, events);
    const keepSnapshot: Journal["keepSnapshot"] = async (id, _, snapshot) => {
      // After a release the next owner keeps its own.
      if (this.#claim !== undefined) await journal.keepSnapshot?.(id, (await this.#claim).epoch, snapshot);
    };
    this.owned = { journal: journal.keepSnapshot === undefined ? { append } : { append, keepSnapshot }, epoch: 0 };
  }

  /** Records that the run goes on, where it is not at its beginning. */
  begin(log: RunLog): void {
    const former = this.#former;
    this.#former = undefined;
    if (log.state.phase.phase === "ended" || former !== undefined) log.record(resumption(log.state, former));
  }

  /** Gives the run up, so that another process can go on with it. */
  async release(): Promise<void> {
    const claim = await this.#claim;
    this.#claim = undefined;
    if (claim !== undefined) await this.#journal.release(this.#runId, claim.epoch);
  }

  #claimed(): Promise<Claim> {
    return (this.#claim ??= this.#newClaim());
  }

  async #newClaim(): Promise<Claim> {
    if (!this.#isCreated) await this.#journal.create(this.#runId);
    this.#isCreated = true;
    return this.#journal.claim(this.#runId);
  }
}
