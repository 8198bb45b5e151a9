import { aText, takes } from "../kernel/argument.ts";
import { runResult, type RunResult } from "../runtime/run-result.ts";
import { ControlError, JournalError, MovedError, UsageError } from "../kernel/errors.ts";
import { untilAborted } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { Json } from "../kernel/json.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import { type Message, parseMessage } from "../message/message.ts";
import type { Observed, RunEvent } from "../runtime/record/event.ts";
import { type Claim, type ClaimOptions, COMMAND_TIMEOUT, type Journal } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { recordedState } from "../runtime/snapshot/recorded-state.ts";
import { ObserverRegistry, tellObservers } from "../runtime/observers.ts";
import { isOwned, isUnowned, messageIn, type RunCommand } from "./commands.ts";
import { type Conclude, concluding } from "./conclude.ts";
import type { Follower } from "./follow.ts";
import { hiring, isSameMessage, publishing, retiring, type RunChange } from "./publishing.ts";
import { unowned } from "../runtime/record/owners.ts";
import { readEvents } from "./read-events.ts";
import type { Reserve } from "./reserve.ts";
import { type GiveCommand, Run, type RunControls, type RunDoor } from "./run.ts";
import type { OnTeamChange } from "./team-change.ts";
import type { ResumeOptions } from "./team-options.ts";
import { takeWarm, type WarmRun } from "./warm-states.ts";

/** The work that drives a run to its end, for now. */
export type RunWork = (controls: RunControls) => Promise<RunResult>;

/** A run that this team owns for the time of some work. */
export interface OwnedClaim extends Claim {
  /** Says that this owner goes on with the run, and has recorded that. Until then the next claim is told how the owner before left the run. */
  readonly begun: () => void;
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

interface DrivenOptions {
  /** The idea that the caller has for the run. */
  readonly meant?: Message;
  /** Messages that come with the resume. Those that the owner in another process has published are removed. */
  readonly news?: (Message | string)[];
}

function isDrained(signal: AbortSignal | undefined): boolean {
  return signal?.reason instanceof MovedError && signal.reason.isDrained;
}

/** The parts of a team that its runs need. */
export interface RunsParts {
  readonly journal: Journal;
  readonly mask: Mask;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Most milliseconds that a command waits for its answer. */
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
 * Runs.U4 (`owning`): an owner that did not go on with a run, because its team differs for example, hides no death: the next claim is told how
 * the owner before it left the run.
 */
export class Runs {
  readonly #journal: Journal;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #commandTimeout: number;
  readonly #changeAlone: ChangeAlone;
  readonly #reserve: Reserve;
  readonly #underWay = new Map<string, UnderWay>();
  /** The end of the last work on a claimed run. */
  readonly #owned = new Map<string, Promise<void>>();

