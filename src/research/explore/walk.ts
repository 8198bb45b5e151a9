import { type Environment, type EnvironmentOptions, ModelError, type RunResult, UsageError } from "../../index.ts";
import type { Scheduler, SchedulerView } from "../../ports.ts";
import { systemClock } from "../../kernel/clock.ts";
import { silentLogger } from "../../kernel/emit.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { defined, isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { policyModel } from "../policy/policy-model.ts";
import { FAILURE, formAnswers, type Questions, schemaAnswers } from "./answers.ts";
import type { FaultPlan } from "./faults.ts";
import type { Chooser, Fate, Move, PickKind, Step, Walk, WalkEnd } from "./moves.ts";

export type World = (given: EnvironmentOptions) => Environment | Promise<Environment>;

export interface WalkRules {
  readonly world: World;
  readonly faults: FaultPlan;
  readonly questions: Questions;
  readonly depth: number;
  readonly signal: AbortSignal | undefined;
}

type Choice = ReturnType<Scheduler["select"]> extends Iterable<infer C> ? C : never;

/** A clock that stands still, so that no role reads another time in another schedule. Its timers are real. */
const stillClock = { now: () => 0, timer: systemClock.timer };
const common = { seed: "explore", clock: stillClock, logger: silentLogger };
const ROUNDS = Number.MAX_SAFE_INTEGER;
const LONGEST_TEXT = 60;

/** Runs a new world along the schedule of a chooser; undefined where the signal aborted. @throws UsageError `EXPLORE_WORLD` */
export async function walk(rules: WalkRules, chooser: Chooser): Promise<Walk | undefined> {
  const walker = new Walker(rules, chooser);
  const world = await rules.world(walker.options());
  walker.enter(world);
  const result = await world.run({ rounds: ROUNDS, ...defined({ signal: rules.signal }) });
  return rules.signal?.aborted === true ? undefined : walker.walked(result);
}

/** Runs the schedule of a finding once more, as an ordinary run. */
export async function rerun(
  { world: make, questions }: WalkRules,
  steps: readonly Step[],
  o: Pick<EnvironmentOptions, "journal" | "id">,
): Promise<RunResult> {
  const answers = steps.flatMap((step) => step.answers);
  const follow = steps.flatMap(({ fates }) => fates);
  const acts = steps.filter(({ isEffective }) => isEffective).length;
  const scheduler = { name: "messages", follow } as const;
  const world = await make({ ...common, ...o, scheduler, ...answering(questions, () => answers.shift() ?? "") });
  let [chosen, acted] = [0, 0];
  world.on("choice.made", () => void (chosen += 1));
  world.on("act.ended", () => void (acted += 1));
  return world.run({ rounds: ROUNDS, stopWhen: () => chosen >= follow.length && acted >= acts && !world.isIdle });
}

/** @param next returns the answer to a question, of these options; undefined for a model: those of its schema */
function answering(questions: Questions, next: (options: readonly Json[], role: string | undefined) => Json): EnvironmentOptions {
  const model = policyModel({
    id: "explore",
    answer: (request) => {
      const answer = next(schemaAnswers(request), undefined);
      if (answer === FAILURE) throw new ModelError("MODEL_FAILED", "Expected an answer of the model, got the failure of this schedule.");
      return typeof answer === "string" ? answer : JSON.stringify(answer);
    },
  });
  return questions.people ? { model, human: ({ role, form }) => next(formAnswers(form), role) } : { model };
}

/** One schedule of one world. It owns the steps so far. */
class Walker {
  readonly #rules: WalkRules;
  readonly #chooser: Chooser;
  readonly #steps: Step[] = [];
  readonly #seen = new Set<string>();
  readonly #states = new Map<string, JsonObject>();
  /** Roles whose crash is decided. */
  readonly #decided = new Set<string>();
  readonly #crashed = new Set<string>();
  /** The states that have changed since. */
  readonly #now = new Map<string, JsonObject>();
  /** The rest of a copied message's fates. */
  #rest: Fate | undefined;
  #world: Environment | undefined;
  #end: WalkEnd = "rest";
  #faults = 0;
  #hasFailedAnswer = false;
  #isAsked = false;

  constructor(rules: WalkRules, chooser: Chooser) {
    this.#rules = rules;
    this.#chooser = chooser;
  }

