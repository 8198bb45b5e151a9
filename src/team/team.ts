import { recordedBy, recordedScheduler, schedulerOf } from "../runtime/schedulers/scheduler.ts";
import { isObject } from "../kernel/value-kind.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { checkOptions, checkReuse, checkSeed, checkStopCondition, checkTeamMemory, checkWhole } from "../runtime/check-options.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import { freshSeed } from "../kernel/random.ts";
import { UserRequirement } from "../message/address.ts";
import { createMessage, isMessage, type Message, parseMessage } from "../message/message.ts";
import { budgetPool, checkBudget, isBudgetPool } from "../model/budget-pool.ts";
import { allLimits, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { rolesIn } from "../role/role-parts.ts";
import type { RunEventBody, RunResumed, RunStarted } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { memoryJournal } from "../runtime/record/memory-journal.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { type Bounds, boundsNow, changedBounds, crewOf } from "./bounds.ts";
import { assertSameTeam, type Crew, hiredBy, inOrderOf, teamDifferences } from "./crew.ts";
import { type Drive, drive, isFinished, rest } from "./drive.ts";
import { answerTo, assertBegun, findQuestion, uncertainSteps } from "./going-on.ts";
import { ideaDiffers, isSameIdea } from "./idea.ts";
import { Roster } from "./roster.ts";
import type { Run, RunControls } from "./run.ts";
import { Runs, type RunWork } from "./runs.ts";
import {
  forkOptions,
  type ForkOptions,
  replayOptions,
  type ReplayOptions,
  resumeOptions,
  type ResumeOptions,
  runOptions,
  type RunOptions,
  teamOptions,
  type TeamOptions,
} from "./team-options.ts";

/**
 * A company: roles hired for a goal, a budget to spend, and a journal that keeps its runs. Defaults: no budget, a journal in memory, 100
 * rounds of one run. `run`, `resume`, `fork` and `replay` return at once; what goes wrong in a run is in its result, see {@link
 * RunResult}.
 *
 * @example
 * import { defineAction, defineRole, Team, usd } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const Greet = defineAction({ name: "Greet", prompt: (ctx) => `Greet ${ctx.text}.` });
 * const host = defineRole({ name: "Hana", actions: [Greet] });
 * const team = new Team({ roles: [host], model: scriptedModel(["Welcome, Ada!"]), budget: usd(1) });
 * const { status, output, cost } = await team.run("Ada").result;
 * console.log(status, output?.content, cost.known); // finished Welcome, Ada! 0
 */
export class Team {
  readonly name: string;
  readonly #options: TeamOptions;
  readonly #journal: Journal;
  readonly #roster = new Roster();
  readonly #runs: Runs;
  readonly #mask: Mask;
  readonly #limits: ModelLimits | undefined;
  /** Bounds each run alone, and is recorded with it. */
  #budget: MicroUsd | undefined;
  /** Bounds all runs together. */
  #pool: BudgetPool | undefined;

  /** @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`, and what {@link Team.hire} throws */
  constructor(options: TeamOptions = {}) {
    checkKnownOptions("new Team", options, teamOptions);
    checkOptions(options);
    checkTeamMemory(options.memory);
    const { roles = [], name = "team", budget, journal = memoryJournal() } = options;
    checkBudget(budget, "OPTION_INVALID");
    if (options.poisonAfter !== undefined) checkWhole(options.poisonAfter, "poisonAfter", 1);
    this.name = name;
    this.#options = options;
    this.#journal = journal;
    this.#mask = maskSecrets(options.secrets ?? []);
    this.#runs = new Runs(journal, this.#mask);
    this.#limits = sharedLimits(options.limits);
    if (isBudgetPool(budget)) this.#pool = budget;
    else if (budget !== undefined) this.invest(budget);
    for (const role of rolesIn(roles)) this.#roster.hire(role);
  }

  /**
   * Hires roles under their own names, or one role under another.
   *
   * @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
   */
  hire(role: Role, o: { readonly name: string }): this;
  hire(...roles: readonly Role[]): this;
  hire(...given: readonly (Role | { readonly name: string })[]): this {
    const [first, second] = given;
    const alias = given.length === 2 && isAlias(second) ? second.name : undefined;
    for (const role of alias === undefined ? given : [first]) this.#roster.hire(role, alias);
    return this;
  }

  /**
   * Raises or lowers what all runs of the team may spend together, in micro-dollars: to this amount in all, what was spent included. Of a
   * pool that the team was given it sets the amount.
   *
   * @throws UsageError `OPTION_INVALID`, also for a pool whose amount is kept elsewhere
   */
  invest(budget: MicroUsd): this {
    checkWhole(budget, "budget in micro-dollars", 0);
    if (!isBudgetPool(this.#options.budget)) this.#budget = budget;
    if (this.#pool === undefined) this.#pool = budgetPool(budget, { name: `budget of ${this.name}` });
    else investIn(this.#pool, budget);
    return this;
  }

  get roleNames(): readonly string[] {
    return this.#roster.names;
  }

  /** The journal the team's runs are kept in. */
  get journal(): Journal {
    return this.#journal;
  }

  /**
   * Starts a run for an idea; with the id of a run that the journal has, that run goes on, or starts if it had not begun. Who is hired
   * and what is invested later counts for later runs. A run that is under way is given as it is. With another idea than the run's, which
   * is one that differs in more than id and time, the run fails by a JournalError `RUN_IDEA_DIFFERS`, and the record stays as it is.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
   */
  run(idea: string | Message, o: RunOptions = {}): Run {
    checkKnownOptions("run of a team", o, runOptions);
    const said = this.#idea(idea);
    const crew = this.#crew(o);
    this.#assertHired();
    const id = this.#id(o.id);
    const work: RunWork = async (controls) => {
      await this.#runs.create(id, o.id !== undefined);
      return this.#runs.owning(id, async (epoch) => {
        const { state, idea: known } = await this.#runs.read(id, controls.signal);
        if (known !== undefined && !isSameIdea(known, said, this.#mask)) throw ideaDiffers(id);
        const going = { controls, crew, state, epoch, o };
        return state.seq === 0 ? this.#start(going, said, o.about) : this.#goOn({ ...going, idea: said });
      });
    };
    return this.#runs.launch(id, o.signal, work, said);
  }

  /**
   * Goes on with a run of the journal: what has ended is not done again, and no recorded call is paid again. A run that is under way is
   * given as it is.
   *
   * @throws UsageError `OPTION_INVALID`
   */
  resume(runId: string, o: ResumeOptions = {}): Run {
    checkKnownOptions("resume", o, resumeOptions);
    const crew = this.#crew(o);
    return this.#runs.launch(runId, o.signal, (controls) =>
      this.#runs.owning(runId, async (epoch) => {
        const { state } = await this.#runs.read(runId, controls.signal);
        return this.#goOn({ controls, crew, state, epoch, o });
      }),
    );
  }

  /**
   * Answers a question to a person and goes on with the run that waits for it. Resolves when the answer is recorded.
   *
   * @param questionId as `RunResult.questions` and the `waiting` error tell it, or its first letters
   * @throws UsageError `OPTION_INVALID` when the answer is no text or the run is under way
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`, `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`, `TEAM_CHANGED`
   */
  async answer(runId: string, questionId: string, text: string, o: ResumeOptions = {}): Promise<Run> {
    checkKnownOptions("answer", o, resumeOptions);
    if (typeof text !== "string") throw new UsageError("OPTION_INVALID", `Expected an answer as text, got ${typeof text}.`);
    if (this.#runs.isUnderWay(runId)) {
      throw new UsageError("OPTION_INVALID", `Expected a run that waits, but ${runId} is under way. Answer when it has ended as waiting.`);
    }
    const crew = this.#crew(o);
    let begin = (): void => {};
    const beginning = new Promise<undefined>((resolve) => (begin = () => resolve(undefined)));
    const run = this.#runs.launch(runId, o.signal, (given) =>
      this.#runs.owning(runId, async (epoch) => {
        const { state } = await this.#runs.read(runId, given.signal);
        const question = await findQuestion(this.#journal, state, questionId, given.signal);
        const started = (): void => {
          given.started();
          begin();
        };
        const answer = answerTo(question, this.#mask(text), this.#now());
        return this.#goOn({ controls: { ...given, started }, crew, state, epoch, o, first: [answer] });
      }),
    );
    const early = await Promise.race([beginning, run.result]);
    if (early?.error !== undefined) throw early.error;
    return run;
  }

  /**
   * A new run that shares the past of another up to an event, and pays only for what that one cannot answer. Roles may have changed, and
   * so may messages that nobody has read by then; workspaces and stores of the parent must not be given to it.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
   */
  fork(parentId: string, o: ForkOptions = {}): Run {
    checkKnownOptions("fork", o, forkOptions);
    const { change: changes = [], add = [] } = o;
    const crew = this.#crew(o);
    checkSeed(o.seed);
    const seed = o.seed === undefined ? undefined : String(o.seed);
    const id = this.#id(o.id);
    const at = o.at ?? (changes.length > 0 ? Math.max(...changes.map(({ seq }) => seq)) : undefined);
    const said = add.map((message) => (typeof message === "string" ? message : parsedMessage(message)));
    return this.#runs.begin(id, o.signal, async (controls) => {
      await this.#runs.create(id, false);
      return this.#runs.owning(id, async (epoch) => {
        const { signal } = controls;
        const parts = {
          journal: this.#journal,
          parentId,
          runId: id,
          epoch,
          crew,
          at,
          changes,
          seed,
          about: o.about,
          mask: this.#mask,
          signal,
        };
        const { copyPast } = await copying();
        const { state, bounds, ...past } = await copyPast(parts)
          .then((copy) => ({ ...copy, bounds: boundsNow(copy.state, o, this.#options) }))
          .catch(async (error: unknown) => {
            await this.#journal.remove(id);
            throw error;
          });
        const hired = { ...crewOf(crew, bounds), roles: inOrderOf(state, crew) };
        const afresh = o.reuse === "none" ? ({ afresh: true } as const) : {};
        const opening: RunResumed = { type: "run.resumed", uncertain: [], forked: true, ...afresh, ...boundsIn(state, bounds, hired) };
        return this.#drive({
          controls,
          crew: hired,
          state,
          epoch,
          stopWhen: bounds.stopWhen,
          opening: [opening],
          said,
          ...(o.reuse === "none" ? {} : past),
        });
      });
    });
  }

  /**
   * Lets a run of the journal happen again from its record alone, and tells the first difference: `result.error` is a DifferenceError
   * then. No model is called and nobody is asked. Steps marked `again` do run: give roles of a replay a workspace of its own.
   */
  replay(runId: string, o: ReplayOptions = {}): Run {
    checkKnownOptions("replay", o, replayOptions);
    const crew = this.#crew({});
    const scratch = memoryJournal({ events: Number.MAX_SAFE_INTEGER });
    const parts = { options: this.#options, journal: this.#journal, scratch, mask: this.#mask, crew };
    return this.#runs.handle(runId, scratch, o.signal, async (controls) => {
      // Most programs never replay.
      const { replayRun } = await import("./replay-run.ts");
      return replayRun({ ...parts, controls });
    });
  }

  #start(going: Going, idea: Message, about: Json | undefined): Promise<RunResult> {
    const { state, o } = going;
    const scheduler = schedulerOf(this.#options.scheduler ?? "rounds");
    state.scheduler = scheduler.name;
    state.parameters = scheduler.parameters ?? null;
    state.delivery = scheduler.delivery;
    state.seed = String(this.#options.seed ?? freshSeed());
    const bounds = boundsNow(state, o, this.#options);
    const { recorded, stopWhen } = bounds;
    const crew = crewOf(going.crew, bounds);
    const { budget } = crew;
    const opening: RunStarted = {
      type: "run.started",
      team: this.name,
      roles: hiredBy(crew),
      seed: state.seed,
      ...recordedScheduler(scheduler),
      bounds: recorded,
      ...(budget === undefined ? {} : { budget }),
      ...(about === undefined ? {} : { about }),
    };
    return this.#drive({ ...going, crew, stopWhen, opening: [opening], said: [idea] });
  }

  async #goOn(going: Going & { readonly idea?: Message; readonly first?: readonly RunEventBody[] }): Promise<RunResult> {
    const { state, controls, o, idea, first = [] } = going;
    assertBegun(state, idea !== undefined);
    if (o.force !== true) assertSameTeam(state, going.crew);
    if (isFinished(state)) {
      controls.started();
      return rest({ ...going, options: this.#options, journal: this.#journal, mask: this.#mask });
    }
    recordedBy(state, this.#options.scheduler);
    const bounds = boundsNow(state, o, this.#options);
    const crew = crewOf(going.crew, bounds);
    const isSameTeam = teamDifferences(state.team, crew).length === 0;
    const opening: RunResumed = {
      type: "run.resumed",
      uncertain: uncertainSteps(state),
      ...boundsIn(state, bounds, crew),
      ...(isSameTeam ? {} : { roles: hiredBy(crew) }),
      ...(o.reuse === "none" ? { afresh: true } : {}),
    };
    const { parent, isAfresh } = state;
    const past =
      parent === undefined || isAfresh ? {} : await (await copying()).recalledPast(this.#journal, state, parent, controls.signal);
    const said = state.outside === 0 && idea !== undefined ? [idea] : [];
    const hired = { ...crew, roles: inOrderOf(state, crew) };
    return this.#drive({ ...going, crew: hired, stopWhen: bounds.stopWhen, opening: [...first, opening], said, ...past });
  }

  #drive(parts: Omit<Drive, "options" | "journal" | "mask">): Promise<RunResult> {
    return drive({ ...parts, options: this.#options, journal: this.#journal, mask: this.#mask });
  }

  #crew({ rounds, stopWhen, reuse, budget, limits }: ResumeOptions): Crew {
    if (rounds !== undefined) checkWhole(rounds, "rounds", 0);
    checkStopCondition(stopWhen ?? undefined);
    checkReuse(reuse);
    checkBudget(budget, "OPTION_INVALID");
    return {
      roles: this.#roster.roles,
      budget: this.#budget,
      pools: [isBudgetPool(budget) ? budget : undefined, this.#pool].filter((pool) => pool !== undefined),
      limits: allLimits(sharedLimits(limits), this.#limits),
    };
  }

  #assertHired(): void {
    if (this.#roster.names.length > 0) return;
    throw new UsageError(
      "ROLES_NONE",
      "Expected a team with roles, got none: nobody would hear the idea. Hire some: new Team({ roles: [role] }).",
    );
  }

  #id(given: string | undefined): string {
    if (given === "") throw new UsageError("OPTION_INVALID", "Expected the id of a run, got an empty one.");
    return given ?? freshRunId(this.#now());
  }

  #idea(idea: string | Message): Message {
    if (typeof idea !== "string") return parsedMessage(idea);
    return createMessage(idea, { id: "user#1", causeBy: UserRequirement, timestamp: this.#now() });
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now();
  }
}

/** @throws UsageError `OPTION_INVALID` */
function investIn(pool: BudgetPool, amount: MicroUsd): void {
  if (pool.invest !== undefined) return pool.invest(amount);
  throw new UsageError("OPTION_INVALID", `Expected a pool whose amount can be set here, got ${pool.id}. Set it where it is kept.`);
}

/** Most programs never fork. */
function copying(): Promise<typeof import("./copy-past.ts")> {
  return import("./copy-past.ts");
}

/** The budget from here on, and the bounds that are others, as an event tells them. */
function boundsIn({ bounds: before }: RunState, now: Bounds, { budget }: Crew): Pick<RunResumed, "bounds" | "budget"> {
  const bounds = changedBounds(before, now);
  return { ...(budget === undefined ? {} : { budget }), ...(bounds === undefined ? {} : { bounds }) };
}

/** A run that is about to go on. */
interface Going {
  readonly controls: RunControls;
  readonly crew: Crew;
  readonly state: RunState;
  readonly epoch: number;
  readonly o: ResumeOptions;
}

function isAlias(given: unknown): given is { readonly name: string } {
  return isObject(given) && "name" in given && !("react" in given);
}

function parsedMessage(message: Message): Message {
  return isMessage(message) && Object.isFrozen(message) ? message : parseMessage(message);
}
