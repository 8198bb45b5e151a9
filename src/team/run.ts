import { abortWith } from "../kernel/abort.ts";
import { aText, takes } from "../kernel/argument.ts";
import { AbortedError, type ControlError, errorRecord, MovedError, UsageError } from "../kernel/errors.ts";
import { deepFreeze, type Json } from "../kernel/json.ts";
import { guardResult, type ResultMembers } from "../kernel/run-handle.ts";
import { ObserverRegistry } from "../runtime/observers.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Observed, ObservedOf, RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Message } from "../message/message.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import type { Action } from "../role/action.ts";
import type { Role } from "../role/role.ts";
import { assertIsRole } from "../role/role-parts.ts";
import { checkedNews, hiring, publishing, retiring, type RunChange, type RunCommand, type RunReceipt, taking } from "./publishing.ts";
import type { Runs } from "./runs.ts";
import { changeOptions, hireOptions, type RunChangeOptions } from "./team-options.ts";

export interface RunEntry {
  /** @throws MovedError if the run passed to another owner before the change was recorded */
  change<T>(change: RunChange<T>): Promise<T>;
  /** Asks the owner in another process to stop, pause or continue the run. Undefined if this process drives it. */
  readonly command?: (command: RunCommand) => Promise<unknown>;
}

export interface RunControls {
  readonly id: string;
  readonly observers: ObserverRegistry;
  readonly signal: AbortSignal;
  readonly grew: () => void;
  readonly started: () => void;
  readonly resumed: () => Promise<void> | undefined;
  readonly lost: () => void;
  /** Called with the entry of the run when changes can come, and with undefined when they must wait. */
  readonly enter: (entry: RunEntry | undefined) => void;
}

export function idleControls(id: string, observers: ObserverRegistry, signal: AbortSignal): RunControls {
  const nothing = (): undefined => undefined;
  return { id, observers, signal, grew: nothing, started: nothing, resumed: nothing, lost: nothing, enter: nothing };
}

const resultMembers: { readonly [Name in keyof Required<RunResult>]: Name } & ResultMembers = {
  runId: "runId",
  status: "status",
  stoppedBy: "stoppedBy",
  rounds: "rounds",
  tick: "tick",
  messages: "messages",
  output: "output",
  outputs: "outputs",
  deadLetters: "deadLetters",
  failures: "failures",
  dropped: "dropped",
  unread: "unread",
  faults: "faults",
  usage: "usage",
  cost: "cost",
  byRole: "byRole",
  byModel: "byModel",
  uncertain: "uncertain",
  questions: "questions",
  fork: "fork",
  error: "error",
  ...{ answer: "output", content: "output", text: "output", finalOutput: "output" },
};

/**
 * A run under way, returned by {@link Team.run}. `result` never rejects: its status and error show how the run ended. Iterate a run to get
 * its events, from the first one, also after it has ended.
 *
 * Run.H1 (`since`): an iterator yields all durable events in order, and ends when the run has ended.
 * Run.H2 (`stop`, `drain`): activations that are under way stay open, so that the run can be resumed.
 * Run.H3 (`publish`): a message that comes while the run is driven is recorded before the end of the run, which continues; a later message is
 * recorded after the end, and waits for a resume.
 * Run.H4 (`started`): it rejects only for a run without a recorded event, and never as an unhandled rejection.
 *
 * @example
 * import { defineAction, defineRole, type Run, Team } from "troupe";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const run: Run = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }).run("hello");
 * for await (const event of run) if (event.type === "act.ended") console.log(event.role, event.said[0]?.message.content); // Sam HELLO
 * console.log((await run.result).status); // finished
 */
export class Run implements AsyncIterable<RunEvent> {
  static {
    guardResult(this.prototype, "team.run(idea)", resultMembers);
  }

  readonly id: string;
  readonly result: Promise<RunResult>;
  /** Resolves when the start, or the resume, is durable. Rejects if the run is refused or stopped first, with the same error as `result`. */
  readonly started: Promise<void>;
  readonly #journal: Journal;
  readonly #observers = new ObserverRegistry();
  readonly #abort = new AbortController();
  readonly #host: Runs | undefined;
  #entry: RunEntry | undefined;
  #phase: "starting" | "running" | "ended" = "starting";
  #isKnown = false;
  #growth = 0;
  #wake: (() => void)[] = [];
  #pause: { readonly over: Promise<void>; readonly end: () => void } | undefined;

