import { progressOf, type RunProgress } from "./stop-condition.ts";
import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, checkKnownOptions } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { localEffects } from "../kernel/effect.ts";
import type { Json } from "../kernel/json.ts";
import { freshRunId } from "../kernel/id.ts";
import { lazily } from "../kernel/lazily.ts";
import { meterFor } from "../model/ask.ts";
import { runInside } from "../model/meter.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import { namedStream, type RandomStream } from "../kernel/random.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import { assertMessageAlone, type Message, type Receipt } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { assertIsRole, rolesIn } from "../role/role-parts.ts";
import { assertRoleName } from "../role/role-spec.ts";
import type { Observed, ObservedOf, RunEvent } from "./record/event.ts";
import { RunLog } from "./record/run-log.ts";
import { copyState } from "./record/state-form.ts";
import { playerOf, type RunState } from "./record/run-state.ts";
import { Answerer, type AnswererParts } from "./steps/answerer.ts";
import type { Persons } from "./steps/persons.ts";
import { loaderOf } from "./edges/edge-policy.ts";
import { Engine } from "./engine.ts";
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_MESSAGE_LIMIT,
  type EnvironmentOptions,
  type EnvironmentRecord,
  type EnvironmentRunOptions,
  type RestoreOptions,
  restoreOptions,
  type RunBacking,
} from "./environment-options.ts";
import {
  assertAlias,
  boundsOf,
  checkOwnOptions,
  environmentJson,
  freshState,
  recordOf,
  userMessage,
  writerOf,
  type RoleView,
  roleView,
} from "./environment-state.ts";
import { firstWarnings, HiredRoles, type Opening, openingOf } from "./hired-roles.ts";
import { Announcer, ObserverRegistry, RunWarnings } from "./observers.ts";
import { type Driver, driverOf } from "./schedulers/drive.ts";
import { recordedBy } from "./schedulers/scheduler.ts";
import type { OwnRun } from "./own-run.ts";
import { RoleMemories } from "./role-memories.ts";
import { recordedEnd, type RunEnd, type RunResult, unrecordedRun, type RunBounds } from "./run-result.ts";

/**
 * The shared world of roles: it routes and delivers messages, and lets roles act. It has no budget, and keeps a record only if given a
 * journal; a {@link Team} adds both. Defaults: the scheduler `rounds`, 16 concurrent activations, 100 rounds for each `run`, a random seed.
 * It owns the hired roles, and the log, which alone writes the run's state.
 *
 * Environment.E1 (`#alone`): at most one run is under way. A run is over once its record is released.
 *
 * @example
 * import { createMessage, defineRole, Environment } from "troupe";
 *
 * const ping = defineRole({ name: "Ping", react: (rc) => rc.message("ball", { sendTo: "Pong" }) });
 * const pong = defineRole({ name: "Pong", react: (rc) => rc.message("ball", { sendTo: "Ping" }) });
 * const table = new Environment({ seed: 1 });
 * table.addRoles([ping, pong]);
 * table.publishMessage(createMessage("serve", { sendTo: ["Ping"] }));
 * console.log((await table.run({ rounds: 10 })).messages.length); // 11
 */
export class Environment {
  readonly description: string;
  readonly #options: EnvironmentOptions;
  readonly #log: RunLog;
  readonly #mask: Mask;
  /** @internal */
  readonly engine: Engine;
  readonly #answerer: Answerer;
  readonly #hired: HiredRoles;
  readonly #opening: Opening | undefined;
  readonly #own: OwnRun | undefined;
  readonly #observers: ObserverRegistry;
  /** Memories that outlast the run. @internal */
  readonly memories: RoleMemories;
  /** True also while a run completes without waiting, and until its record is released. */
  #isUnderWay = false;
  #isDriving = false;
  #hasWarned = false;
  #streams: RandomStream | undefined;