  constructor({ journal, mask, clock, logger, commandTimeout = COMMAND_TIMEOUT }: RunsParts, reserve: Reserve, changeAlone: ChangeAlone) {
    this.#journal = journal;
    this.#mask = mask;
    this.#clock = clock;
    this.#logger = logger;
    this.#commandTimeout = commandTimeout;
    this.#reserve = reserve;
    this.#changeAlone = changeAlone;
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** Makes a change from outside in a run: in one that is under way here, in one that nobody owns, or by its owner in another process. */
  async change<T>(id: string, change: RunChange<T>, o: Partial<AloneOptions> = {}): Promise<T> {
    takes("a change of a run", "the id of the run", id, aText);
    const { observers = new ObserverRegistry(), signal = new AbortController().signal, onTeamChange } = o;
    const known = this.#underWay.get(id);
    if (known !== undefined) return untilAborted(known.run.change(change), signal);
    const here = (): Promise<T> => this.#changeAlone(id, change, { observers, signal, onTeamChange });
    return this.hereOrThere(id, here, change.command(this.#mask), (answer) => change.result(answer), signal);
  }

  /** Does something with a run here, or gives a command for it to the owner of the run in another process. */
  async hereOrThere<T>(
    id: string,
    here: () => Promise<T>,
    command: RunCommand,
    resultOf: (answer: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await here();
      } catch (error) {
        // A change whose run was taken before it was recorded is not in the record.
        const isThere = isOwned(error) || error instanceof MovedError;
        if (!isThere || this.#journal.command === undefined) throw error;
      }
      try {
        return resultOf(await this.#tellThere(id, command, signal));
      } catch (error) {
        // The owner has left the run between the two calls.
        if (!isUnowned(error) || tries >= MOST_TRIES) throw error;
        await sleep(this.#clock, BETWEEN_OWNERS, signal);
      }
    }
  }

  /** Gives a command to the owner of a run. A change has no secrets; an answer and a reason are words of a user, and may have some. */
  #tellThere(id: string, command: RunCommand, signal: AbortSignal | undefined): Promise<unknown> {
    const told = command.do === "answer" || command.do === "stop" ? masked(this.#mask, command) : command;
    return this.#give(id, told, signal);
  }

  /** As `giveCommand` of `command-wire.ts`, which is loaded here because most runs have their owner in this process. */
  async #give(id: string, command: RunCommand, signal?: AbortSignal): Promise<unknown> {
    const { giveCommand } = await import("./command-wire.ts");
    return giveCommand(this.#journal, id, command, { timeout: this.#commandTimeout, ...(signal === undefined ? {} : { signal }) });
  }

  /** Returns the run of that id that is under way, else a new one. With another idea the run fails with `RUN_IDEA_DIFFERS`. */
  launch(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const known = this.#underWay.get(id);
    if (known === undefined) return this.begin(id, signal, work, idea);
    if (idea === undefined || known.idea === undefined || isSameMessage(known.idea, idea, this.#mask)) return known.run;
    const refused = ideaDiffers(id);
    return this.handle(id, this.#journal, signal, () => Promise.reject(refused), {
      later: () => Promise.reject(refused),
      there: () => Promise.reject(refused),
      keep() {},
      warn: (text, observers) => this.#warn(text, observers),
    });
  }

  /** Starts a new run, even when one of that id is under way: the work of the new run then fails. */
  begin(id: string, signal: AbortSignal | undefined, work: RunWork, idea?: Message): Run {
    const run = this.handle(id, this.#journal, signal, work, {
      later: (change, observers, onTeamChange) => this.change(id, change, { observers, onTeamChange }),
      there: async (change) => change.result(await this.#give(id, change.command(this.#mask))),
      keep: (name, role) => this.#reserve.keep(id, name, role),
      warn: (text, observers) => this.#warn(text, observers),
    });
    if (this.#underWay.has(id)) return run;
    this.#underWay.set(id, { run, idea });
    void run.result.then(() => this.#underWay.delete(id));
    return run;
  }

  /** Returns a run whose events are in `journal`. */
  handle(id: string, journal: Journal, signal: AbortSignal | undefined, work: RunWork, door?: RunDoor): Run {
    const drive = async (controls: RunControls): Promise<RunResult> => {
      try {
        return await work(controls);
      } catch (error) {
        const isStopped = error instanceof ControlError;
        const end = { failure: isStopped ? undefined : { error }, control: isStopped ? error : undefined };
        return runResult(new RunState(id), { reason: "interrupted", ...end }, this.#mask);
      }
    };
    return new Run(id, journal, signal, drive, door);
  }

  /** Creates a run in the journal. @throws JournalError `RUN_EXISTS` unless the run may exist */
  async create(id: string, mayExist: boolean): Promise<void> {
    try {
      await this.#journal.create(id);
    } catch (error) {
      if (!(mayExist && error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
    }
  }

  /** Claims a run for the time of the work. @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED` */
  async owning<T>(id: string, work: (claim: OwnedClaim) => Promise<T>, { signal, prepare, ...o }: OwningOptions = {}): Promise<T> {
    const command = async (given: Json): Promise<Json> =>
      (await import("./command-wire.ts")).obeyed(given, this.#mask, (known) => this.#obey(id, known));
    const before = this.#owned.get(id);
    let free = (): void => {};
    const mine = new Promise<void>((resolve) => (free = resolve));
    this.#owned.set(id, mine);
    try {
      if (before !== undefined) await before;
      const claim = await this.#journal.claim(id, { ...o, command });
      let hasBegun = false;
      try {
        await prepare?.();
        return await work({ ...claim, begun: () => (hasBegun = true) });
      } finally {
        await this.#journal.release(id, claim.epoch, hasBegun ? { drained: isDrained(signal) } : { former: claim.former });
      }
    } finally {
      if (this.#owned.get(id) === mine) this.#owned.delete(id);
      free();
    }
  }

  /** Claims and reads a run for the time of the work. @throws JournalError when it cannot be read; ControlError when the signal aborts */
  claimed<T>(id: string, signal: AbortSignal, work: (run: ClaimedRun) => Promise<T>, o: OwningOptions = {}): Promise<T> {
    return this.owning(id, async (claim) => work(await this.#read(id, claim, signal)), o);
  }

  async #read(id: string, claim: OwnedClaim, signal: AbortSignal): Promise<ClaimedRun> {
    const read = (from: number): AsyncIterable<RunEvent> => readEvents(this.#journal, id, { from, signal });
    const found: WarmRun = (await takeWarm(this.#journal, id, read)) ?? (await recordedState(this.#journal, id, read));
    const { state } = found;
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined && state.idea !== undefined) underWay.idea = state.idea;
    return { ...claim, ...found };
  }

  /**
   * Claims and reads a run in order to drive it. One that another process owns is followed there, until it can be claimed.
   *
   * @param meant the idea that the caller has for the run
   */
  async driven(controls: RunControls, o: ResumeOptions & DrivenOptions, work: (run: ClaimedRun) => Promise<RunResult>): Promise<RunResult> {
    const { id, signal, lost } = controls;
    const { onOwned = "follow" } = o;
    let isOurs = false;
    const prepare = async (): Promise<void> => {
      isOurs = true;
      // Commands for the owner come to this process from the claim on.
      controls.follows(undefined);
      await o.prepare?.({ signal });
    };
    const begin = async (claim: OwnedClaim): Promise<RunResult> =>
      concluding(o.conclude, async (conclude) => work({ ...(await this.#read(id, claim, signal)), conclude }));
    let follower: Follower | undefined;
    try {
      for (;;) {
        try {
          return await this.owning(id, begin, { signal, lost, take: onOwned === "take", prepare });
        } catch (error) {
          if (isOurs || onOwned === "refuse" || !isOwned(error) || this.#journal.command === undefined) throw error;
        }
        if (!(await this.#publishThere(id, signal, o.news))) {
          await sleep(this.#clock, BETWEEN_OWNERS, signal);
          continue;
        }
        const owner: GiveCommand = (command) => this.#tellThere(id, command, signal);
        if (follower === undefined) follower = await this.#follower(controls, owner, o);
        else controls.follows(owner);
        const result = await follower.untilQuiet();
        if (result !== undefined) return result;
      }
    } finally {
      follower?.close();
    }
  }

  /** Has messages published by the owner of a run. @returns false when it has left the run */
  async #publishThere(id: string, signal: AbortSignal, news: (Message | string)[] = []): Promise<boolean> {
    for (let [next] = news; next !== undefined; [next] = news) {
      try {
        await this.#give(id, { do: "publish", message: messageIn(next, this.#mask) }, signal);
      } catch (error) {
        if (isUnowned(error)) return false;
        throw error;
      }
      news.shift();
    }
    return true;
  }

  async #follower(controls: RunControls, owner: GiveCommand, { meant }: DrivenOptions): Promise<Follower> {
    // Loaded here because most programs have one process.
    const { Follower } = await import("./follow.ts");
    const { id } = controls;
    const isMeant = (idea: Message): void => {
      const underWay = this.#underWay.get(id);
      if (underWay !== undefined) underWay.idea = idea;
      if (meant !== undefined && !isSameMessage(idea, meant, this.#mask)) throw ideaDiffers(id);
    };
    const tell = (observed: Observed): void => this.#tell(observed, controls.observers);
    return new Follower({ journal: this.#journal, clock: this.#clock, mask: this.#mask, controls, owner, meant: isMeant, tell });
  }

  #tell(observed: Observed, observers: ObserverRegistry): void {
    tellObservers(observers, observed, { logger: this.#logger, mask: this.#mask });
  }

  #warn(text: string, observers: ObserverRegistry): void {
    this.#logger.warn(text);
    this.#tell({ type: "warning", text }, observers);
  }

  /** Does a command of another process in a run that this one owns. */
  async #obey(id: string, command: RunCommand): Promise<unknown> {
    switch (command.do) {
      case "publish":
        return this.change(id, publishing(newsIn(command.message)));
      case "retire":
        return this.change(id, retiring(command.name));
      case "hire": {
        const role = await this.#reserve.named(command.role, { runId: id, signal: new AbortController().signal });
        await this.change(id, await hiring(role, command.name));
        return this.#reserve.keep(id, command.name, role);
      }
      case "answer":
        // An owner that only makes a change is gone in a moment.
        throw this.isUnderWay(id) ? answeredUnderWay(id) : unowned(id);
      case "stop":
        return this.#runHere(id).stop(command.reason);
      case "pause":
        return this.#runHere(id).pause();
      case "proceed":
        return this.#runHere(id).proceed();
    }
  }

  #runHere(id: string): Run {
    const known = this.#underWay.get(id);
    if (known === undefined) throw unowned(id);
    return known.run;
  }
}

/** Tries of a change whose run gets and loses owners in between. */
const MOST_TRIES = 3;

/** Milliseconds until a run is looked at again whose owner neither takes commands nor lets another one claim it. */
const BETWEEN_OWNERS = 100;

/** Returns a message that came from another process. @throws UsageError `MESSAGE_INVALID` */
function newsIn(given: unknown): Message | string {
  return typeof given === "string" ? given : parseMessage(given);
}

/** Returns the error for an answer to a question of a run that has not come to rest. */
export function answeredUnderWay(runId: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected a run that waits, but ${runId} is under way. Answer when it has ended as waiting.`);
}

/** Returns the error for another idea than that of a known run. It does not show the ideas: they can be long or private. */
export function ideaDiffers(runId: string): JournalError {
  return new JournalError(
    "RUN_IDEA_DIFFERS",
    `Expected the idea that run ${runId} was begun with, got another. Give the new idea an id of its own, or go on with the run: resume("${runId}").`,
    { data: { runId } },
  );
}
