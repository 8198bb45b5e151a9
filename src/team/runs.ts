import { runResult, type RunResult } from "../runtime/run-result.ts";
import { ControlError, JournalError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { apply } from "../runtime/record/apply.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { heard } from "./heard.ts";
import { ideaDiffers, isSameIdea } from "./idea.ts";
import { Run, type RunControls } from "./run.ts";

/** What drives a run to its end, for now. */
export type RunWork = (controls: RunControls) => Promise<RunResult>;

/** What the record of a run leads to. */
export interface ReadRun {
  readonly state: RunState;
  /** Undefined before it was told. */
  readonly idea: Message | undefined;
}

interface UnderWay {
  readonly run: Run;
  /** Undefined as long as only the record knows. */
  idea: Message | undefined;
}

/**
 * The runs of a team in its journal. It owns which of them are under way here; the journal owns what is recorded, and who may write.
 *
 * U1 at most one run of an id is under way. U2 a run's result never rejects: what breaks before or besides the roles is told in it too.
 * U3 the right to write is taken before anything is read, and given back.
 */
export class Runs {
  readonly #journal: Journal;
  readonly #mask: Mask;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(journal: Journal, mask: Mask) {
    this.#journal = journal;
    this.#mask = mask;
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** The run of that id that is under way, else a new one. With another idea than that run's it is one that fails by `RUN_IDEA_DIFFERS`. */
  launch(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const known = this.#underWay.get(id);
    if (known === undefined) return this.begin(id, signal, work, idea);
    if (idea === undefined || known.idea === undefined || isSameIdea(known.idea, idea, this.#mask)) return known.run;
    return this.handle(id, this.#journal, signal, () => Promise.reject(ideaDiffers(id)));
  }

  /** A run of its own, also where one of that id is under way: its work finds out. */
  begin(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const run = this.handle(id, this.#journal, signal, work);
    if (this.#underWay.has(id)) return run;
    this.#underWay.set(id, { run, idea });
    void run.result.then(() => this.#underWay.delete(id));
    return run;
  }

  /** A run whose events are read from a journal that may be another. */
  handle(id: string, journal: Journal, signal: AbortSignal | undefined, work: RunWork): Run {
    return new Run(id, journal, signal, async (controls) => {
      try {
        return await work(controls);
      } catch (error) {
        const isStopped = error instanceof ControlError;
        const end = { failure: isStopped ? undefined : { error }, control: isStopped ? error : undefined };
        return runResult(new RunState(id), { reason: "interrupted", ...end }, this.#mask);
      }
    });
  }

  /** Makes a run in the journal. @throws JournalError `RUN_EXISTS`, unless one that is there shall be gone on with */
  async create(id: string, mayExist: boolean): Promise<void> {
    try {
      await this.#journal.create(id);
    } catch (error) {
      if (!(mayExist && error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
    }
  }

  /** Works on a run as its owner. @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED` */
  async owning<T>(id: string, work: (epoch: number) => Promise<T>): Promise<T> {
    const epoch = await this.#journal.claim(id);
    try {
      return await work(epoch);
    } finally {
      await this.#journal.release(id, epoch);
    }
  }

  /** What a run's record leads to. @throws JournalError when it cannot be read; ControlError when the signal aborts */
  async read(id: string, signal: AbortSignal): Promise<ReadRun> {
    const state = new RunState(id);
    let idea: Message | undefined;
    for await (const event of heard(this.#journal, id, { from: 0, signal })) {
      apply(state, deepFreeze(event));
      if (event.type === "message") idea ??= event.message;
    }
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined && idea !== undefined) underWay.idea = idea;
    return { state, idea };
  }
}