  options(): EnvironmentOptions {
    const scheduler: Scheduler = { name: "explore", delivers: "choice", select: (view) => this.#select(view) };
    return { ...common, scheduler, ...answering(this.#rules.questions, (options, role) => this.#answer(options, role)) };
  }

  enter(world: unknown): void {
    if (!isRecord(world) || typeof world["run"] !== "function" || typeof world["getRole"] !== "function")
      throw invalid(`to return an Environment, got ${valueText(world)}`);
    const environment = world as unknown as Environment;
    this.#world = environment;
    for (const name of environment.roleNames) this.#states.set(name, environment.getRole(name)?.state ?? {});
    environment.on("act.ended", ({ said }) => void this.#steps.at(-1)?.said.push(...said.map(({ message }) => message)));
    environment.on("act.failed", ({ error }) => {
      const step = this.#steps.at(-1);
      if (step !== undefined) step.failure = error.message;
    });
  }

  walked(result: RunResult): Walk {
    if (!this.#isAsked) throw invalid("to pass on the options that it gets, got one with a scheduler of its own");
    this.#close();
    const { status } = result;
    const end = status === "failed" || status === "waiting" ? status : this.#end;
    const remembering = new Set([...this.#states.keys()].filter((name) => !this.#isPlain(name)));
    const open = [...remembering].filter((name) => this.#world?.getRole(name)?.plan.tasks.some((task) => task.status === "open"));
    return {
      steps: this.#steps,
      end,
      result,
      states: this.#states,
      open,
      remembering,
      hasFailedAnswer: this.#hasFailedAnswer,
      faults: this.#faults,
    };
  }

  #isPlain(name: string): boolean {
    const role = this.#world?.getRole(name)?.role;
    return role?.step !== undefined || role?.steps !== undefined;
  }

  #select(view: SchedulerView): ReturnType<Scheduler["select"]> {
    this.#isAsked = true;
    const step = this.#steps.at(-1);
    if (view.ready.length > 0) {
      if (step !== undefined) step.isEffective = true;
      return [0];
    }
    const rest = this.#rest;
    if (rest !== undefined) {
      this.#rest = undefined;
      return [{ fate: "delivered", index: view.inFlight.findIndex(({ id, to }) => to === rest.role && id === rest.id) }];
    }
    this.#close();
    for (;;) {
      const moves = this.#moves(view);
      if (moves.length === 0) return [];
      if (this.#steps.length >= this.#rules.depth) return this.#left("deep");
      const move = this.#chooser.next(moves, this.#steps);
      if (move === undefined) return this.#left("left");
      const choice = this.#take(move, moves, view);
      if (choice !== undefined) return [choice];
    }
  }

  #left(end: WalkEnd): readonly never[] {
    this.#end = end;
    return [];
  }

  #moves({ inFlight }: SchedulerView): readonly Move[] {
    const moves: Move[] = [];
    const last = this.#steps.at(-1);
    for (const [index, { id, from, to, due, isNext }] of inFlight.entries()) {
      const key = `${id} to ${to}`;
      if (!this.#seen.has(key)) {
        this.#seen.add(key);
        last?.created.push(key);
      }
      const isFree = due !== undefined || id.includes("*");
      if (isNext) moves.push({ key, role: to, channel: isFree ? key : `${from} to ${to}`, index });
    }
    for (const role of this.#states.keys()) {
      const key = `crash of ${role}`;
      if (!this.#decided.has(role) && this.#rules.faults.crash(role)) moves.push({ key, role, channel: key, index: -1 });
    }
    return moves;
  }

  #take(move: Move, moves: readonly Move[], { inFlight }: SchedulerView): Choice | undefined {
    const { index, role } = move;
    const flying = inFlight[index];
    const rivals = moves.filter((other) => other.role === role).length;
    const step: Step = {
      ...{ move, text: flying === undefined ? move.key : textOf(flying), fates: [], picks: [], answers: [], created: [], said: [] },
      ...{ width: moves.length, rivals, isEffective: false, state: undefined, failure: undefined },
    };
    this.#steps.push(step);
    if (flying === undefined) {
      this.#decided.add(role);
      if (this.#fate(["spared", "crashed"]) === "spared") return undefined;
      this.#crashed.add(role);
      step.fates.push({ fate: "crashed", role });
      return { fate: "crashed", role };
    }
    const { faults } = this.#rules;
    const { id, from } = flying;
    const mayFail = from !== "" && !this.#crashed.has(role) && !id.includes("*");
    const fates = [
      "delivered" as const,
      ...(mayFail && faults.lose(from, role) ? ["lost" as const] : []),
      ...(mayFail && faults.copy(from, role) ? ["copied" as const] : []),
    ];
    const fate = this.#fate(fates);
    const chosen = { fate, role, id };
    step.fates.push(chosen);
    if (fate === "copied") {
      this.#rest = { ...chosen, fate: "delivered" };
      step.fates.push(this.#rest);
    }
    return { fate, index };
  }

  #fate<F>(fates: readonly [F, ...F[]] | readonly F[]): F {
    const isLeft = this.#faults < this.#rules.faults.most;
    const took = fates.length === 1 || !isLeft ? 0 : this.#pick(fates.length, "fault");
    if (took > 0) this.#faults += 1;
    return fates[took] as F;
  }

  #pick(of: number, kind: PickKind): number {
    const took = Math.min(this.#chooser.pick(of, kind, this.#steps), of - 1);
    this.#steps.at(-1)?.picks.push({ of, took });
    return took;
  }

  #answer(options: readonly Json[], person: string | undefined): Json {
    const step = this.#steps.at(-1);
    const role = person ?? step?.move.role ?? "";
    const { faults, questions } = this.#rules;
    const all = questions.all(options, { role, isPerson: person !== undefined });
    const mayFail = person === undefined && this.#faults < faults.most && faults.fail(role);
    const of = all.length + (mayFail ? 1 : 0);
    const answer = all[of === 1 ? 0 : this.#pick(of, "answer")] ?? FAILURE;
    if (answer === FAILURE) {
      this.#faults += 1;
      this.#hasFailedAnswer = true;
    }
    step?.answers.push(answer);
    return answer;
  }

  #close(): void {
    const step = this.#steps.at(-1);
    if (step === undefined || !step.isEffective || step.state !== undefined) return;
    const { role } = step.move;
    const now = this.#world?.getRole(role)?.state ?? {};
    if (now === (this.#now.get(role) ?? this.#states.get(role))) return;
    step.state = now;
    this.#now.set(role, now);
  }
}

function textOf({ message: { causeBy, content }, from, to }: SchedulerView["inFlight"][number]): string {
  return `${from === "" ? "outside" : from} to ${to}, ${causeBy}: ${content.replaceAll(/\s+/g, " ").slice(0, LONGEST_TEXT)}`;
}

function invalid(what: string): UsageError {
  return new UsageError(
    "EXPLORE_WORLD",
    `Expected the world of explore ${what}. Write explore((given) => new Environment(given).addRoles(roles)).`,
  );
}
