import { DEFAULT_ROUNDS } from "../environment/environment-options.ts";
import { checkOptions, checkStopCondition, checkTeamMemory, checkWhole } from "../environment/check-options.ts";
import type { RunResult } from "../environment/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import { freshSeed } from "../kernel/random.ts";
import { UserRequirement } from "../message/address.ts";
import { createMessage, isMessage, type Message, parseMessage } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { rolesIn } from "../role/role-parts.ts";
import type { RunEventBody, RunResumed, RunStarted } from "../run/event.ts";
import type { Journal } from "../run/journal.ts";
import { memoryJournal } from "../run/memory-journal.ts";
import type { RunState } from "../run/run-state.ts";
import { assertSameTeam, type Crew, hiredBy, inOrderOf, teamDifferences } from "./crew.ts";
import { type Drive, drive, rest } from "./drive.ts";
import { answerTo, assertBegun, findQuestion, uncertainSteps } from "./going-on.ts";
import { Roster } from "./roster.ts";
import type { Run, RunControls } from "./run.ts";
import { Runs } from "./runs.ts";
import type { ForkOptions, ReplayOptions, ResumeOptions, RunOptions, TeamOptions } from "./team-options.ts";

/** A company: roles hired for a goal, with money to spend and a journal to write. */
export class Team {
  readonly name: string;
  readonly #options: TeamOptions;
  readonly #journal: Journal;
  readonly #roster = new Roster();
  readonly #runs: Runs;
  readonly #mask: Mask;
  #budget: MicroUsd | undefined;

