import { recordedState } from "../runtime/snapshot/snapshot.ts";
import { untilAborted } from "../kernel/abort.ts";
import { aText, takes } from "../kernel/argument.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, JournalError, MovedError, UsageError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { ObserverRegistry, tellObservers } from "../runtime/observers.ts";
import type { Observed, RunEvent } from "../runtime/record/event.ts";
import { type Claim, type ClaimOptions, COMMAND_TIMEOUT, type Journal } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { runResult, type RunResult } from "../runtime/run-result.ts";
import { type Conclude, concluding } from "./drive.ts";
import { isSameMessage, type RunChange } from "./publishing.ts";
import { readEvents } from "./read-events.ts";
import type { RemoteRequest, RemoteRuns } from "./remote-runs.ts";
import type { Reserve } from "./reserve.ts";
import { Run, type RunControls, type RunHost } from "./run.ts";
import type { OnTeamChange } from "./team-change.ts";
import type { ResumeOptions } from "./team-options.ts";
import { takeWarm, type WarmRun } from "./warm-states.ts";

/** The work that drives a run to its end, for now. */
export type RunWork = (controls: RunControls) => Promise<RunResult>;

/** A run that this team owns for the time of some work. */
interface OwnedClaim extends Claim {
  /** Called when this owner has recorded that the run continues. Until then the next claim is told how the owner before left the run. */
  readonly continued: () => void;
}

/** A run that is claimed and read. */
export interface ClaimedRun extends OwnedClaim, WarmRun {
  /** See `ResumeOptions.conclude`. */
  readonly conclude?: Conclude | undefined;
}

/** Options for a change of a run that is not under way here. */
export interface AloneOptions {
  /** They observe the event of the change. */
  readonly observers: ObserverRegistry;
  readonly signal: AbortSignal;
  readonly onTeamChange?: OnTeamChange | undefined;
}

/** Makes a change from outside in a run that is not under way here. */
export type ChangeAlone = <T>(runId: string, change: RunChange<T>, o: AloneOptions) => Promise<T>;

interface OwningOptions extends ClaimOptions {
  /** The run is given back as drained where it aborts for that. */
  readonly signal?: AbortSignal;
  /** Comes before the work. If it rejects, the run was not continued. */
  readonly prepare?: () => Promise<void>;
}

/** How a run is driven. */
export interface DrivenOptions extends Pick<ResumeOptions, "onOwned" | "prepare" | "conclude"> {
  /** Creates the run first. */
  readonly create?: "new" | "new or known";
  /** The idea that the caller has for the run. */
  readonly meant?: Message;
  /** Messages that come with the resume. Those that the owner in another process has published are removed. */
  readonly news?: (Message | string)[];
}

/** The parts of a team that its runs need. */
export interface RunsParts {
  readonly journal: Journal;
  readonly mask: Mask;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Limit on the milliseconds that a command waits for its answer. */
  readonly commandTimeout: number | undefined;
}

interface UnderWay {
  readonly run: Run;
  /** Undefined until the record is read. */
  idea: Message | undefined;
}

/**
 * The runs of a team in its journal. It owns the set of runs that are under way here; the journal owns the records and the right to write.
 *
 * Runs.U1 (`begin`): at most one run of an id is under way.
 * Runs.U2 (`handle`): the result of a run never rejects; an error outside of the roles is in the result too.
 * Runs.U3 (`owning`): a run is claimed before its record is read, and released afterwards. Claims of one run come one after the other.
 * Runs.U4 (`owning`): an owner that did not continue a run, because its team differs for example, hides no death: the next claim is told how
 * the owner before it left the run.
 */
export class Runs {
  readonly #parts: RunsParts;
  readonly #reserve: Reserve;
  readonly #changeAlone: ChangeAlone;
  readonly #underWay = new Map<string, UnderWay>();
  /** The end of the last work on a claimed run. */
  readonly #owned = new Map<string, Promise<void>>();
  #remoteRuns: Promise<RemoteRuns> | undefined;

