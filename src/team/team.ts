import { aText, takes } from "../kernel/argument.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import type { Json } from "../kernel/json.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { maskSecrets } from "../kernel/mask.ts";
import type { Scope } from "../kernel/scope.ts";
import { isObject } from "../kernel/value-kind.ts";
import type { Message } from "../message/message.ts";
import { checkScope } from "../memory/memory-scope.ts";
import { presentMeter, unmetered } from "../model/meter.ts";
import { budgetPool, investIn, isBudgetPool } from "../model/budget-pool.ts";
import { allLimits, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { assertIsRole } from "../role/role-parts.ts";
import { checkOptions, checkWhole } from "../runtime/environment-options.ts";
import { assertNotErased } from "../runtime/record/erased-event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { memoryJournal } from "../runtime/record/memory-journal.ts";
import { poolsFor } from "./bounds.ts";
import type { TeamParts, TeamRun } from "./drive.ts";
import type { Forgotten, TeamForgetOptions } from "./forget.ts";
import { checkedNews, hiring, isSameMessage, openingMessage, publishing, retiring, type RunReceipt, taking } from "./publishing.ts";
import { Conversation, conversationOptions, type ConversationOptions } from "./conversation.ts";
import { answering, isGiven } from "./answering.ts";
import { answerTo, findQuestion, resumeRun, startRun } from "./resume.ts";
import { Reserve, rolesNone, type RolesOfRun, type RolesRequest, Roster } from "./roster.ts";
import type { Run, RunControls } from "./run.ts";
import { ideaDiffers, Runs } from "./runs.ts";
import type { Settlement, SettleOptions } from "./settle.ts";
import type { SubmitOptions } from "./run-driver.ts";
import {
  continueOptions,
  type ContinueOptions,
  forkOptions,
  type ForkOptions,
  type HireOptions,
  hireOptions,
  replayOptions,
  type ReplayOptions,
  resumeOptions,
  type ResumeOptions,
  runOptions,
  type RunOptions,
  sendOptions,
  type SendOptions,
  signalOptions,
  type SignalOptions,
  teamOptions,
  type TeamOptions,
} from "./team-options.ts";

/**
 * A team: roles hired for a goal, a budget to spend, and a journal that keeps its runs. Defaults: no budget, a journal in memory, 100
 * rounds, counted anew after a message to a run at rest. `run`, `resume`, `fork` and `replay` return at once; the result of a run reports its failure, see {@link RunResult}.
 *
 * Team.T1 (`invest`): all runs of the team share one pool, and each is recorded with its own budget.
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
  readonly #parts: TeamParts;
  readonly #roster: Roster;
  readonly #reserve: Reserve;
  readonly #runs: Runs;
  readonly #limits: ModelLimits | undefined;
  /** Bounds each run alone, and is recorded with it. */
  #budget: MicroUsd | undefined;
  /** Bounds all runs together. */
  #pool: BudgetPool | undefined;

  /** @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`, and the errors of {@link Team.hire} */
  constructor(options: TeamOptions = {}) {
    checkKnownOptions("new Team", options, teamOptions);
    checkOptions(options);
    const { roles = [], reserve = [], name = "team", budget, journal = memoryJournal() } = options;
    this.name = name;
    this.#parts = { name, options, journal, mask: maskSecrets(options.secrets ?? []) };
    this.#roster = new Roster(roles);
    this.#reserve = new Reserve(reserve, (run) => this.#roster.present(run));
    this.#limits = sharedLimits(options.limits);
    this.#runs = new Runs(this.#parts, this.#roster, this.#reserve, (o) => ({
      budget: this.#budget,
      pools: poolsFor(o, this.#pool),
      limits: allLimits(sharedLimits(o.limits), this.#limits),
    }));
    if (isBudgetPool(budget)) this.#pool = budget;
    else if (budget !== undefined) this.invest(budget);
  }

  /** Hires roles under their own names, or one under another. @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `STATE_INVALID` */
  hire(role: Role, o: { readonly name: string }): this;
  hire(...roles: readonly Role[]): this;
  hire(...given: readonly (Role | { readonly name: string })[]): this {
    const [first, second] = given;
    const alias = given.length === 2 && isAlias(second) ? second.name : undefined;
    if (alias !== undefined) checkKnownOptions("hire", second, { name: kinds.checked });
    for (const role of alias === undefined ? given : [first]) this.#roster.hire(role, alias);
    return this;
  }

  /** Sets the limit on the spending of all runs together, past spending included, in micro-dollars. @throws UsageError `OPTION_INVALID` */
  invest(budget: MicroUsd): this {
    checkWhole(budget, "budget in micro-dollars", 0);
    if (!isBudgetPool(this.#parts.options.budget)) this.#budget = budget;
    if (this.#pool === undefined) this.#pool = budgetPool(budget, { name: `budget of ${this.name}` });
    else investIn(this.#pool, budget);
    return this;
  }

  /** Returns the present roles of a run. @internal */
  rolesOf(run: RolesRequest): ReturnType<RolesOfRun> {
    return this.#roster.present(run);
  }

  /** The names of the roles that all runs have. */
  get roleNames(): readonly string[] {
    return this.#roster.names;
  }

  /** The names of the definitions in `reserve`, which runs can hire later. */
  get reserveNames(): readonly string[] {
    return this.#reserve.names;
  }

  get journal(): Journal {
    return this.#parts.journal;
  }

  /**
   * Starts a run for an idea. With a known id the run is resumed, or started if it has no events. A different idea fails with a JournalError
   * `RUN_IDEA_DIFFERS`. Later hires and investments apply to later runs. A run under way is returned as it is; a run that another process owns
   * is followed, see the option `onOwned`.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`, `ROLES_NONE`
   */
  run(idea: string | Message, o: RunOptions = {}): Run {
    checkKnownOptions("run of a team", o, runOptions);
    const whose = scopeHere("run of a team", o.scope);
    const said = openingMessage(idea, this.#now());
    const id = this.#id(o.id);
    if (this.#roster.isEmpty) throw rolesNone();
    const create = o.id === undefined ? "new" : "new or known";
    const drive = (run: TeamRun): Promise<RunResult> => {
      const { state, mask } = run;
      assertNotErased(state);
      if (state.idea !== undefined && !isSameMessage(state.idea, said, mask)) throw ideaDiffers(id);
      return state.seq === 0 ? startRun({ ...run, idea: said }, { ...o, ...whose }) : resumeRun({ ...run, idea: said }, o);
    };
    return this.#runs.launch({ id, options: o, create, idea: said, drive });
  }

  /**
   * Gives a run to the workers of the team's driver, and returns its id. Resolves when the driver keeps it durably; a worker that has a team of
   * this name starts or resumes it. Watch it by `journal.read`, or by `run` with the same id in any process.
   *
   * @throws UsageError `OPTION_INVALID` without a driver, `MESSAGE_INVALID`; errors of the driver and of the journal
   */
  async submit(idea: string | Message, o: SubmitOptions = {}): Promise<string> {
    // Loaded here because most programs submit nothing.
    const { submitOptions, submitRun } = await import("./run-driver.ts");
    checkKnownOptions("submit", o, submitOptions);
    const { scope } = scopeHere("submit", o.scope);
    const { name, journal, mask, options } = this.#parts;
    const runId = this.#id(o.id);
    await submitRun({ name, journal, mask, driver: options.driver }, { runId, idea: checkedNews(idea), about: o.about, scope });
    return runId;
  }

  /**
   * Resumes a run of the journal: ended activations do not run again, and no recorded call is paid again. A run under way is returned as it
   * is; one that another process owns is followed, see the option `onOwned`. A finished run continues if a message came after its end: its budget
   * covers the whole run, its round limit only what follows the message. Without a message the result is returned, and nothing is recorded.
   *
   * @throws UsageError `OPTION_INVALID`, also for `add` while the run is under way; `MESSAGE_INVALID`
   */
  resume(runId: string, o: ContinueOptions = {}): Run {
    checkKnownOptions("resume", o, continueOptions);
    const news = (o.add ?? []).map(checkedNews);
    if (news.length > 0 && this.#runs.find(runId) !== undefined) {
      throw new UsageError(
        "OPTION_INVALID",
        `Expected a run that is not under way, but ${runId} is. Publish into it: run.publish(message).`,
      );
    }
    return this.#runs.launch({ id: runId, options: o, news, drive: (run) => resumeRun(run, o, { news }) });
  }

  /**
   * Publishes a message from outside into a run of the journal; a string becomes a user requirement, or feedback if a role watches
   * `UserFeedback`. Resolves when it is recorded. It starts nothing: if the run is not under way, the message waits for {@link Team.resume}.
   * A message with a known id is not published again. If another process owns the run, that process publishes the message.
   *
   * @throws UsageError `MESSAGE_INVALID`, `MESSAGE_TOO_LONG`; `MESSAGE_KNOWN` for another message of a known id
   * @throws QueueFullError `MAILBOX_FULL`
   * @throws JournalError `RUN_UNKNOWN`, `RUN_NOT_STARTED`, `TEAM_CHANGED`; `RUN_OWNED` if the journal has no `command`
   * @throws ControlError when the signal aborts first: the message may be recorded, and can be sent again under its id
   */
  async send(runId: string, message: Message | string, o: SendOptions = {}): Promise<RunReceipt> {
    checkKnownOptions("send", o, sendOptions);
    return this.#runs.change(runId, publishing(checkedNews(message)), o);
  }

  /**
   * Hires a role into a run of the journal, as {@link Run.hire} does. It starts nothing.
   *
   * @param role a definition, or the name of one that the team has in `reserve` or in `roles`
   * @throws UsageError `ROLE_UNKNOWN`, and the errors of {@link Run.hire} and {@link Team.send}
   */
  async hireInto(runId: string, role: Role | string, o: HireOptions = {}): Promise<void> {
    checkKnownOptions("hireInto", o, hireOptions);
    const { name, ...more } = o;
    const { signal = new AbortController().signal } = o;
    const definition = typeof role === "string" ? await this.#reserve.named(role, { runId, signal }) : role;
    assertIsRole(definition);
    const change = await hiring(definition, name ?? definition.name);
    await this.#runs.change(runId, change, more);
    this.#reserve.keep(runId, name ?? definition.name, definition);
  }

  /** Retires a role of a run of the journal, as {@link Run.retire} does. @throws UsageError `ROLE_UNKNOWN`, `ROLES_NONE`, and as {@link Team.send} */
  async retireFrom(runId: string, name: string, o: SendOptions = {}): Promise<void> {
    checkKnownOptions("retireFrom", o, sendOptions);
    await this.#runs.change(runId, retiring(name), o);
  }

  /** Lets a person take a role of a run of the journal. It starts nothing. @throws as {@link Run.takeRole} and {@link Team.send} */
  async takeRole(runId: string, name: string, o: SendOptions & { readonly by?: string } = {}): Promise<void> {
    checkKnownOptions("takeRole", o, { ...sendOptions, by: kinds.text });
    await this.#runs.change(runId, taking(name, o), o);
  }

  /** Gives a role of a run of the journal back. @throws as {@link Run.giveBackRole} and {@link Team.send} */
  async giveBackRole(runId: string, name: string, o: SendOptions = {}): Promise<void> {
    checkKnownOptions("giveBackRole", o, sendOptions);
    await this.#runs.change(runId, taking(name, { back: true }), o);
  }

  /**
   * Settles the calls that a crash interrupted and that will not be repeated: until then their worst case counts as spent, in the run and in
   * the team's pools. A resumed run repeats its calls, and settles them itself.
   *
   * @throws UsageError `OPTION_INVALID`; JournalError `RUN_UNKNOWN`, `RUN_OWNED` for a run under way, `NOTHING_LOST`
   */
  async settle(runId: string, o: SettleOptions = {}): Promise<Settlement> {
    // Loaded here because most programs settle nothing.
    const { settleRun } = await import("./settle.ts");
    return settleRun({ ...this.#parts, runs: this.#runs, pool: this.#pool }, runId, o);
  }

  /**
   * Answers a question to a person, and resumes the run that waits for it. In a run under way, also of another process, the answer counts in
   * place of the person who is being asked. Resolves when the answer is recorded.
   *
   * @param questionId the id in `RunResult.questions` and in the `waiting` error, or its first letters
   * @param answer a string, or for a question with a form also a JSON value that the form takes; see `checkAnswer`
   * @throws UsageError `QUESTION_ANSWER_INVALID` when the answer does not fit the form; `OPTION_INVALID` when the run is under way and asks
   * nobody this, or the answer to a question without a form is no string
   * @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`, `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`, `TEAM_CHANGED`; `QUESTION_EXPIRED` when its deadline has
   * passed and the next resume takes its default; `QUESTION_GIVEN_UP` when its role was retired, or its activation ended without it
   */
  async answer(runId: string, questionId: string, answer: Json, o: ResumeOptions = {}): Promise<Run> {
    checkKnownOptions("answer", o, resumeOptions);
    const onOwned = o.onOwned === "take" ? "take" : "refuse";
    const drive = async (run: TeamRun): Promise<RunResult> => {
      const question = await findQuestion(run.journal, run.state, questionId, run.controls.signal);
      return resumeRun(run, o, { first: [answerTo(question, answer, { mask: run.mask, now: this.#now() })] });
    };
    const given = answering(this.#parts, questionId, answer);
    const local = async (): Promise<Run> => {
      const underWay = this.#runs.find(runId);
      if (underWay !== undefined && (await isGiven(underWay, given))) return underWay;
      const run = this.#runs.launch({ id: runId, options: { ...o, onOwned }, drive });
      await run.started;
      return run;
    };
    const command = given.command(this.#parts.mask);
    return this.#runs.localOrRemote({ runId, local, command, resultOf: () => this.resume(runId, o), signal: undefined });
  }

  /**
   * Sends a signal to a run of the journal. It ends a wait for this name, and resumes a run that has ended as `waiting` for it, here or by a worker of
   * the team's driver; else it is kept for a later wait. Resolves when it is recorded. A signal of a known id is recorded once, so a sender can repeat
   * it. If another process owns the run, that process gets the signal. Ids belong to a run: another run does not know them.
   *
   * @param value any JSON value; default null
   * @returns the run, if it is under way in this team or was resumed
   * @throws UsageError `WAIT_INVALID`, `SIGNAL_INVALID` for a value that does not fit the open wait, `MESSAGE_KNOWN` for another signal of a known id
   * @throws JournalError `RUN_UNKNOWN`, `RUN_FINISHED`, and as {@link Team.send}; QueueFullError `SIGNALS_FULL` when 1,000 are kept
   */
  async signal(runId: string, name: string, value?: Json, o: SignalOptions = {}): Promise<Run | undefined> {
    checkKnownOptions("signal", o, signalOptions);
    return this.#runs.signal(runId, { name, value }, o);
  }

  /** Returns the conversation of that id: a run that each `say` continues, also after a restart. @throws UsageError `OPTION_INVALID` */
  conversation(id: string, o: ConversationOptions = {}): Conversation {
    takes("conversation", "id", id, aText);
    checkKnownOptions("conversation", o, conversationOptions);
    return new Conversation({ team: this, underWay: (runId) => this.#runs.find(runId) }, this.#id(id), o);
  }

  /** Erases what a user, a conversation or a tenant has said: see {@link forget}. Pass the stores that a function of a role creates. */
  async forget(scope: Scope, o: TeamForgetOptions = {}): Promise<Forgotten> {
    const roles = [...this.#roster.roles, ...this.#reserve.roles];
    return (await import("./forget.ts")).forgetOf({ ...this.#parts, roles }, scope, o);
  }

  /**
   * Starts a new run that shares the past of another up to an event, and pays only for answers missing from the parent's record. You may
   * change roles, and messages not yet read at that event. Give it no workspace and no store of the parent.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
   */
  fork(parentId: string, o: ForkOptions = {}): Run {
    checkKnownOptions("fork", o, forkOptions);
    const id = this.#id(o.id);
    const said = (o.add ?? []).map(checkedNews);
    const drive = async (run: TeamRun): Promise<RunResult> => {
      // Loaded here because most programs never fork.
      const { forkRun } = await import("./fork.ts");
      return forkRun({ ...run, parentId, said }, o);
    };
    this.#reserve.inherit(id, parentId);
    return this.#runs.launch({ id, options: o, create: "new", drive });
  }

  /**
   * Repeats a run of the journal from its record alone. At the first difference `result.error` is a DifferenceError. No model and no person is
   * asked. Steps marked `again` do run: give the roles of a replay a workspace of their own.
   */
  replay(runId: string, o: ReplayOptions = {}): Run {
    checkKnownOptions("replay", o, replayOptions);
    const crew = this.#runs.crewOf(runId);
    const scratch = memoryJournal();
    const replay = async (controls: RunControls): Promise<RunResult> => {
      // Loaded here because most programs never replay.
      const { replayRun } = await import("./replay.ts");
      return replayRun({ ...this.#parts, scratch, crew: await crew(controls.signal), controls, context: o.context });
    };
    // A replay is no part of what starts it.
    return this.#runs.handle(runId, scratch, o.signal, (controls) => unmetered(() => replay(controls)));
  }

  #id(given: string | undefined): string {
    if (given === "") throw new UsageError("OPTION_INVALID", "Expected the id of a run, got an empty one. Leave it out for a new one.");
    return given ?? freshRunId(this.#now());
  }

  #now(): number {
    return (this.#parts.options.clock ?? systemClock).now();
  }
}

/** Returns the scope of a new run: the given one, else that of the enclosing run. @throws UsageError as `checkScope` */
function scopeHere(what: string, given: Scope | undefined): { readonly scope?: Scope } {
  checkScope(what, given);
  const scope = given ?? presentMeter()?.scope;
  return scope === undefined ? {} : { scope };
}

function isAlias(given: unknown): given is { readonly name: string } {
  return isObject(given) && "name" in given && !("react" in given);
}
