import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isList, isRecord, isText } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { ChoiceMade } from "../record/event.ts";
import type { Scheduler } from "./scheduler.ts";

/**
 * A scheduler by its name.
 *
 * - `rounds`: simultaneous activation. Every role with mail acts once in a round; messages are delivered at its end.
 * - `eager`: a role acts as soon as it has mail, and its messages are delivered when it ends. There are no rounds.
 * - `live`: all roles that have mail when a round begins act in it, in the order of hiring; messages are delivered when an activation ends. So
 *   a later role may read in the same round what an earlier one said. MetaGPT activates its roles this way.
 * - `sequential`: one role after the other, in the order of hiring; messages are delivered when an activation ends. One pass over all roles is
 *   a round.
 * - `shuffled`: as `sequential`, in a new random order for every round.
 * - `single`: one random role with mail at a time. There are no rounds.
 * - `events`: discrete-event time. The roles with mail act one after the other, and no time passes meanwhile, however
 *   many messages they send; then the clock jumps to the time of the next delayed message.
 * - `messages`: one message at a time, in a random order that keeps the order of each pair of roles, and its recipient acts on it. There are
 *   no rounds.
 */
export type SchedulerName = "rounds" | "eager" | "live" | "sequential" | "shuffled" | "single" | "events" | "messages";

/** In simulated time, every role with mail acts at the times of its own Poisson process. */
export interface PoissonScheduler {
  readonly name: "poisson";
  /** Activations of one role in a unit of time, above 0. */
  readonly rate: number;
}

/** The roles of one stage after the other act in a round. Messages are delivered at the end of each stage. */
export interface StagedScheduler {
  readonly name: "staged";
  /** The names or profiles of the roles of each stage. A role that no stage names acts in the last one. */
  readonly stages: readonly (readonly string[])[];
}

/** As the scheduler `messages`, after the choices of another run: those of its record or of a finding of `explore`. */
export interface MessagesScheduler {
  readonly name: "messages";
  /** Made first, in their order. A fate that is not possible is made at random; a crash must be possible. */
  readonly follow?: readonly MessageFate[];
}

/** The fate of a message, or the crash of a role, as a record has it. */
export type MessageFate = Omit<ChoiceMade, "type">;

export const everyone: Scheduler["select"] = ({ ready }) => ready.keys();

const anyone: Scheduler["select"] = ({ count, random }) => [Math.floor(random() * count)];

const rounds: Scheduler = { name: "rounds", delivers: "round", select: everyone };

const eager: Scheduler = { name: "eager", delivers: "turn", select: everyone };

const live: Scheduler = { name: "live", delivers: "turn", clock: "rounds", select: everyone };

const swept = { delivers: "turn", clock: "rounds", turns: "sweep" } as const;

const sequential: Scheduler = { name: "sequential", ...swept, select: everyone };

const shuffled: Scheduler = { name: "shuffled", ...swept, select: ({ ready, random }) => shuffle([...ready.keys()], random) };

const single: Scheduler = { name: "single", delivers: "turn", turns: "serial", select: anyone };

const events: Scheduler = { name: "events", delivers: "turn", clock: "time", turns: "serial", select: everyone };

const messages: Scheduler = messagesFollowing([]);

const named: readonly Scheduler[] = [rounds, eager, live, sequential, shuffled, single, events, messages];

const members: Readonly<Record<string, Known<Record<string, unknown>>>> = {
  poisson: { name: kinds.text, rate: kinds.checked },
  staged: { name: kinds.text, stages: kinds.checked },
  messages: { name: kinds.text, follow: kinds.checked },
};

export const SCHEDULER_FORMS: string = `"${named.map(({ name }) => name).join('", "')}", { name: "poisson", rate }, { name: "staged", stages }, { name: "messages", follow }`;

export function isPolicyName(name: unknown): boolean {
  return typeof name === "string" && (named.some((policy) => policy.name === name) || Object.hasOwn(members, name));
}

/** Returns the scheduler of this package given by name or parameters; undefined for any other value. */
export function policyOf(given: unknown): Scheduler | undefined {
  const policy = named.find((one) => one === given || one.name === given);
  if (policy !== undefined) return policy;
  if (typeof given !== "object" || given === null || "select" in given) return undefined;
  const { name, rate, stages, follow } = given as Partial<
    PoissonScheduler & StagedScheduler & MessagesScheduler & { readonly name: string }
  >;
  const known = typeof name === "string" && Object.hasOwn(members, name) ? members[name] : undefined;
  if (known === undefined) return undefined;
  checkGivenOptions(`the scheduler ${String(name)}`, given, known);
  if (name === "messages") return messagesFollowing(fatesIn(follow));
  return rate === undefined && name === "staged" ? staged(stages) : poisson(rate);
}