  constructor(options: EnvironmentOptions = {}, backing: RunBacking = {}) {
    checkOwnOptions(options, backing);
    this.description = options.description ?? "";
    this.#options = options;
    const clock = options.clock ?? systemClock;
    const state = backing.state ?? freshState(options);
    const mask = maskSecrets(options.secrets ?? []);
    this.#mask = mask;
    const logger = options.logger ?? new RunWarnings(mask);
    const driver: Driver = backing.driver ?? { run: (host) => driverOf(recordedBy(state, options.scheduler, mask)).run(host) };
    this.#observers = backing.observers ?? new ObserverRegistry();
    const isLive = backing.mode !== "replay";
    const record = recordOf(options, backing, state);
    this.#own = record.own;
    // Without a journal all environments share one id, so a memory store would merge their runs.
    const runId = lazily(() => (record.owned === undefined ? freshRunId(clock.now()) : state.runId));
    const warn = (role: string | undefined, text: string): void => this.engine.warn(role, mask(text));
    const roleNamed = (name: string): Role | undefined => this.#hired.specOf(name)?.role;
    this.memories = new RoleMemories({ shared: options.memory, runId, state: () => state, clock, isLive, mask, warn, roleNamed });
    this.#hired = new HiredRoles(state, this.memories);
    const announcer = new Announcer({ observers: this.#observers, memories: this.memories, logger, mask, grew: backing.grew });
    this.#log = new RunLog({ ...record, state, clock, mask, observer: announcer, snapshots: writerOf(record, state, warn) });
    this.#opening = (backing.opens ?? backing.state === undefined) ? openingOf(this.#log, this.#hired, options.scheduler) : undefined;
    const { seed, signals } = state;
    const asking = { clock, logger, seed, signals, requirePrice: backing.requirePrice ?? false, tell: announcer.telling };
    this.#answerer = this.#answererWith(asking);
    this.engine = new Engine({
      log: this.#log,
      clock,
      driver,
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
      onFailure: options.onFailure ?? "stop",
      answerer: this.#answerer,
      hired: this.#hired,
      opening: this.#opening,
      logger,
      mask,
      ...{ funds: backing.funds, past: backing.past, resumed: backing.resumed },
      ...{
        deps: options.deps,
        context: backing.context,
        guards: options.guards,
        effects: options.effects ?? localEffects,
        failsOnDead: options.onDeadAddress === "fail",
      },
      messageLimit: options.messageLimit ?? DEFAULT_MESSAGE_LIMIT,
      mode: backing.mode ?? "live",
      edges: backing.edges === undefined ? loaderOf(options.edges, () => this.engine) : () => backing.edges,
      announcer,
    });
  }

  #answererWith(parts: Pick<AnswererParts, "clock" | "logger" | "seed" | "requirePrice" | "tell" | "signals">): Answerer {
    return new Answerer({
      ...this.#options,
      ...parts,
      files: (hash) => this.#log.files.read(hash),
      company: { description: this.description, colleagues: (teamAt) => this.#hired.namesAt(teamAt) },
      takenBy: (name, teamAt) => playerOf(this.state, name, teamAt),
      isPlayedByModel: (name, teamAt) => this.#hired.isPlayedByModel(name, teamAt),
    });
  }

  /**
   * Hires a role, under its own name or another. One definition may be hired many times.
   *
   * @throws UsageError `ROLE_DUPLICATE` when the name is taken; `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
   */
  addRole(role: Role, o: { readonly name?: string } = {}): this {
    assertIsRole(role);
    assertAlias(o);
    checkKnownOptions("addRole", o, { name: kinds.text });
    const name = o.name ?? role.name;
    assertRoleName(name);
    const isNew = !this.state.roles.has(name);
    this.#hired.add(role, name);
    if (isNew) this.#opening?.hired(name);
    // A message may reach the role before the turn that hired it has ended.
    if (this.#isDriving) this.#opening?.record();
    return this;
  }

  /** Hires many roles, from any iterable, each under its own name. */
  addRoles(roles: Iterable<Role>): this {
    for (const role of rolesIn(roles)) this.addRole(role as Role);
    return this;
  }

  /**
   * Publishes a message from outside. A string becomes a user requirement; a later one becomes feedback if a role watches
   * `UserFeedback`. A priority belongs to the message: `createMessage(text, { priority })`.
   *
   * @throws UsageError `MESSAGE_INVALID`; `OPTION_UNKNOWN` for options besides the message; QueueFullError `MAILBOX_FULL`
   */
  publishMessage(message: Message | string, ...more: readonly never[]): Receipt {
    assertMessageAlone("publishMessage", more[0]);
    return this.engine.publish(typeof message === "string" ? userMessage(this.state, message, this.#options.clock) : message);
  }

  /**
   * Runs until no role has mail, until another `rounds` rounds have passed, or until something stops the run. The result reports a failing
   * role; `run` does not throw for it. The next `run` continues a stopped one.
   *
   * @throws UsageError `RUN_TWICE` while a run is under way; `OPTION_INVALID` for an invalid option.
   */
  async run(o: EnvironmentRunOptions = {}): Promise<RunResult> {
    const bounds = boundsOf(o, this.state);
    this.#hired.assertHandoffs();
    const drive = async (): Promise<RunEnd> => this.drive(bounds);
    const warn = (text: string): void => this.warn(text);
    const adopt = async (events: AsyncIterable<RunEvent>): Promise<void> => this.#adopt(events);
    const parts = { log: this.#log, mask: this.#mask, drive, warn, adopt, uncertainAfter: this.#options.uncertainAfter };
    const run = (): Promise<RunResult> => this.#own?.run(parts) ?? unrecordedRun(this.state, drive, this.#mask);
    const spec = { kind: "environment", name: this.description || "environment", request: {} };
    return this.#alone(() => runInside(meterFor(this.#options.model), spec, run));
  }

  async #adopt(events: AsyncIterable<RunEvent>): Promise<void> {
    // Loaded here because most programs continue nothing.
    const { adoptRecord } = await import("./snapshot/adopted-record.ts");
    await adoptRecord(events, { log: this.#log, hired: this.#hired, opening: this.#opening, memories: this.memories });
  }

  /** Runs within bounds, and returns why it stopped. @internal */
  async drive(bounds: RunBounds): Promise<RunEnd> {
    this.#assertAtRest(this.#isDriving);
    try {
      this.#isDriving = true;
      if (!this.#hasWarned)
        for (const [role, text] of firstWarnings(this.#hired, this.state, this.#options.edges)) this.engine.warn(role, text);
      this.#hasWarned = true;
      const reason = await this.engine.run(bounds);
      // Stores get only durable events. Without stores, one write has the pending events and the end of the run.
      if (this.memories.isUsed) await this.#log.durable().catch(() => {});
      await this.memories.rest();
      return { reason, failure: this.engine.failure, control: this.engine.control, held: bounds.held?.() };
    } finally {
      this.#isDriving = false;
    }
  }

  /**
   * Waits until the journal has every published message, and releases the run, so that another process can continue it. `run` does this
   * itself; call `close` after publishing a message that no `run` follows, or after a restore without a run. Without a journal it does nothing.
   * The next message or `run` claims the run again.
   *
   * @throws UsageError `RUN_TWICE` while a run is under way
   * @throws JournalError when the journal refuses an event or the release
   * @example
   * import { defineRole, Environment, memoryJournal } from "troupe";
   *
   * const clerk = defineRole({ name: "Clerk", react: (rc) => rc.message("filed", { sendTo: "<none>" }) });
   * const journal = memoryJournal();
   * const office = new Environment({ journal, id: "office", seed: 1 }).addRole(clerk);
   * office.publishMessage("a letter");
   * await office.close();
   * const later = await Environment.restore({ journal, id: "office" }, { roles: [clerk] });
   * console.log((await later.run()).messages.length); // 2
   */
  async close(): Promise<void> {
    await this.#alone(async () => this.#own?.close(this.#log));
  }

  /**
   * Returns the whole state of the environment at this moment as plain JSON, which {@link Environment.restore} takes in any process.
   *
   * @throws UsageError `RUN_TWICE` while a run is under way
   */
  async snapshot(): Promise<Json> {
    this.#assertAtRest();
    this.#opening?.record();
    // The environment may continue before the code below is loaded.
    const now = copyState(this.state);
    const { environmentSnapshot } = await import("./snapshot/environment-snapshot.ts");
    return environmentSnapshot(now);
  }

  /**
   * Returns an environment that continues from a snapshot, or from its record in a journal, as if it had not stopped: it has the same roles, mailboxes,
   * memories and random numbers. Pass the model, clock, limits and any custom scheduler again; they are not part of the state. The streams of
   * {@link Environment.stream} begin anew. An environment restored from its record claims the run, and continues the record.
   *
   * @param o its `roles` are the definitions of the hired roles, found by their own names
   * @throws UsageError `SNAPSHOT_INVALID` for a snapshot that is damaged or of another version; `TEAM_CHANGED`, `SCHEDULER_UNKNOWN`,
   * `SCHEDULER_DIFFERS`, `EDGES_DIFFER`, `OPTION_INVALID`, `OPTION_UNKNOWN`
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`, `RUN_NOT_STARTED`, and others when the record cannot be read
   * @example
   * import { defineRole, Environment } from "troupe";
   *
   * const walker = defineRole({ name: "Walt", react: (rc) => rc.message(`step ${Math.floor(rc.random() * 9)}`, { sendTo: "<self>" }) });
   * const world = new Environment({ seed: 1 }).addRole(walker);
   * world.publishMessage("go");
   * await world.run({ rounds: 5 });
   * const again = await Environment.restore(await world.snapshot(), { roles: [walker] });
   * const [one, other] = [await world.run({ rounds: 5 }), await again.run({ rounds: 5 })];
   * console.log(one.rounds, one.messages.at(-1)?.content === other.messages.at(-1)?.content); // 10 true
   */
  static async restore(from: Json | EnvironmentRecord, o: RestoreOptions): Promise<Environment> {
    checkGivenOptions("Environment.restore", o, restoreOptions);
    const { restored } = await import("./snapshot/environment-snapshot.ts");
    return restored(from, o, (options, backing) => new Environment(options, backing));
  }

  /** Reports a warning to the logger and to the listeners of the notice `warning`. */
  warn(text: string): void {
    this.engine.warn(undefined, text);
  }

  /** Those who are asked now. @internal */
  get persons(): Persons {
    return this.#answerer.persons;
  }

  /** Records the end of the run, if it has not moved and its journal still takes events, and returns the result. @internal */
  async finish(end: RunEnd): Promise<RunResult> {
    return recordedEnd(this.#log, this.#mask, end);
  }

  /** The log of the run. @internal */
  get log(): RunLog {
    return this.#log;
  }

  /** The state of the run. @internal */
  get state(): RunState {
    return this.#log.state;
  }

  /** True when no role has mail, no message is delayed and no turn is under way. All three are counters, so this is exact. */
  get isIdle(): boolean {
    return this.engine.isIdle;
  }

  /** Every delivered message, in order; empty in an environment with `memory: false`. */
  get history(): ReadableMemory {
    return this.state.history;
  }

  /** The view that a stop condition gets. */
  get progress(): RunProgress {
    return progressOf(this.state);
  }

  get seed(): string {
    return this.state.seed;
  }

  /**
   * Returns a random stream for draws outside the roles: a function of the seed and the name.
   *
   * @throws UsageError `STREAM_TAKEN` for a name that was used before
   *
   * @example
   * import { Environment } from "troupe";
   *
   * const world = new Environment({ seed: 1 });
   * const start = world.stream("start");
   * const cells = [1, 2, 3].map(() => Math.floor(start() * 100));
   */
  stream(name: string): RandomStream {
    return (this.#streams ??= namedStream(this.seed, "environment")).split(name);
  }

  get roleNames(): readonly string[] {
    return this.#hired.names;
  }

  /** The present team with its definitions, in hire order. @internal */
  get team(): readonly (readonly [name: string, role: Role])[] {
    return this.#hired.team;
  }

  getRole(name: string): RoleView | undefined {
    takes("getRole", "name", name, aText);
    const [spec, state] = [this.#hired.specOf(name), this.state.roles.get(name)];
    return spec === undefined || state === undefined ? undefined : roleView(spec.role, state);
  }

  /**
   * Calls `listener` for every event or notice of a type; the returned function unsubscribes it. `run.started` comes right before the first
   * message or run, with all roles hired by then; roles hired later come with a `role.hired`.
   */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    return this.#observers.on(type, listener);
  }

  /** Returns the history and the roles (mailboxes, memories, states, plans) as plain JSON, for inspection. {@link snapshot} has the whole state. */
  toJSON(): Json {
    return environmentJson(this.state, this.description);
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#assertAtRest();
    this.#isUnderWay = true;
    try {
      return await work();
    } finally {
      this.#isUnderWay = false;
    }
  }

  #assertAtRest(isBusy: boolean = this.#isUnderWay || this.#isDriving): void {
    if (!isBusy) return;
    throw new UsageError("RUN_TWICE", "Expected an environment that is not running, got one that is. Await its run first.");
  }
}
