import { type Action, assertSameAction } from "../action/action.ts";
import { Environment, type EnvironmentOptions, DEFAULT_ROUNDS, hiredRole } from "../environment/environment.ts";
import { checkOptions, checkWhole } from "../environment/check-options.ts";
import { roundsOf } from "../environment/engine.ts";
import { type RunResult, runResult } from "../environment/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import { deepFreeze } from "../kernel/json.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import { freshSeed } from "../kernel/random.ts";
import { UserRequirement } from "../message/address.ts";
import { createMessage, isMessage, type Message, parseMessage } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { assertRoleName, roleSpec } from "../role/role-spec.ts";
import { apply, stepsInFlight } from "../run/apply.ts";
import type { RunResumed, RunStarted } from "../run/event.ts";
import type { Journal } from "../run/journal.ts";
import { memoryJournal } from "../run/memory-journal.ts";
import { emptyRunState, type RunState } from "../run/run-state.ts";
import { Run, type RunControls } from "./run.ts";
import type { RunProgress, StopCondition } from "./stop-condition.ts";

/** What a team is made of. */
export interface TeamOptions extends EnvironmentOptions {
  /** Default "team". Also where the roles find themselves, unless a description says more. */
  readonly name?: string;
  readonly roles?: Iterable<Role>;
  /** Most a run may spend, in micro-dollars: see `usd`. Default: no bound. */
  readonly budget?: MicroUsd;
  /** Allow models without a known price under a budget; their calls then cost nothing in the ledger. Default false. */
  readonly allowUnpriced?: boolean;
  /** Where runs are kept. Default: in memory. */
  readonly journal?: Journal;
}

/** How a run goes. */
export interface RunOptions {
  /** Default: a fresh one. A run the journal has goes on where it stopped. */
  readonly id?: string;
  /** Most rounds in all. Default 100. */
  readonly rounds?: number;
  readonly stopWhen?: StopCondition;
  readonly signal?: AbortSignal;
}

/** A company: roles hired for a goal, with money to spend and a journal to write. */
export class Team {
  readonly name: string;
  readonly #options: TeamOptions;
  readonly #journal: Journal;
  readonly #roles = new Map<string, Role>();
  readonly #actions = new Map<string, Action>();
  readonly #mask: Mask;
  #budget: MicroUsd | undefined;

  /** @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`, and what {@link Team.hire} throws */
  constructor(options: TeamOptions = {}) {
    const { roles = [], name = "team", budget, journal = memoryJournal() } = options;
    checkOptions(options);
    if (budget !== undefined) checkWhole(budget, "budget in micro-dollars", 0);
    this.name = name;
    this.#options = options;
    this.#journal = journal;
    this.#mask = maskSecrets(options.secrets ?? []);
    this.#budget = budget;
    for (const role of roles) this.#hire(role, role.name);
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
    const alias = given.length === 2 && second !== undefined && !("react" in second) ? second.name : undefined;
    const roles = (alias === undefined ? given : [first]) as readonly Role[];
    for (const role of roles) this.#hire(role, alias ?? role.name);
    return this;
  }

  /** Raises or lowers what a run may spend. @throws UsageError `OPTION_INVALID` */
  invest(budget: MicroUsd): this {
    checkWhole(budget, "budget in micro-dollars", 0);
    this.#budget = budget;
    return this;
  }

  get roleNames(): readonly string[] {
    return [...this.#roles.keys()];
  }

  /** The journal the team's runs are kept in. */
  get journal(): Journal {
    return this.#journal;
  }

  /**
   * Starts a run for an idea; with the id of a run that the journal has, that run goes on, or starts if it had not begun. Who is hired
   * and what is invested later counts for later runs.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
   */
  run(idea: string | Message, o: RunOptions = {}): Run {
    const said = this.#idea(idea);
    const crew = this.#crew(o);
    const id = o.id ?? freshRunId((this.#options.clock ?? systemClock).now());
    if (id === "") throw new UsageError("OPTION_INVALID", "Expected the id of a run, got an empty one.");
    return this.#launch(id, o, async (controls) => {
      await this.#create(id, o.id !== undefined);
      const state = await this.#read(id);
      return state.seq === 0 ? this.#start(controls, crew, state, said) : this.#goOn(controls, crew, state, said);
    });
  }

  /**
   * Goes on with a run of the journal: what has ended is not done again, and no recorded call is paid again.
   *
   * @throws UsageError `OPTION_INVALID`
   */
  resume(runId: string, o: Omit<RunOptions, "id"> = {}): Run {
    const crew = this.#crew(o);
    return this.#launch(runId, o, async (controls) => this.#goOn(controls, crew, await this.#read(runId), undefined));
  }

  #hire(role: Role, name: string): void {
    assertRoleName(name);
    if (this.#roles.has(name)) {
      throw new UsageError(
        "ROLE_DUPLICATE",
        `Expected roles of different names, got a second "${name}". Hire it under another: hire(role, { name }).`,
      );
    }
    const { actions } = roleSpec(role);
    for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
    for (const action of actions) this.#actions.set(action.name, action);
    this.#roles.set(name, role);
  }

