import { resumption } from "./record/apply-steps.ts";
import { errorRecord } from "../kernel/errors.ts";
import { CONTINUES } from "../kernel/run-handle.ts";
import type { Mask } from "../kernel/mask.ts";
import { recordedEnd, type RunEnd, type RunResult, runResult } from "./run-result.ts";
import { overdueTries } from "./record/lost-tries.ts";
import type { RunEvent } from "./record/event.ts";
import { type Claim, type FormerOwner, type Journal, readEvents } from "./record/journal.ts";
import type { OwnedRun, RunLog } from "./record/run-log.ts";
import type { LastSnapshot } from "./snapshot/snapshot.ts";

export interface ClaimedRecord {
  readonly claim: Claim;
  readonly last: LastSnapshot | undefined;
}

export interface OwnRunParts {
  readonly log: RunLog;
  readonly mask: Mask;
  readonly drive: () => Promise<RunEnd>;
  readonly warn: (text: string) => void;
  readonly uncertainAfter: number | undefined;
  /** Continues a known run in the environment made anew. */
  readonly adopt: (events: AsyncIterable<RunEvent>) => Promise<void>;
}

function isContinued(journal: Journal & { readonly [CONTINUES]?: boolean }): boolean {
  return journal[CONTINUES] === true;
}

/**
 * The record of an environment in a journal. It owns the claim of its run.
 *
 * OwnRun.O1 (`#append`) the run is claimed before its first event is written, and after a release before the next one.
 * OwnRun.O2 (`#begin`) a run that has ended, or comes from a journal, continues with `run.resumed`.
 * OwnRun.O3 (`#inTurn`) no release comes between a claim and the append that needs the claim.
 * OwnRun.O4 (`#release`) only a claimed run is released; if the run did not continue here, the next owner learns how the previous
 * owner left it.
 */
export class OwnRun {
  /** The right to write, claimed at the first write. */
  readonly owned: OwnedRun;
  readonly last: LastSnapshot | undefined;
  readonly #journal: Journal;
  readonly #runId: string;
  #isCreated: boolean;
  #claim: Claim | undefined;
  /** The state in which the previous owner left the run, until the run continues. Undefined for a run that began here. */
  #former: FormerOwner | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(journal: Journal, runId: string, found?: ClaimedRecord) {
    this.#journal = journal;
    this.#runId = runId;
    this.#isCreated = found !== undefined;
    this.#claim = found?.claim;
    this.#former = found?.claim.former;
    this.last = found?.last;
    const append: Journal["append"] = async (_id, _epoch, seq, events) => this.#inTurn(async () => this.#append(seq, events));
    const keepSnapshot: Journal["keepSnapshot"] = async (id, _, snapshot) => {
      // After a release the next owner keeps its own.
      if (this.#claim !== undefined) await journal.keepSnapshot?.(id, this.#claim.epoch, snapshot);
    };
    this.owned = { journal: journal.keepSnapshot === undefined ? { append } : { append, keepSnapshot }, epoch: 0 };
  }

  /** Continues the run, records its end and releases it. The result has an error of the journal. */
  async run({ log, mask, drive, warn, adopt, uncertainAfter = Infinity }: OwnRunParts): Promise<RunResult> {
    try {
      if (!this.#isCreated && isContinued(this.#journal)) {
        this.#isCreated = true;
        this.#claim = await this.#journal.claim(this.#runId);
        this.#former = this.#claim.former;
        await adopt(readEvents(this.#journal, this.#runId));
      }
      this.#begin(log, log.now - uncertainAfter);
      return await recordedEnd(log, mask, await drive());
    } catch (error) {
      return runResult(log.state, { reason: "interrupted", failure: { error }, control: undefined }, mask);
    } finally {
      await this.#release().catch((error: unknown) => warn(`The run could not be released: ${errorRecord(error).message}`));
    }
  }

  /** Releases the run once the journal has every published message. @throws JournalError */
  async close(log: RunLog): Promise<void> {
    try {
      await log.durable();
      await log.rest();
    } finally {
      await this.#release();
    }
  }

  #begin(log: RunLog, lostBefore: number): void {
    const former = this.#former;
    this.#former = undefined;
    if (log.state.phase.phase !== "ended" && former === undefined) return;
    for (const event of [...overdueTries(log.state, lostBefore), resumption(log.state, former)]) log.record(event);
  }

  async #release(): Promise<void> {
    await this.#inTurn(async () => {
      const claim = this.#claim;
      this.#claim = undefined;
      const former = this.#former;
      if (claim !== undefined) await this.#journal.release(this.#runId, claim.epoch, former === undefined ? {} : { former });
    });
  }

  async #append(seq: number, events: readonly RunEvent[]): Promise<void> {
    this.#claim ??= await this.#newClaim();
    await this.#journal.append(this.#runId, this.#claim.epoch, seq, events);
  }

  async #newClaim(): Promise<Claim> {
    if (!this.#isCreated) await this.#journal.create(this.#runId);
    this.#isCreated = true;
    return this.#journal.claim(this.#runId);
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    await done;
  }
}