  /** @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`, and what {@link Team.hire} throws */
  constructor(options: TeamOptions = {}) {
    checkOptions(options);
    checkTeamMemory(options.memory);
    const { roles = [], name = "team", budget, journal = memoryJournal() } = options;
    if (budget !== undefined) checkWhole(budget, "budget in micro-dollars", 0);
    if (options.poisonAfter !== undefined) checkWhole(options.poisonAfter, "poisonAfter", 1);
    this.name = name;
    this.#options = options;
    this.#journal = journal;
    this.#mask = maskSecrets(options.secrets ?? []);
    this.#runs = new Runs(journal, this.#mask);
    this.#budget = budget;
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

  /** Raises or lowers what a run may spend. @throws UsageError `OPTION_INVALID` */
  invest(budget: MicroUsd): this {
    checkWhole(budget, "budget in micro-dollars", 0);
    this.#budget = budget;
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
   * and what is invested later counts for later runs. A run that is under way is given as it is.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
   */
  run(idea: string | Message, o: RunOptions = {}): Run {
    const said = this.#idea(idea);
    const crew = this.#crew(o);
    const id = this.#id(o.id);
    return this.#runs.launch(id, o.signal, async (controls) => {
      await this.#runs.create(id, o.id !== undefined);
      return this.#runs.owning(id, async (epoch) => {
        const state = await this.#runs.read(id, controls.signal);
        const going = { controls, crew, state, epoch, force: o.force === true };
        return state.seq === 0 ? this.#start(going, said, o.about) : this.#goOn({ ...going, idea: said });
      });
    });
  }

  /**
   * Goes on with a run of the journal: what has ended is not done again, and no recorded call is paid again. A run that is under way is
   * given as it is.
   *
   * @throws UsageError `OPTION_INVALID`
   */
  resume(runId: string, o: ResumeOptions = {}): Run {
    const crew = this.#crew(o);
    return this.#runs.launch(runId, o.signal, (controls) =>
      this.#runs.owning(runId, async (epoch) =>
        this.#goOn({ controls, crew, state: await this.#runs.read(runId, controls.signal), epoch, force: o.force === true }),
      ),
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
    if (typeof text !== "string") throw new UsageError("OPTION_INVALID", `Expected an answer as text, got ${typeof text}.`);
    if (this.#runs.isUnderWay(runId)) {
      throw new UsageError("OPTION_INVALID", `Expected a run that waits, but ${runId} is under way. Answer when it has ended as waiting.`);
    }
    const crew = this.#crew(o);
    let begin = (): void => {};
    const beginning = new Promise<undefined>((resolve) => (begin = () => resolve(undefined)));
    const run = this.#runs.launch(runId, o.signal, (given) =>
      this.#runs.owning(runId, async (epoch) => {
        const state = await this.#runs.read(runId, given.signal);
        const question = await findQuestion(this.#journal, state, questionId, given.signal);
        const started = (): void => {
          given.started();
          begin();
        };
        const answer = answerTo(question, this.#mask(text), this.#now());
        return this.#goOn({ controls: { ...given, started }, crew, state, epoch, force: o.force === true, first: [answer] });
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
    const { change: changes = [], add = [] } = o;
    const crew = this.#crew(o);
    const id = this.#id(o.id);
    const at = o.at ?? (changes.length > 0 ? Math.max(...changes.map(({ seq }) => seq)) : undefined);
    const said = add.map((message) => (typeof message === "string" ? message : parsedMessage(message)));
    return this.#runs.begin(id, o.signal, async (controls) => {
      await this.#runs.create(id, false);
      return this.#runs.owning(id, async (epoch) => {
        const { signal } = controls;
        const parts = { journal: this.#journal, parentId, runId: id, epoch, crew, at, changes, about: o.about, mask: this.#mask, signal };
        const { copyPast } = await copying();
        const { state, ...past } = await copyPast(parts).catch(async (error: unknown) => {
          await this.#journal.remove(id);
          throw error;
        });
        const opening: RunResumed = { type: "run.resumed", uncertain: [], forked: true };
        return this.#drive({ controls, crew: { ...crew, roles: inOrderOf(state, crew) }, state, epoch, opening: [opening], said, ...past });
      });
    });
  }

  /**
   * Lets a run of the journal happen again from its record alone, and tells the first difference: `result.error` is a DifferenceError
   * then. No model is called and nobody is asked. Steps marked `again` do run: give roles of a replay a workspace of its own.
   */
  replay(runId: string, o: ReplayOptions = {}): Run {
    const crew = this.#crew({});
    const scratch = memoryJournal({ limit: Number.MAX_SAFE_INTEGER });
    const parts = { options: this.#options, journal: this.#journal, scratch, mask: this.#mask, crew };
    return this.#runs.handle(runId, scratch, o.signal, async (controls) => {
      // Most programs never replay.
      const { replayRun } = await import("./replay-run.ts");
      return replayRun({ ...parts, controls });
    });
  }

  #start(going: Going, idea: Message, about: Json | undefined): Promise<RunResult> {
    const { crew, state } = going;
    const { budget } = crew;
    const opening: RunStarted = {
      type: "run.started",
      team: this.name,
      roles: hiredBy(crew),
      seed: String(this.#options.seed ?? freshSeed()),
      scheduler: this.#options.scheduler ?? "rounds",
      ...(budget === undefined ? {} : { budget }),
      ...(about === undefined ? {} : { about }),
    };
    state.scheduler = opening.scheduler;
    state.seed = opening.seed;
    return this.#drive({ ...going, opening: [opening], said: [idea] });
  }

  async #goOn(going: Going & { readonly idea?: Message; readonly first?: readonly RunEventBody[] }): Promise<RunResult> {
    const { crew, state, controls, force, idea, first = [] } = going;
    assertBegun(state, idea !== undefined);
    if (!force) assertSameTeam(state, crew);
    // One that was forced on without a role may have mail for it.
    if (state.phase.phase === "ended" && state.phase.status === "finished" && state.ready.size === 0) {
      controls.started();
      return rest({ ...going, options: this.#options, journal: this.#journal, mask: this.#mask });
    }
    const isSameTeam = teamDifferences(state.team, crew).length === 0;
    const opening: RunResumed = {
      type: "run.resumed",
      uncertain: uncertainSteps(state),
      ...(crew.budget === undefined ? {} : { budget: crew.budget }),
      ...(isSameTeam ? {} : { roles: hiredBy(crew) }),
    };
    const past =
      state.parent === undefined ? {} : await (await copying()).recalledPast(this.#journal, state, state.parent, controls.signal);
    const said = state.outside === 0 && idea !== undefined ? [idea] : [];
    return this.#drive({ ...going, crew: { ...crew, roles: inOrderOf(state, crew) }, opening: [...first, opening], said, ...past });
  }

  #drive(parts: Omit<Drive, "options" | "journal" | "mask">): Promise<RunResult> {
    return drive({ ...parts, options: this.#options, journal: this.#journal, mask: this.#mask });
  }

  #crew({ rounds = DEFAULT_ROUNDS, stopWhen }: ResumeOptions): Crew {
    checkWhole(rounds, "rounds", 0);
    checkStopCondition(stopWhen);
    return { roles: this.#roster.roles, budget: this.#budget, rounds, stopWhen };
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

/** Most programs never fork. */
function copying(): Promise<typeof import("./copy-past.ts")> {
  return import("./copy-past.ts");
}

/** A run that is about to go on. */
interface Going {
  readonly controls: RunControls;
  readonly crew: Crew;
  readonly state: RunState;
  readonly epoch: number;
  readonly force: boolean;
}

function isAlias(given: unknown): given is { readonly name: string } {
  return typeof given === "object" && given !== null && "name" in given && !("react" in given);
}

function parsedMessage(message: Message): Message {
  return isMessage(message) && Object.isFrozen(message) ? message : parseMessage(message);
}