  constructor(parts: RunsParts, reserve: Reserve, changeAlone: ChangeAlone) {
    this.#parts = parts;
    this.#reserve = reserve;
    this.#changeAlone = changeAlone;
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** Makes a change from outside in a run: in one that is under way here, in one without an owner, or by its owner in another process. */
  async change<T>(id: string, change: RunChange<T>, o: Partial<AloneOptions> = {}): Promise<T> {
    takes("a change of a run", "the id of the run", id, aText);
    const { observers = new ObserverRegistry(), signal = new AbortController().signal, onTeamChange } = o;
    const known = this.#underWay.get(id);
    if (known !== undefined) return untilAborted(known.run.change(change), signal);
    return this.localOrRemote({
      runId: id,
      local: () => this.#changeAlone(id, change, { observers, signal, onTeamChange }),
      command: change.command(this.#parts.mask),
      resultOf: (answer) => change.result(answer),
      signal,
    });
  }

  /** Does something with a run here, or has its owner in another process do it. */
  async localOrRemote<T>(request: RemoteRequest<T>): Promise<T> {
    try {
      return await request.local();
    } catch (error) {
      // A change whose run was taken before it was recorded is not in the record.
      if (!(isOwned(error) || error instanceof MovedError) || this.#parts.journal.command === undefined) throw error;
    }
    return (await this.#remote()).request(request);
  }

  /** Returns the run of that id that is under way, else a new one. With another idea the run fails with `RUN_IDEA_DIFFERS`. */
  launch(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const known = this.#underWay.get(id);
    if (known === undefined) return this.begin(id, signal, work, idea);
    if (idea === undefined || known.idea === undefined || isSameMessage(known.idea, idea, this.#parts.mask)) return known.run;
    const refused = (): Promise<never> => Promise.reject(ideaDiffers(id));
    return this.handle(id, this.#parts.journal, signal, refused, { ...this.#hostOf(id), change: refused });
  }

  /** Starts a new run, even when one of that id is under way: the work of the new run then fails. */
  begin(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const run = this.handle(id, this.#parts.journal, signal, work, this.#hostOf(id));
    if (this.#underWay.has(id)) return run;
    this.#underWay.set(id, { run, idea });
    void run.result.then(() => this.#underWay.delete(id));
    return run;
  }

  /** Returns a run whose events are in `journal`. */
  handle(id: string, journal: Journal, signal: AbortSignal | undefined, work: RunWork, host?: RunHost): Run {
    const drive = async (controls: RunControls): Promise<RunResult> => {
      try {
        return await work(controls);
      } catch (error) {
        const isStopped = error instanceof ControlError;
        const end = { failure: isStopped ? undefined : { error }, control: isStopped ? error : undefined };
        return runResult(new RunState(id), { reason: "interrupted", ...end }, this.#parts.mask);
      }
    };
    return new Run(id, journal, signal, drive, host);
  }

  #hostOf(id: string): RunHost {
    return {
      change: (change, observers, onTeamChange) => this.change(id, change, { observers, onTeamChange }),
      keep: (name, role) => this.#reserve.keep(id, name, role),
      warn: (text, observers) => {
        this.#parts.logger.warn(text);
        this.#report({ type: "warning", text }, observers);
      },
    };
  }

  /** Claims and reads a run in order to drive it. One that another process owns is followed there, until it can be claimed. */
  async drive(controls: RunControls, o: DrivenOptions, work: (run: ClaimedRun) => Promise<RunResult>): Promise<RunResult> {
    const { id, signal, lost } = controls;
    const { onOwned = "follow", news = [], meant } = o;
    if (o.create !== undefined) await this.#create(id, o.create);
    let isOurs = false;
    const prepare = async (): Promise<void> => {
      isOurs = true;
      controls.enter(undefined);
      await o.prepare?.({ signal });
    };
    const begin = async (claim: OwnedClaim): Promise<RunResult> =>
      concluding(o.conclude, async (conclude) => work({ ...(await this.#read(id, claim, signal)), conclude }));
    const drive = async (): Promise<RunResult | undefined> => {
      try {
        return await this.#owning(id, begin, { signal, lost, take: onOwned === "take", prepare });
      } catch (error) {
        if (isOurs || onOwned === "refuse" || !isOwned(error) || this.#parts.journal.command === undefined) throw error;
        return undefined;
      }
    };
    const isMeant = (idea: Message): void => {
      this.#noteIdea(id, idea);
      if (meant !== undefined && !isSameMessage(idea, meant, this.#parts.mask)) throw ideaDiffers(id);
    };
    return (await drive()) ?? (await this.#remote()).follow({ controls, news, meant: isMeant, drive });
  }

  /** Claims and reads a run for the time of the work. @throws JournalError when it cannot be read; ControlError when the signal aborts */
  claimed<T>(id: string, signal: AbortSignal, work: (run: ClaimedRun) => Promise<T>): Promise<T> {
    return this.#owning(id, async (claim) => work(await this.#read(id, claim, signal)));
  }

  /** @throws JournalError `RUN_EXISTS` */
  async #create(id: string, as: "new" | "new or known"): Promise<void> {
    try {
      await this.#parts.journal.create(id);
    } catch (error) {
      if (as === "new" || !isCode(error, "RUN_EXISTS")) throw error;
    }
  }

  /** Claims a run for the time of the work. @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED` */
  async #owning<T>(id: string, work: (claim: OwnedClaim) => Promise<T>, { signal, prepare, ...o }: OwningOptions = {}): Promise<T> {
    const { journal } = this.#parts;
    const before = this.#owned.get(id);
    let free = (): void => {};
    const mine = new Promise<void>((resolve) => (free = resolve));
    this.#owned.set(id, mine);
    try {
      if (before !== undefined) await before;
      const claim = await journal.claim(id, { ...o, command: async (given) => (await this.#remote()).execute(id, given) });
      let hasContinued = false;
      try {
        await prepare?.();
        return await work({ ...claim, continued: () => (hasContinued = true) });
      } finally {
        const drained = signal?.reason instanceof MovedError && signal.reason.isDrained;
        await journal.release(id, claim.epoch, hasContinued ? { drained } : { former: claim.former });
      }
    } finally {
      if (this.#owned.get(id) === mine) this.#owned.delete(id);
      free();
    }
  }

  async #read(id: string, claim: OwnedClaim, signal: AbortSignal): Promise<ClaimedRun> {
    const { journal } = this.#parts;
    const read = (from: number): AsyncIterable<RunEvent> => readEvents(journal, id, { from, signal });
    const found: WarmRun = (await takeWarm(journal, id, read)) ?? (await recordedState(journal, id, read));
    if (found.state.idea !== undefined) this.#noteIdea(id, found.state.idea);
    return { ...claim, ...found };
  }

  #noteIdea(id: string, idea: Message): void {
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) underWay.idea = idea;
  }

  #report(observed: Observed, observers: ObserverRegistry): void {
    tellObservers(observers, observed, this.#parts);
  }

  /** Loaded when another process owns a run, or gives a command for one. */
  #remote(): Promise<RemoteRuns> {
    const { commandTimeout = COMMAND_TIMEOUT, ...parts } = this.#parts;
    return (this.#remoteRuns ??= import("../fleet/remote-runs.ts").then(({ remoteRuns }) =>
      remoteRuns({
        ...parts,
        commandTimeout,
        reserve: this.#reserve,
        change: (id, change) => this.change(id, change),
        find: (id) => this.#underWay.get(id)?.run,
        report: (observed, observers) => this.#report(observed, observers),
      }),
    ));
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof JournalError && error.code === code;
}

/** True for the refusal of a claim because another owner has the run. */
function isOwned(error: unknown): boolean {
  return isCode(error, "RUN_OWNED");
}

/** Returns the error for an answer to a question of a run that has not come to rest. */
export function answeredUnderWay(runId: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected a run that waits, but ${runId} is under way. Answer when it has ended as waiting.`);
}

/** Returns the error for another idea than that of a known run. It does not show the ideas: they can be long or private. */
export function ideaDiffers(runId: string): JournalError {
  return new JournalError(
    "RUN_IDEA_DIFFERS",
    `Expected the idea that run ${runId} was begun with, got another. Give the new idea an id of its own, or continue the run: resume("${runId}").`,
    { data: { runId } },
  );
}