  /** A run's result never rejects: what breaks before or besides the roles is told in it too. */
  #launch(id: string, o: Omit<RunOptions, "id">, work: (controls: RunControls) => Promise<RunResult>): Run {
    return new Run(id, this.#journal, o.signal, async (controls) => {
      try {
        return await work(controls);
      } catch (error) {
        return runResult(emptyRunState(id), { reason: "interrupted", failure: { error }, control: undefined }, this.#mask);
      }
    });
  }

  /** Makes the run; one that is there already is gone on with, if its id was given. */
  async #create(id: string, mayExist: boolean): Promise<void> {
    try {
      await this.#journal.create(id);
    } catch (error) {
      if (!(mayExist && error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
    }
  }

  async #read(id: string): Promise<RunState> {
    const state = emptyRunState(id);
    for await (const event of this.#journal.read(id, 0)) apply(state, deepFreeze(event));
    return state;
  }

  async #start(controls: RunControls, crew: Crew, state: RunState, idea: Message): Promise<RunResult> {
    const { budget, roles } = crew;
    const opening: RunStarted = {
      type: "run.started",
      team: this.name,
      roles: roles.map(([name, role]) => hiredRole(role, name)),
      seed: String(this.#options.seed ?? freshSeed()),
      scheduler: this.#options.scheduler ?? "rounds",
      ...(budget === undefined ? {} : { budget }),
    };
    state.scheduler = opening.scheduler;
    state.seed = opening.seed;
    return this.#drive(controls, crew, state, opening, idea);
  }

  async #goOn(controls: RunControls, crew: Crew, state: RunState, idea: Message | undefined): Promise<RunResult> {
    if (state.outside === 0 && idea === undefined) {
      throw new JournalError(
        "RUN_NOT_STARTED",
        `Expected a run that has its idea, but ${state.runId} ended before it was told. Start it: run(idea, { id }).`,
      );
    }
    assertSameTeam(state, crew);
    if (state.phase.phase === "ended" && state.phase.status === "finished") {
      controls.started();
      return runResult(state, { reason: "idle", failure: undefined, control: undefined }, this.#mask);
    }
    const uncertain = stepsInFlight(state)
      .filter(({ record }) => record.started.kind !== "human")
      .map(({ record: { started } }) => ({ act: started.act, key: started.key, hold: started.hold }));
    const opening: RunResumed = { type: "run.resumed", uncertain, ...(crew.budget === undefined ? {} : { budget: crew.budget }) };
    return this.#drive(controls, { ...crew, roles: inOrderOf(state, crew) }, state, opening, state.outside === 0 ? idea : undefined);
  }

  /** The opening and the idea are written together, so that no run is found without one. */
  async #drive(
    controls: RunControls,
    crew: Crew,
    state: RunState,
    opening: RunStarted | RunResumed,
    idea: Message | undefined,
  ): Promise<RunResult> {
    const epoch = await this.#journal.claim(controls.id);
    const environment = new Environment(
      { ...this.#options, description: this.#options.description ?? this.#options.name ?? "" },
      {
        state,
        emitter: controls.emitter,
        owned: { journal: this.#journal, epoch },
        requirePrice: (crew.budget ?? state.budget) !== undefined && this.#options.allowUnpriced !== true,
        checkpoint: () => crew.stopWhen?.(progressOf(state)) ?? false,
        resumed: controls.resumed,
        signal: controls.signal,
        grew: controls.grew,
      },
    );
    environment.log.record(opening);
    for (const [name, role] of crew.roles) environment.addRole(role, { name });
    if (idea !== undefined) environment.publishMessage(idea);
    await environment.log.durable();
    controls.started();
    return environment.finish(await environment.drive(crew.rounds));
  }

  #crew({ rounds = DEFAULT_ROUNDS, stopWhen }: Omit<RunOptions, "id">): Crew {
    checkWhole(rounds, "rounds", 0);
    return { roles: [...this.#roles], budget: this.#budget, rounds, stopWhen };
  }

  #idea(idea: string | Message): Message {
    if (typeof idea !== "string") return isMessage(idea) && Object.isFrozen(idea) ? idea : parseMessage(idea);
    return createMessage(idea, { id: "user#1", causeBy: UserRequirement, timestamp: (this.#options.clock ?? systemClock).now() });
  }
}

/** Who is hired and what is allowed when a run starts. */
interface Crew {
  readonly roles: readonly (readonly [name: string, role: Role])[];
  readonly budget: MicroUsd | undefined;
  readonly rounds: number;
  readonly stopWhen: StopCondition | undefined;
}

function assertSameTeam(state: RunState, crew: Crew): void {
  const now = crew.roles.map(([name, role]) => hiredRole(role, name));
  const hired = new Set(now.map((role) => role.name));
  const changed = now.filter((role) => state.roles.get(role.name)?.fingerprint !== role.fingerprint).map((role) => role.name);
  const missing = [...state.roles.keys()].filter((name) => !hired.has(name));
  if (changed.length === 0 && missing.length === 0) return;
  throw new JournalError(
    "TEAM_CHANGED",
    `Expected the team of run ${state.runId}, got another: changed or new ${list(changed)}, missing ${list(missing)}. Resume it with the team it was started with.`,
  );
}

/** The roles as the run hired them: who hears what is told in that order, whatever order they are hired in now. */
function inOrderOf(state: RunState, crew: Crew): Crew["roles"] {
  const place = (name: string): number => state.roles.get(name)?.index ?? 0;
  return crew.roles.toSorted(([a], [b]) => place(a) - place(b));
}

/** Looked at only where a condition looks. */
function progressOf(state: RunState): RunProgress {
  return {
    rounds: roundsOf(state),
    spent: state.ledger.spent,
    said: (cause) => state.history.newestBy(cause) !== undefined,
    get messages() {
      return state.history.get();
    },
    get outputs() {
      return [...state.outputs];
    },
  };
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
