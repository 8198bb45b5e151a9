import { type Action, assertSameAction } from "../action/action.ts";
import { Environment, type EnvironmentOptions, DEFAULT_ROUNDS, hiredRole } from "../environment/environment.ts";
import { type RunResult, runResult, statusOf } from "../environment/run-result.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError, errorRecord } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import { freshSeed } from "../kernel/random.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { assertRoleName, roleSpec } from "../role/role-spec.ts";
import { apply, stepsInFlight } from "../run/apply.ts";
import type { Journal } from "../run/journal.ts";
import { memoryJournal } from "../run/memory-journal.ts";
import { emptyRunState, type RunState } from "../run/run-state.ts";
import { Run, type RunControls } from "./run.ts";
import type { StopCondition } from "./stop-condition.ts";

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
  #budget: MicroUsd | undefined;

  constructor(options: TeamOptions = {}) {
    const { roles = [], name = "team", budget, journal = memoryJournal() } = options;
    this.name = name;
    this.#options = options;
    this.#journal = journal;
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

  /** Raises or lowers what a run may spend. */
  invest(budget: MicroUsd): this {
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

  /** Starts a run for an idea; with the id of a run that the journal has, that run goes on. */
  run(idea: string | Message, o: RunOptions = {}): Run {
    const id = o.id ?? freshRunId((this.#options.clock ?? systemClock).now());
    return new Run(id, this.#journal, o.signal, async (controls) => {
      const known = o.id !== undefined && (await this.#has(id));
      return this.#guarded(controls, () => (known ? this.#resume(controls, o) : this.#start(controls, idea, o)));
    });
  }

  /** Goes on with a run of the journal: what has ended is not done again, and no recorded call is paid again. */
  resume(runId: string, o: Omit<RunOptions, "id"> = {}): Run {
    return new Run(runId, this.#journal, o.signal, (controls) => this.#guarded(controls, () => this.#resume(controls, o)));
  }

  #hire(role: Role, name: string): void {
    assertRoleName(name);
    if (this.#roles.has(name)) {
      throw new UsageError("ROLE_DUPLICATE", `Expected roles of different names, got a second "${name}". Hire it under another: hire(role, { name }).`);
    }
    const { actions } = roleSpec(role);
    for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
    for (const action of actions) this.#actions.set(action.name, action);
    this.#roles.set(name, role);
  }

  async #has(id: string): Promise<boolean> {
    return (await this.#journal.runs()).some((run) => run.runId === id);
  }

  async #start(controls: RunControls, idea: string | Message, o: RunOptions): Promise<RunResult> {
    await this.#journal.create(controls.id);
    const state = emptyRunState(controls.id);
    const environment = await this.#environment(controls, state, o, () => ({
      type: "run.started",
      team: this.name,
      roles: [...this.#roles].map(([name, role]) => hiredRole(role, name)),
      seed: String(this.#options.seed ?? freshSeed()),
      scheduler: this.#options.scheduler ?? "rounds",
      ...(this.#budget === undefined ? {} : { budget: this.#budget }),
    }));
    environment.publishMessage(this.#idea(idea));
    return this.#drive(environment, o);
  }

  async #resume(controls: RunControls, o: Omit<RunOptions, "id">): Promise<RunResult> {
    const state = emptyRunState(controls.id);
    for await (const event of this.#journal.read(controls.id, 0)) apply(state, event);
    this.#assertSameTeam(state);
    if (state.phase.phase === "ended" && state.phase.status === "finished") {
      controls.started();
      return runResult(state, { reason: "idle", failure: undefined, control: undefined });
    }
    const uncertain = stepsInFlight(state)
      .filter(({ record }) => record.started.kind !== "human")
      .map(({ record: { started } }) => ({ act: started.act, key: started.key, hold: started.hold }));
    const environment = await this.#environment(controls, state, o, () => ({
      type: "run.resumed",
      uncertain,
      ...(this.#budget === undefined ? {} : { budget: this.#budget }),
    }));
    return this.#drive(environment, o);
  }

  async #environment(
    controls: RunControls,
    state: RunState,
    o: Omit<RunOptions, "id">,
    first: () => Parameters<Environment["log"]["record"]>[0],
  ): Promise<Environment> {
    const epoch = await this.#journal.claim(controls.id);
    const opening = first();
    if (opening.type === "run.started") state.scheduler = opening.scheduler;
    const environment = new Environment(
      { ...this.#options, description: this.#options.description ?? "" },
      {
        state,
        emitter: controls.emitter,
        owned: { journal: this.#journal, epoch },
        requirePrice: this.#budget !== undefined && this.#options.allowUnpriced !== true,
        checkpoint: () => o.stopWhen?.(progressOf(state)) ?? false,
        resumed: controls.resumed,
        signal: controls.signal,
        grew: controls.grew,
      },
    );
    environment.log.record(opening);
    await environment.log.durable();
    controls.started();
    for (const [name, role] of this.#roles) environment.addRole(role, { name });
    return environment;
  }

  async #drive(environment: Environment, o: Omit<RunOptions, "id">): Promise<RunResult> {
    const end = await environment.drive(o.rounds ?? DEFAULT_ROUNDS);
    const { status, error } = statusOf(end);
    environment.log.record({ type: "run.ended", status, ...(error === undefined ? {} : { error: errorRecord(error) }) });
    await environment.log.durable();
    return runResult(environment.state, end);
  }

  /** A run's result never rejects: what breaks before or besides the roles is told in it too. */
  async #guarded(controls: RunControls, work: () => Promise<RunResult>): Promise<RunResult> {
    try {
      return await work();
    } catch (error) {
      return runResult(emptyRunState(controls.id), { reason: "interrupted", failure: { error }, control: undefined });
    }
  }

  #assertSameTeam(state: RunState): void {
    const now = [...this.#roles].map(([name, role]) => hiredRole(role, name));
    const changed = now.filter((role) => state.roles.get(role.name)?.fingerprint !== role.fingerprint).map((role) => role.name);
    const missing = [...state.roles.keys()].filter((name) => !this.#roles.has(name));
    if (changed.length === 0 && missing.length === 0) return;
    throw new JournalError(
      "TEAM_CHANGED",
      `Expected the team of run ${state.runId}, got another: changed or new ${list(changed)}, missing ${list(missing)}. Resume it with the team it was started with.`,
    );
  }

  #idea(idea: string | Message): Message {
    if (typeof idea !== "string") return idea;
    return createMessage(idea, { id: "user#1", timestamp: (this.#options.clock ?? systemClock).now() });
  }
}

function progressOf(state: RunState): Parameters<StopCondition>[0] {
  return { rounds: state.round, spent: state.ledger.spent, messages: state.history.get(), outputs: state.outputs };
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