  constructor(
    id: string,
    journal: Journal,
    signal: AbortSignal | undefined,
    drive: (controls: RunControls) => Promise<RunResult>,
    host?: Runs,
  ) {
    this.id = id;
    this.#journal = journal;
    this.#host = host;
    let begin = (): void => {};
    const beginning = new Promise<void>((resolve) => (begin = resolve));
    const letGo = abortWith(this.#abort, signal);
    this.#abort.signal.addEventListener("abort", () => this.#endPause(), { once: true });
    this.result = drive(this.#controls(begin)).finally(() => {
      letGo();
      this.#phase = "ended";
      this.#enter(undefined);
    });
    this.started = Promise.race([beginning, this.#ended(this.result)]);
    this.started.catch(() => {});
  }

  #controls(begin: () => void): RunControls {
    return {
      id: this.id,
      observers: this.#observers,
      signal: this.#abort.signal,
      grew: () => this.#grew(),
      started: () => {
        this.#phase = "running";
        this.#isKnown = true;
        this.#grew();
        begin();
      },
      lost: () => this.#abort.abort(new MovedError(this.id)),
      enter: (entry) => this.#enter(entry),
      resumed: () => (this.#pause === undefined ? undefined : this.#pauseOver()),
    };
  }

  #enter(entry: RunEntry | undefined): void {
    this.#entry = entry;
    this.#grew();
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.since(0);
  }

  /** Yields the events from number `first` on. @internal */
  async *since(first: number): AsyncGenerator<RunEvent, void, void> {
    let next = first;
    for (;;) {
      const phase = this.#phase;
      const growth = this.#growth;
      if (this.#isKnown) {
        for await (const event of this.#journal.read(this.id, next)) {
          next = event.seq + 1;
          yield deepFreeze(event);
        }
      }
      if (phase === "ended") return;
      // Events that came meanwhile did not wake the iterator, so it reads again.
      if (growth === this.#growth) await this.#nextGrowth();
    }
  }

  /**
   * Returns what an action with an `output` schema said last in this run, as a value of that schema. Resolves when the run has ended.
   *
   * @throws the error of a run that did not finish; UsageError `OUTPUT_MISSING` if the action said nothing
   */
  async outputOf<O>(action: Action<O>): Promise<O> {
    const { status, error, messages } = await this.result;
    const said = messages.findLast(
      ({ sentFrom, causeBy, instructContent }) => sentFrom !== "" && causeBy === action.name && instructContent !== undefined,
    );
    if (said !== undefined && status === "finished") return said.instructContent as O;
    if (error !== undefined) throw error;
    const why = status === "finished" ? `it said none` : `the run ended as "${status}"`;
    throw new UsageError("OUTPUT_MISSING", `Expected a value of ${action.name} in run ${this.id}, but ${why}.`);
  }

  /** Calls `listener` for every event or notice of a type; the returned function unsubscribes it. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    return this.#observers.on(type, listener);
  }

  /** Reports a warning to the logger of the team and the listeners of the notice `warning`. */
  warn(text: string): void {
    this.#host?.warn(text, this.#observers);
  }

  /**
   * Publishes a message from outside; a string becomes a user requirement, or feedback if a role watches `UserFeedback`. Resolves when it is
   * recorded. Recipients get it at their next turn. After the run has ended the message waits for {@link Team.resume}. A message of a known id
   * is not published again.
   *
   * @throws UsageError `MESSAGE_INVALID`, `MESSAGE_TOO_LONG`, `MESSAGE_KNOWN`, `REPLAY_FIXED`; QueueFullError `MAILBOX_FULL`
   * @throws JournalError when it cannot be recorded; after the run has ended also `RUN_OWNED` and `TEAM_CHANGED`
   */
  async publish(message: Message | string, o: RunChangeOptions = {}): Promise<RunReceipt> {
    this.#changeable();
    checkKnownOptions("publish", o, changeOptions);
    return this.change(publishing(checkedNews(message)), o);
  }

  /** Sends a signal to this run, as {@link Team.signal} does. @throws as {@link Team.signal}; UsageError `REPLAY_FIXED` */
  async signal(name: string, value?: Json, o: RunChangeOptions & { readonly id?: string } = {}): Promise<Run | undefined> {
    const host = this.#changeable();
    checkKnownOptions("signal", o, handleSignalOptions);
    return host.signal(this.id, { name, value }, o, this);
  }

  /**
   * Hires a role into this run, under its own name or another. Resolves when it is recorded. The role gets the messages that are routed from
   * then on. In another process the team needs the definition, in its option `reserve` or in `roles`. Only the
   * same role can take the name of a retired one; it returns with its memory.
   *
   * @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`, `REPLAY_FIXED`
   * @throws JournalError as {@link Run.publish}
   */
  async hire(role: Role, o: RunChangeOptions & { readonly name?: string } = {}): Promise<void> {
    const host = this.#changeable();
    checkKnownOptions("hire", o, handleHireOptions);
    assertIsRole(role);
    const { name = role.name, ...more } = o;
    await this.change(await hiring(role, name), more);
    host.reserve.keep(this.id, name, role);
  }

  /**
   * Retires a role of this run. Resolves when it is recorded. An activation that is under way ends and takes effect; one that was cut off or
   * waits for a person while the run is at rest is given up. Unread and later messages of the role become dead letters.
   *
   * @throws UsageError `ROLE_UNKNOWN`, `ROLES_NONE` for the last role, `REPLAY_FIXED`
   * @throws JournalError as {@link Run.publish}
   */
  async retire(name: string, o: RunChangeOptions = {}): Promise<void> {
    checkKnownOptions("retire", o, changeOptions);
    await this.change(retiring(name), o);
  }

  /**
   * Lets a person take a role, `by` name or anyone: until {@link Run.giveBackRole}, what the role asks its model is a question to that person. An
   * activation under way learns of it with its next answer. Words end the work of an agent, and the JSON of a call goes on with it.
   *
   * @throws UsageError `ROLE_UNKNOWN`, `ROLE_TAKEN`, `OPTION_INVALID`, `REPLAY_FIXED`; JournalError as {@link Run.publish}
   */
  async takeRole(name: string, o: RunChangeOptions & { readonly by?: string } = {}): Promise<void> {
    checkKnownOptions("takeRole", o, handleTakeOptions);
    await this.change(taking(name, o), o);
  }

  /** Gives a role back to its model, which is asked what is open. @throws UsageError `ROLE_NOT_TAKEN`, and as {@link Run.takeRole} */
  async giveBackRole(name: string, o: RunChangeOptions = {}): Promise<void> {
    checkKnownOptions("giveBackRole", o, changeOptions);
    await this.change(taking(name, { back: true }), o);
  }

  #changeable(): Runs {
    if (this.#host !== undefined) return this.#host;
    const expected = `Expected a run that can change, but this is a replay of ${this.id}, which repeats its record`;
    throw new UsageError(
      "REPLAY_FIXED",
      `${expected}. Change the run itself: team.send("${this.id}", message), or team.resume("${this.id}").`,
    );
  }

  /** Makes a change from outside, also after the run has ended. @internal */
  async change<T>(change: RunChange<T>, { onTeamChange }: RunChangeOptions = {}): Promise<T> {
    const host = this.#changeable();
    let left: RunEntry | undefined;
    while (this.#phase !== "ended") {
      const entry = this.#entry;
      if (entry === undefined || entry === left) {
        await this.#nextGrowth();
        continue;
      }
      try {
        return await entry.change(change);
      } catch (error) {
        // The next owner makes the change.
        if (!(error instanceof MovedError)) throw error;
        left = entry;
      }
    }
    const { error } = await this.result;
    // If this run was refused, the journal's run of this id is a different one, so nothing is changed there.
    if (!this.#isKnown && error !== undefined) throw error;
    return host.change(this.id, change, { observers: this.#observers, onTeamChange });
  }

  /** Stops calls in flight and ends the run with status `stopped`. */
  stop(reason = "the run was asked to stop"): void {
    takes("stop of a run", "reason", reason, aText);
    const failed = (error: unknown): void =>
      this.#end(new AbortedError(`run ${this.id} is no longer followed: its owner could not be reached to stop it`, error));
    if (!this.#command({ do: "stop", reason }, failed)) this.#end(new AbortedError(reason));
  }

  /** Releases the run to another process: stops calls in flight and ends the run here as `moved`. No end is recorded. */
  drain(): void {
    this.#end(new MovedError(this.id, { isDrained: true }));
  }

  /** Lets no further activation start until {@link proceed}; those under way continue. A stopped run cannot be paused. */
  pause(): void {
    if (this.#abort.signal.aborted || this.#command({ do: "pause" }) || this.#pause !== undefined) return;
    let end = (): void => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    this.#pause = { over, end };
  }

  proceed(): void {
    if (!this.#abort.signal.aborted) this.#command({ do: "proceed" });
    this.#endPause();
  }

  #endPause(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  #end(reason: ControlError): void {
    this.#abort.abort(reason);
    this.#endPause();
  }

  #command(command: RunCommand, failed: (error: unknown) => void = () => undefined): boolean {
    const give = this.#entry?.command;
    give?.(command).catch((error: unknown) => {
      this.warn(`The owner of run ${this.id} could not be asked to ${command.do} it: ${errorRecord(error).message}`);
      failed(error);
    });
    return give !== undefined;
  }

  async #ended(result: Promise<RunResult>): Promise<void> {
    const { error } = await result;
    if (!this.#isKnown && error !== undefined) throw error;
  }

  async #pauseOver(): Promise<void> {
    while (this.#pause !== undefined) await this.#pause.over;
  }

  #nextGrowth(): Promise<void> {
    return new Promise((resolve) => void this.#wake.push(resolve));
  }

  #grew(): void {
    this.#growth += 1;
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

const { signal: _signal, ...handleHireOptions } = hireOptions;
const handleTakeOptions = { ...changeOptions, by: kinds.text };
const handleSignalOptions = { ...changeOptions, id: kinds.text };
