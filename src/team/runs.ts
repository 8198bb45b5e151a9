import { untilAborted } from "../kernel/abort.ts";
import { aText, takes } from "../kernel/argument.ts";
import { systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import { ControlError, JournalError, MovedError, UsageError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import { meterFor } from "../model/ask.ts";
import { runInside } from "../model/meter.ts";
import { ObserverRegistry, tellObservers } from "../runtime/observers.ts";
import type { Observed, RunEvent } from "../runtime/record/event.ts";
import { type ClaimOptions, type Journal, readEvents } from "../runtime/record/journal.ts";
import { type Signal, signalMessage } from "../runtime/record/signals.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { runResult, type RunResult } from "../runtime/run-result.ts";
import { recordedState } from "../runtime/snapshot/snapshot.ts";
import type { Crew, OnTeamChange } from "./crew.ts";
import type { ClaimedRun, TeamParts, TeamRun } from "./drive.ts";
import { isSameMessage, publishing, type RunChange } from "./publishing.ts";
import type { RemoteRequest, RemoteRuns } from "./remote-runs.ts";
import { changeRun, resumeRun } from "./resume.ts";
import type { Reserve, Roster } from "./roster.ts";
import { idleControls, Run, type RunControls } from "./run.ts";
import type { ResumeOptions, SignalOptions } from "./team-options.ts";
import { takeWarm, type WarmRun } from "./warm-states.ts";

type CrewBounds = Omit<Crew, "roles" | "reserve">;

export interface RunRequest {
  readonly id: string;
  readonly options: ResumeOptions;
  readonly create?: "new" | "new or known";
  readonly idea?: Message;
  /** Messages of a resume; those published by an owner in another process are removed. */
  readonly news?: (Message | string)[];
  readonly drive: (run: TeamRun) => Promise<RunResult>;
}

type Work = (controls: RunControls) => Promise<RunResult>;

interface ChangeOptions {
  readonly observers?: ObserverRegistry;
  readonly signal?: AbortSignal | undefined;
  readonly onTeamChange?: OnTeamChange | undefined;
}

interface OwningOptions extends ClaimOptions {
  readonly conclude?: ResumeOptions["conclude"] | undefined;
  readonly signal: AbortSignal;
  /** Called before the record is read. If it rejects, the run is not continued. */
  readonly prepare?: () => Promise<void>;
}

/**
 * The runs of a team in its journal. It owns the set of runs that are under way here; the journal owns the records and the right to write.
 *
 * Runs.U1 (`launch`): at most one run of an id is under way.
 * Runs.U2 (`#outcome`): the result of a run never rejects; an error outside of the roles is in the result too.
 * Runs.U3 (`claimed`): a run is claimed before its record is read, and released afterwards. Claims of one run come one after the other.
 * Runs.U4 (`claimed`): if an owner did not continue a run, for example because its team differs, the next claim still learns how the
 * previous owner left the run.
 */
export class Runs {
  readonly parts: TeamParts;
  readonly reserve: Reserve;
  readonly #roster: Roster;
  readonly #boundsOf: (o: ResumeOptions) => CrewBounds;
  readonly #underWay = new Map<string, { readonly run: Run; idea: Message | undefined }>();
  readonly #owned = new Map<string, Promise<void>>();
  #remoteRuns: Promise<RemoteRuns> | undefined;

  constructor(parts: TeamParts, roster: Roster, reserve: Reserve, boundsOf: (o: ResumeOptions) => CrewBounds) {
    this.parts = parts;
    this.reserve = reserve;
    this.#roster = roster;
    this.#boundsOf = boundsOf;
  }

  crewOf(runId: string, bounds: CrewBounds = this.#boundsOf({})): (signal: AbortSignal) => Promise<Crew> {
    takes("a run of a team", "its id", runId, aText);
    const { present } = this.#roster;
    return async (signal) => {
      const roles = await present({ runId, signal });
      return { ...bounds, roles, reserve: await this.reserve.of({ runId, signal }, roles) };
    };
  }

  find(id: string): Run | undefined {
    return this.#underWay.get(id)?.run;
  }

  /** @throws JournalError `RUN_IDEA_DIFFERS` for another idea, `RUN_EXISTS` for a new run of an id that is under way */
  launch(request: RunRequest): Run {
    const { id, idea, options, create } = request;
    const { name, options: team, journal, mask } = this.parts;
    const known = this.#underWay.get(id);
    if (known !== undefined && create !== "new") {
      if (idea === undefined || known.idea === undefined || isSameMessage(known.idea, idea, mask)) return known.run;
      return this.handle(id, journal, options.signal, () => Promise.reject(ideaDiffers(id)), this);
    }
    const bounds = this.#boundsOf(options);
    const crew = this.crewOf(id, bounds);
    const meter = meterFor(team.model, bounds.pools);
    // Inside an activation or a tool call the run is bounded, recorded and replayed as a part of it.
    const work: Work = (controls) => runInside(meter, { kind: "team", name, request: {} }, () => this.#driven(controls, request, crew));
    const run = this.handle(id, journal, options.signal, work, this);
    if (known !== undefined) return run;
    this.#underWay.set(id, { run, idea });
    void run.result.then(() => this.#underWay.delete(id));
    return run;
  }

  /** @param runs undefined for a replay: nothing changes it */
  handle(id: string, journal: Journal, signal: AbortSignal | undefined, work: Work, runs?: Runs): Run {
    return new Run(id, journal, signal, (controls) => this.#outcome(controls, work), runs);
  }

  async #outcome(controls: RunControls, work: Work): Promise<RunResult> {
    try {
      return await work(controls);
    } catch (error) {
      const isStopped = error instanceof ControlError;
      const end = { failure: isStopped ? undefined : { error }, control: isStopped ? error : undefined };
      return runResult(new RunState(controls.id), { reason: "interrupted", ...end }, this.parts.mask);
    }
  }

  async #driven(controls: RunControls, request: RunRequest, crew: (signal: AbortSignal) => Promise<Crew>): Promise<RunResult> {
    const { id, signal, lost } = controls;
    const { create, idea, news = [], options, drive } = request;
    const { onOwned = "follow", conclude } = options;
    if (create !== undefined)
      await this.parts.journal.create(id).catch((error: unknown) => {
        if (create === "new" || !isCode(error, "RUN_EXISTS")) throw error;
      });
    let isOwner = false;
    const prepare = async (): Promise<void> => {
      isOwner = true;
      controls.enter(undefined);
      await options.prepare?.({ signal });
    };
    const attempt = async (): Promise<RunResult | undefined> => {
      try {
        return await this.claimed(id, { signal, lost, take: onOwned === "take", prepare, conclude }, async (run) =>
          drive({ ...this.parts, ...run, controls, crew: await crew(signal), context: options.context }),
        );
      } catch (error) {
        if (isOwner || onOwned === "refuse" || !isOwned(error) || this.parts.journal.command === undefined) throw error;
        return undefined;
      }
    };
    const meant = (recorded: Message): void => {
      this.#noteIdea(id, recorded);
      if (idea !== undefined && !isSameMessage(recorded, idea, this.parts.mask)) throw ideaDiffers(id);
    };
    return (await attempt()) ?? (await this.#remote()).follow({ controls, news, meant, drive: attempt });
  }

  /** @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`, and when it cannot be read; ControlError when the signal aborts */
  async claimed<T>(id: string, o: OwningOptions, work: (run: ClaimedRun) => Promise<T>): Promise<T> {
    const { signal, prepare, conclude, ...claiming } = o;
    const { journal } = this.parts;
    const before = this.#owned.get(id);
    let free = (): void => {};
    const mine = new Promise<void>((resolve) => (free = resolve));
    this.#owned.set(id, mine);
    try {
      if (before !== undefined) await before;
      const claim = await journal.claim(id, { ...claiming, command: async (given) => (await this.#remote()).execute(id, given) });
      let hasContinued = false;
      const continued = (): void => void (hasContinued = true);
      try {
        await prepare?.();
        return await concluding(conclude, async (concludes) =>
          work({ ...claim, continued, conclude: concludes, ...(await this.#read(id, signal)) }),
        );
      } finally {
        const drained = signal.reason instanceof MovedError && signal.reason.isDrained;
        await journal.release(id, claim.epoch, hasContinued ? { drained } : { former: claim.former });
      }
    } finally {
      if (this.#owned.get(id) === mine) this.#owned.delete(id);
      free();
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<WarmRun> {
    const { journal } = this.parts;
    const read = (from: number): AsyncIterable<RunEvent> => readEvents(journal, id, { from, signal });
    const found: WarmRun = (await takeWarm(journal, id, read)) ?? (await recordedState(journal, id, read));
    if (found.state.idea !== undefined) this.#noteIdea(id, found.state.idea);
    return found;
  }

  #noteIdea(id: string, idea: Message): void {
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) underWay.idea = idea;
  }

  async change<T>(id: string, change: RunChange<T>, o: ChangeOptions = {}): Promise<T> {
    takes("a change of a run", "the id of the run", id, aText);
    const { observers = new ObserverRegistry(), signal = new AbortController().signal, onTeamChange } = o;
    const known = this.find(id);
    if (known !== undefined) return untilAborted(known.change(change), signal);
    return this.localOrRemote({
      runId: id,
      local: () => {
        const crew = this.crewOf(id);
        const controls = idleControls(id, observers, signal);
        return this.claimed(id, { signal }, async ({ warmMemories: _memories, ...run }) =>
          changeRun({ ...this.parts, ...run, controls, crew: await crew(signal) }, change, onTeamChange),
        );
      },
      command: change.command(this.parts.mask),
      resultOf: (answer) => change.result(answer),
      signal,
    });
  }

  async signal(runId: string, { name, value }: Signal, { id, ...o }: SignalOptions, run?: Run): Promise<Run | undefined> {
    const { options, ...parts } = this.parts;
    const { clock = systemClock, driver } = options;
    const change = publishing(signalMessage(name, value, { id, now: clock.now() }));
    // Bad bounds are refused before the signal is recorded.
    this.#boundsOf(o);
    const { waits } = await (run === undefined ? this.change(runId, change, o) : run.change(change, o));
    const known = this.find(runId);
    if (!waits) return known;
    // It comes to rest without the signal.
    await known?.result;
    if (driver === undefined) return this.launch({ id: runId, options: o, drive: (claimed) => resumeRun(claimed, o) });
    const { submitRun } = await import("./run-driver.ts");
    await submitRun({ ...parts, driver }, { runId, idea: undefined, about: undefined });
    return undefined;
  }

  async localOrRemote<T>(request: RemoteRequest<T>): Promise<T> {
    try {
      return await request.local();
    } catch (error) {
      // If the run was taken first, the change is not in the record.
      if (!(isOwned(error) || error instanceof MovedError) || this.parts.journal.command === undefined) throw error;
    }
    return (await this.#remote()).request(request);
  }

  warn(text: string, observers: ObserverRegistry): void {
    const { logger = defaultLogger } = this.parts.options;
    logger.warn(text);
    this.report({ type: "warning", text }, observers);
  }

  report(observed: Observed, observers: ObserverRegistry): void {
    const { logger = defaultLogger } = this.parts.options;
    tellObservers(observers, observed, { logger, mask: this.parts.mask });
  }

  /** Loaded when another process owns a run, or gives a command for one. */
  #remote(): Promise<RemoteRuns> {
    return (this.#remoteRuns ??= import("../fleet/remote-runs.ts").then(({ remoteRuns }) => remoteRuns(this)));
  }
}

async function concluding<T>(given: ResumeOptions["conclude"], work: (conclude: ClaimedRun["conclude"]) => Promise<T>): Promise<T> {
  if (given === undefined) return work(undefined);
  let isConcluded = false;
  const conclude = async (error: unknown): Promise<void> => {
    isConcluded = true;
    await given({ error });
  };
  try {
    return await work(conclude);
  } catch (error) {
    if (!isConcluded) await conclude(error);
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof JournalError && error.code === code;
}

function isOwned(error: unknown): boolean {
  return isCode(error, "RUN_OWNED");
}

export function answeredUnderWay(runId: string): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    `Expected a question that a person is asked now, but ${runId} is under way and asks another or none. Answer when the run waits.`,
  );
}

/** Returns the error for another idea than that of a known run. It does not show the ideas: they can be long or private. */
export function ideaDiffers(runId: string): JournalError {
  return new JournalError(
    "RUN_IDEA_DIFFERS",
    `Expected the idea that run ${runId} was begun with, got another. Give the new idea an id of its own, or continue the run: resume("${runId}").`,
    { data: { runId } },
  );
}