export function recordedPolicy(name: string, parameters: Json): Scheduler | undefined {
  return policyOf(isRecord(parameters) ? { ...parameters, name } : name);
}

function poisson(rate: unknown): Scheduler {
  if (typeof rate !== "number" || !Number.isFinite(rate) || rate <= 0) {
    throw invalid("rate of the scheduler poisson", "a number above 0", rate, "It is the activations of one role in a unit of time.");
  }
  return {
    name: "poisson",
    parameters: { rate },
    delivers: "turn",
    clock: "time",
    turns: "serial",
    // The first event of n independent processes has the same distribution as that of one process with their total rate.
    wait: ({ count, random }) => -Math.log(1 - random()) / (rate * count),
    select: anyone,
  };
}

function staged(given: unknown): Scheduler {
  const stages = stagesIn(given);
  const stageOf = new Map(stages.flatMap((names, stage) => names.map((name): [string, number] => [name, stage])));
  const last = stages.length - 1;
  return {
    name: "staged",
    parameters: { stages },
    delivers: "round",
    stages: stages.length,
    select: ({ ready, stage }) =>
      [...ready.keys()].filter((index) => {
        const { name, profile } = ready[index] ?? { name: "", profile: "" };
        return (stageOf.get(name) ?? stageOf.get(profile) ?? last) === stage;
      }),
  };
}

function messagesFollowing(follow: readonly MessageFate[]): Scheduler {
  return {
    name: "messages",
    ...(follow.length === 0 ? {} : { parameters: { follow: follow as unknown as Json } }),
    delivers: "choice",
    select: ({ ready, inFlight, choices, random }) => {
      if (ready.length > 0) return [0];
      const { fate, role = "", id } = follow[choices] ?? {};
      if (fate === "crashed") return [{ fate, role }];
      const index = fate === undefined ? -1 : inFlight.findIndex((one) => one.to === role && (one.id === id || one.message.id === id));
      if (fate !== undefined && index >= 0) return [{ fate, index }];
      const next = [...inFlight.keys()].filter((place) => inFlight[place]?.isNext);
      return next.length === 0 ? [] : [{ fate: "delivered", index: next[Math.floor(random() * next.length)] ?? 0 }];
    },
  };
}

const FATES: ReadonlySet<unknown> = new Set<MessageFate["fate"]>(["delivered", "lost", "copied", "crashed"]);

function fatesIn(given: unknown): readonly MessageFate[] {
  if (given === undefined) return [];
  const isFate = (one: unknown): one is MessageFate =>
    isRecord(one) && FATES.has(one["fate"]) && isText(one["role"]) && (one["fate"] === "crashed" || isText(one["id"]));
  if (isList(given) && given.every(isFate)) return given.map(({ fate, role, id }) => ({ fate, role, ...(id === undefined ? {} : { id }) }));
  const todo = 'Write follow: [{ fate: "delivered", role: "Bob", id: "Ann#0.0" }], or take the choices of a finding.';
  throw invalid("follow of the scheduler messages", "a list of fates", given, todo);
}

function stagesIn(given: unknown): readonly (readonly string[])[] {
  const todo = 'Write stages: [["Ann", "Bob"], ["Judge"]].';
  const isStage = (stage: unknown): stage is readonly string[] =>
    isList(stage) && stage.length > 0 && stage.every((name) => isText(name) && name !== "");
  if (!isList(given) || given.length === 0 || !given.every(isStage)) {
    throw invalid("stages of the scheduler staged", "lists of names or profiles of roles, one or more of each", given, todo);
  }
  const names = given.flat();
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid("stages of the scheduler staged", "every name once", `${twice} twice`, todo);
  return given;
}

function invalid(what: string, expected: string, came: unknown, todo: string): UsageError {
  return new UsageError("SCHEDULER_INVALID", `Expected the ${what} to be ${expected}, got ${valueText(came)}. ${todo}`);
}

function shuffle<T>(list: T[], random: () => number): T[] {
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const item = list[last] as T;
    list[last] = list[other] as T;
    list[other] = item;
  }
  return list;
}
