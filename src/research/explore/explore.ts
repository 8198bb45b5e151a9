import { type EnvironmentOptions, type RunResult, UsageError } from "../../index.ts";
import { aFunction, takes } from "../../kernel/argument.ts";
import type { Json } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type ExploredQuestion, questionsOf } from "./answers.ts";
import { type ExploreFaults, faultPlan } from "./faults.ts";
import { Exploration, type ExploreProgress } from "./exploration.ts";
import type { ExploredState, FindingKind } from "./judge.ts";
import type { Fate } from "./moves.ts";
import type { World } from "./walk.ts";

/** Options of {@link explore}. All have defaults. */
export interface ExploreOptions {
  /** Returns true, or nothing, for a state in which all is well, otherwise false or a sentence. It sees what it reads: all orders that change it are tried. */
  readonly property?: (state: ExploredState) => boolean | string | void;
  /** Returns true for an end at which the work is done. A schedule that ends otherwise is a deadlock. Default: every end is one. */
  readonly done?: (state: ExploredState) => boolean;
  /** Default: none. */
  readonly faults?: ExploreFaults;
  /** Returns answers to a question, besides those that the schema of a model's answer allows. Without it, questions to people wait. */
  readonly answers?: (question: ExploredQuestion) => readonly Json[];
  /**
   * `orders`: systematically, one schedule of each class of equivalent ones, with walks in between, and walks alone once most of the bounds are
   * used. `random`: walks that draw each step. `priorities`: walks by random priorities. Default `orders`.
   */
  readonly by?: "orders" | "random" | "priorities";
  /** Limit on the schedules. Default 10,000. */
  readonly schedules?: number;
  /** Limit on the steps of one schedule: a step is a message and what its recipient does with it. Default 200. */
  readonly depth?: number;
  /** Limit on the time, in milliseconds, checked between schedules. Default 60,000. */
  readonly ms?: number;
  /** Different findings after which it stops. Default 10. */
  readonly findings?: number;
  /** Of the walks. */
  readonly seed?: string | number;
  /** Ends the exploration; the report has what was covered. */
  readonly signal?: AbortSignal;
  /** Called when it begins, with what can be said of its size, and then at most once in a second. */
  readonly progress?: (progress: ExploreProgress) => void;
}

const exploreOptions: Known<ExploreOptions> = {
  ...kinds.each(kinds.function, "property", "done", "answers", "progress"),
  faults: kinds.checked,
  by: kinds.oneOf("orders", "random", "priorities"),
  ...kinds.each(kinds.size, "schedules", "depth", "findings"),
  ms: kinds.milliseconds,
  seed: kinds.seed,
  signal: kinds.signal,
};

/** A fault of a world, with the shortest schedule that was found for it. */
export interface Finding {
  readonly kind: FindingKind;
  /** One sentence. */
  readonly text: string;
  /** The steps of its schedule in words. */
  readonly schedule: readonly string[];
  /** The choices of its schedule, for `scheduler: { name: "messages", follow }`. */
  readonly follow: readonly Fate[];
  /** The answers of models and people in its schedule. */
  readonly answers: readonly Json[];
  /** True if no shorter schedule shows it, within the bounds. */
  readonly isShortest: boolean;
  /** The number of the schedule that found it, from 1. */
  readonly foundAt: number;
  /** The schedules that showed it. */
  readonly seen: number;
  /** Runs its schedule once more, as a run with a record if it gets a journal: to replay, to fork and to inspect. */
  run(o?: Pick<EnvironmentOptions, "journal" | "id">): Promise<RunResult>;
}

/** What an exploration covered and found. */
export interface ExploreReport {
  /** True if every schedule within the bounds is equivalent to one that was visited. */
  readonly isComplete: boolean;
  readonly findings: readonly Finding[];
  /** The reason for its end. */
  readonly endedBy: "all schedules" | "schedules" | "ms" | "findings" | "signal";
  /** All schedules, and those of them that were drawn. */
  readonly schedules: number;
  readonly walks: number;
  /** Schedules that were left because others are equivalent to them. */
  readonly left: number;
  /** Schedules that reached the limit of steps. */
  readonly deep: number;
  readonly steps: number;
  readonly roles: number;
  /** Messages, steps and faults of one schedule, at most. */
  readonly messages: number;
  readonly longest: number;
  readonly faults: number;
  readonly depth: number;
  readonly ms: number;
  /** An estimate of the schedules without reduction, from the first ones. */
  readonly estimate: number;
  /** All of this in sentences, with the bounds. */
  readonly text: string;
}

/**
 * Tries the orders in which the messages of a small team can arrive, one message at a time, with the faults and the answers that are allowed,
 * and reports what goes wrong: a broken property, a deadlock, an endless exchange, a question without an answer, a role that nothing wakes, a
 * lost message, a failure. Each finding has its shortest schedule, as a run.
 *
 * Messages of one role to another keep their order; a delayed message may arrive at any moment. Roles must do the same after the same messages:
 * the world, its roles and the property are functions of what they get. A message takes a whole activation.
 *
 * @param world makes a new world, with its first messages, for each schedule: `(given) => new Environment(given)`
 * @throws UsageError `EXPLORE_WORLD`, `EXPLORE_DIFFERS`, `EXPLORE_PROPERTY`, `OPTION_UNKNOWN`, `OPTION_INVALID`
 * @example
 * import { createMessage, defineRole, Environment } from "troupe";
 * import { explore } from "troupe/research";
 * import { z } from "zod";
 *
 * const doctor = (name: string, other: string) =>
 *   defineRole({
 *     name,
 *     state: z.object({ isOn: z.boolean().default(true), otherIsOn: z.boolean().default(true) }),
 *     step({ isOn, otherIsOn }, { content }, out) {
 *       if (content === "gone") return { isOn, otherIsOn: false };
 *       if (otherIsOn) out.say("gone", { sendTo: other });
 *       return { isOn: !otherIsOn, otherIsOn };
 *     },
 *   });
 * const report = await explore(
 *   (given) => {
 *     const ward = new Environment(given).addRoles([doctor("Ann", "Bob"), doctor("Bob", "Ann")]);
 *     ward.publishMessage(createMessage("you may leave", { sendTo: ["Ann", "Bob"] }));
 *     return ward;
 *   },
 *   { property: ({ state }) => state("Ann")["isOn"] === true || state("Bob")["isOn"] === true },
 * );
 * console.log(report.isComplete, report.findings.map(({ kind, schedule }) => `${kind} after ${schedule.length} steps`)); // true [ 'violation after 2 steps' ]
 */
export async function explore(world: World, options: ExploreOptions = {}): Promise<ExploreReport> {
  takes("explore", "world", world, aFunction);
  checkKnownOptions("explore", options, exploreOptions);
  const { property, done, faults, answers, by = "orders", schedules = 10_000, depth = 200, ms = 60_000, findings = 10, seed = 1 } = options;
  const rules = { world, faults: faultPlan(faults), questions: questionsOf(answers), depth, signal: options.signal };
  if (options.signal?.aborted === true) throw new UsageError("OPTION_INVALID", "Expected a signal of explore that has not aborted.");
  const bounds = { by, schedules, ms, findings, seed: String(seed) };
  return new Exploration(rules, { property, done }, bounds, options.progress).run();
}
