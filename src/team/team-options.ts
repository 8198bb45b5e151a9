import type { Shape } from "../kernel/argument.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Json } from "../kernel/json.ts";
import type { Known } from "../kernel/known-options.ts";
import type { RunContext } from "../kernel/deps.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Scope } from "../kernel/scope.ts";
import { valueText } from "../kernel/value-text.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { Message } from "../message/message.ts";
import { isBudgetPool } from "../model/budget-pool.ts";
import type { LimitOptions, ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import { environmentOptions, type EnvironmentOptions } from "../runtime/environment-options.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { MessageChange } from "../runtime/replay/fork-copy.ts";
import type { StopCondition } from "../runtime/stop-condition.ts";
import type { TeamRoles } from "./roster.ts";
import type { RunDriver } from "./run-driver.ts";
import type { OnTeamChange } from "./crew.ts";

/**
 * Options of a team. Bounds of a run (`messageLimit`, `poisonAfter`, `budget`, and with the scheduler `eager` also `concurrency`) are
 * recorded at its start, and apply to resumes and forks until given again.
 */
export interface TeamOptions extends Omit<EnvironmentOptions, "memory" | "id"> {
  /** Memory of roles beyond the messages of their run, unless a role has its own options. Default: none. */
  readonly memory?: RoleMemoryOptions;
  /** Default "team". Also the default description of the surroundings in prompts. */
  readonly name?: string;
  /** The roles of each run: a list, or a function of the run. Default: none; they are hired later. */
  readonly roles?: TeamRoles;
  /**
   * Definitions of roles that runs hire later ({@link Run.hire}, {@link Team.hireInto}). Another process that resumes, forks or replays such a
   * run finds the definition by its own name, here or in `roles`. Default: none.
   */
  readonly reserve?: TeamRoles;
  /**
   * Limit on the spending of all runs of the team together, in micro-dollars: see `usd`. It is also the recorded limit of each run alone.
   * Or a pool that is shared with others: `budgetPool(usd(5))`. Default: no bound.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Allow models without a known price under a budget; their calls then cost nothing in the ledger. Default false. */
  readonly allowUnpriced?: boolean;
  /** Keeps the runs. Default: in memory. */
  readonly journal?: Journal;
  /** Delivers the runs of {@link Team.submit} to workers. Default: none. */
  readonly driver?: RunDriver;
  /** Deaths of the process during one activation after which its messages go to the dead letters. Default 3. */
  readonly poisonAfter?: number;
  /** Events between two snapshots of a run, which speed up opening it. 0: no snapshots. Default 10,000. */
  readonly snapshotEvery?: number;
  /** Limit on the milliseconds that a command waits for its answer from another process that owns the run. Default 30,000. */
  readonly commandTimeout?: number;
}

const { id: _id, ...sharedOptions } = environmentOptions;

const budget: Shape = {
  says: "a whole number of micro-dollars or a pool of them",
  fits: (value) => isBudgetPool(value) || kinds.count.fits(value),
  advice: (value) => ({
    got: valueText(value),
    todo: Number(value) > 0 ? `For $${Number(value)} write usd(${Number(value)}).` : "Write usd(3).",
  }),
};

export const teamOptions: Known<TeamOptions> = {
  ...sharedOptions,
  memory: {
    says: "options: only a bare environment forgets; one role recalls nothing with its own memory: false",
    fits: (value) => value !== false,
  },
  name: kinds.text,
  roles: kinds.checked,
  reserve: kinds.checked,
  budget,
  allowUnpriced: kinds.boolean,
  journal: kinds.journal,
  driver: kinds.runDriver,
  poisonAfter: kinds.size,
  snapshotEvery: kinds.count,
  commandTimeout: kinds.size,
};

/** Options of a resumed run. */
export interface ResumeOptions {
  /**
   * Limit on the rounds of each turn of the run: they count from its start, and anew from the first activation after a message from outside
   * to the run at rest. Default: the limit of the run's record; 100 for a new run.
   */
  readonly rounds?: number;
  /** Limit on the ticks of the clock in each turn, with status `stopped`. Default: the limit of the run's record, else none. */
  readonly ticks?: number;
  /**
   * Stops the run. Called after every round. Default: the condition of the run's record, or the error
   * `STOP_CONDITION_NEEDED` if it names a function of a program. Null: none.
   */
  readonly stopWhen?: StopCondition | null;
  readonly signal?: AbortSignal;
  /**
   * Limit on the spending of this run, in micro-dollars, or a pool that it shares with others. The team's budget also applies. An amount is
   * recorded, and applies to resumes and forks. Default: the budget of the run's record, else that of the team.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Values for roles and tools of this run: see {@link RunContext}. Not recorded: give it again. Default: none. */
  readonly context?: RunContext;
  /** Further pools that this run shares with others. They are not recorded: give them again. Default: none. */
  readonly pools?: readonly BudgetPool[];
  /** Bounds on the model calls of this run. The team's bounds also apply. */
  readonly limits?: LimitOptions | ModelLimits;
  /**
   * For a team that differs from the team of the run's record: a missing or new role, or a changed trait of a role. `refuse`: the run ends with
   * `TEAM_CHANGED`, and its record stays unchanged. `continue`: the differences are a warning, the present team is recorded, and the run
   * continues with it. Code is no trait. Default `refuse`.
   */
  readonly onTeamChange?: OnTeamChange;
  /**
   * Reuse of the answers of an activation whose failure ended the run. `all`: recorded answers are not paid again. `none`: this
   * resume asks for all again, because the answers themselves may be faulty. Default `all`.
   */
  readonly reuse?: "all" | "none";
  /**
   * For a run that another living process owns. `follow`: `result` is the result that the owner records, and this handle's changes and commands
   * go to the owner; if the owner dies or leaves the run, this process continues it. `take`: this process takes the run, which ends as `moved` in
   * the other. `refuse`: this run ends with `RUN_OWNED`, as it does if the journal has no `command`. Default `follow`.
   */
  readonly onOwned?: "follow" | "take" | "refuse";
  /**
   * Keeps the run in this process while its roles only wait (`ctx.sleep`, `ctx.waitFor`): its waits end here, and `result` comes when nothing is left
   * to do. Default false: the run ends as `waiting`, and no process holds it.
   */
  readonly wait?: boolean;
  /**
   * Called when this process owns the run, before the record is read and any work begins, for example to fetch files. If it rejects, the run is
   * released unchanged, and its result has the error. Default: none.
   */
  readonly prepare?: (o: { readonly signal: AbortSignal }) => Promise<void>;
  /**
   * Called after the last work of the run here, before its end is recorded or the run is released, for example to store files; again if a
   * message lets the run continue meanwhile. `error` is the reason for the end: undefined for a finished run, a MovedError without `isDrained`
   * if another process took the run. If it rejects, the run is released without an end. Default: none.
   */
  readonly conclude?: (o: { readonly error: unknown }) => Promise<void>;
}

const onTeamChange = kinds.oneOf("refuse", "continue");

export const resumeOptions: Known<ResumeOptions> = {
  rounds: kinds.count,
  ticks: kinds.ticks,
  stopWhen: {
    ...kinds.either(kinds.function, kinds.oneOf(null)),
    advice: (value) => ({ got: valueText(value), todo: "Write stopWhen: afterRounds(3)." }),
  },
  signal: kinds.signal,
  budget,
  pools: kinds.list({ says: "a pool of a budget, made by budgetPool", fits: isBudgetPool }),
  limits: kinds.checked,
  onTeamChange,
  context: kinds.object,
  reuse: kinds.oneOf("all", "none"),
  onOwned: kinds.oneOf("follow", "take", "refuse"),
  wait: kinds.boolean,
  prepare: kinds.function,
  conclude: kinds.function,
};

/** Options of a run that continues with further messages. */
export interface ContinueOptions extends ResumeOptions {
  /**
   * Messages from outside that come right after the resume, recorded together with it. A string becomes a user requirement, or feedback if
   * a role watches `UserFeedback`. A message with a known id is not published again.
   */
  readonly add?: readonly (Message | string)[];
}

export const continueOptions: Known<ContinueOptions> = { ...resumeOptions, add: kinds.list(kinds.checked) };

/** Options of {@link Team.signal}: those of the resume that it may cause, and its id. */
export interface SignalOptions extends ResumeOptions {
  /** A signal of a known id is not recorded again. Default: a new id. */
  readonly id?: string;
}

export const signalOptions: Known<SignalOptions> = { ...resumeOptions, id: kinds.text };

/** Options of a change by the handle of a run: a message, a hire or a retirement. */
export interface RunChangeOptions {
  /**
   * For a team that differs from the team of the run's record. `refuse`: the call rejects with `TEAM_CHANGED`. `continue`: the change is
   * made with the roles of the present team that the run has. Ignored while the run is under way. Default `refuse`.
   */
  readonly onTeamChange?: OnTeamChange;
}

export const changeOptions: Known<RunChangeOptions> = { onTeamChange };

/** Options of a change of a run from outside: a message, a hire, a retirement, or who plays a role. */
export interface SendOptions extends RunChangeOptions {
  readonly signal?: AbortSignal;
}

export const sendOptions: Known<SendOptions> = { signal: kinds.signal, onTeamChange };

/** Options of hiring a role into a run. */
export interface HireOptions extends SendOptions {
  /** The name of the role in the run. Default: the definition's own. */
  readonly name?: string;
}

export const hireOptions: Known<HireOptions> = { ...sendOptions, name: kinds.text };

/** Options of a run. */
export interface RunOptions extends ResumeOptions {
  /** Default: a new id. A run that the journal has is resumed. */
  readonly id?: string;
  /** A value kept with the run for readers of its record, such as its settings. */
  readonly about?: Json;
  /**
   * The user, conversation or tenant whose words the run has. Its roles remember for this scope alone, unless their option `memory.scope`
   * differs, and {@link Team.forget} finds the run by it. Recorded at the start; a fork has the scope of its parent. Default: none.
   */
  readonly scope?: Scope;
}

export const runOptions: Known<RunOptions> = { ...resumeOptions, id: kinds.text, about: kinds.checked, scope: kinds.object };

/** Options of a fork: its last shared event and its changes. */
export interface ForkOptions extends Omit<RunOptions, "scope"> {
  /** Sequence number of the last shared event. Default: the last event that `change` names, else the last of all. */
  readonly at?: number;
  /** Changes of messages of the shared past: other contents, or never delivered. */
  readonly change?: readonly MessageChange[];
  /** Reuse of the parent's answers after the shared past. `none` asks for all again, for example from another model of the same id. Default `all`. */
  readonly reuse?: "all" | "none";
  /** Activations of the parent, such as `Ann#3`, whose answers are asked for again; those of others are reused where they are asked for as before. */
  readonly again?: readonly string[];
  /** Seed of all randomness after the shared past, which keeps its values. Default: the parent's seed. */
  readonly seed?: string | number;
  /** Messages from outside right after the shared past, as for `ContinueOptions`. */
  readonly add?: readonly (Message | string)[];
}

const messageChange: Known<MessageChange> = {
  ...kinds.each(kinds.count, "seq", "nth"),
  drop: kinds.boolean,
  content: kinds.text,
  instructContent: kinds.checked,
};

export const forkOptions: Known<ForkOptions> = {
  ...continueOptions,
  id: kinds.text,
  about: kinds.checked,
  at: kinds.number,
  again: kinds.texts,
  change: kinds.list(kinds.options(messageChange, "seq")),
  seed: kinds.seed,
};

/** Options of a replay. */
export interface ReplayOptions {
  readonly signal?: AbortSignal;
  /** As for a run. */
  readonly context?: RunContext;
}

export const replayOptions: Known<ReplayOptions> = { signal: kinds.signal, context: kinds.object };
