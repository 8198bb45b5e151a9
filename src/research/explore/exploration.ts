import { UsageError } from "../../index.ts";
import { randomStream } from "../../kernel/random.ts";
import { listed } from "../../kernel/value-text.ts";
import { Causes } from "./causes.ts";
import type { ExploreReport, Finding } from "./explore.ts";
import { type Claims, type Flaw, flawsOf, type GrowingReads, type Judged } from "./judge.ts";
import type { Chooser, Step, Walk } from "./moves.ts";
import { Orders } from "./orders.ts";
import { estimateText, reportText } from "./report-text.ts";
import { rerun, walk, type WalkRules } from "./walk.ts";
import { givenWalk, newestFirst, NewWalks, priorityWalk, randomWalk } from "./walks.ts";

export interface ExploreProgress {
  readonly schedules: number;
  readonly findings: number;
  readonly ms: number;
  /** At the beginning: why it will not be complete, if that can be known. */
  readonly notice?: string;
}

export interface ExploreBounds {
  readonly by: "orders" | "random" | "priorities";
  readonly schedules: number;
  readonly ms: number;
  readonly findings: number;
  readonly seed: string;
}

interface Found extends Flaw {
  readonly steps: readonly Step[];
  readonly foundAt: number;
  readonly seen: number;
}

type Counts = {
  -readonly [Name in "schedules" | "walks" | "left" | "deep" | "steps" | "roles" | "messages" | "longest" | "faults"]: number;
};

const PROGRESS_MS = 1_000;
/** Two of three of the first schedules are walks, which find shallow flaws sooner, unless there are few orders. */
const MIXED = 48;
const FEW = 30;
/** The share of the bounds for the systematic visit. */
const SYSTEMATIC = 0.8;
/** The same once schedules reach the limit of steps: their orders never end. */
const ENDLESS = 0.3;
const PROBES = 3;
const BATCH = 32;

/** One exploration. It owns the counts and the findings so far. */
export class Exploration {
  readonly #rules: WalkRules;
  readonly #claims: Claims;
  readonly #bounds: ExploreBounds;
  readonly #progress: ((progress: ExploreProgress) => void) | undefined;
  readonly #counts: Counts = { schedules: 0, walks: 0, left: 0, deep: 0, steps: 0, roles: 0, messages: 0, longest: 0, faults: 0 };
  readonly #found = new Map<string, Found>();
  readonly #reads: GrowingReads = { roles: new Set(), messages: false };
  readonly #acted = new Set<string>();
  readonly #widths: number[] = [];
  readonly #orderCounts: number[] = [];
  readonly #new: NewWalks;
  readonly #began = performance.now();
  /** Schedules that no claim has been checked for yet: a check in a limited time takes as long as ten steps. */
  #unjudged: Judged[] = [];
  #first: Walk | undefined;
  #orders: Orders | undefined;
  #isExhausted = false;
  #lastProgress = 0;

  constructor(rules: WalkRules, claims: Claims, bounds: ExploreBounds, progress: ((progress: ExploreProgress) => void) | undefined) {
    this.#rules = rules;
    this.#claims = claims;
    this.#bounds = bounds;
    this.#progress = progress;
    this.#new = new NewWalks(randomStream(bounds.seed, "explore", "new"));
  }

  async run(): Promise<ExploreReport> {
    const { by } = this.#bounds;
    if (by === "orders") await this.#systematic();
    else await this.#assertSame(await this.#walk(givenWalk([], [])));
    this.#tell(await this.#notice());
    while (this.#endedBy() === undefined) {
      const { schedules, walks } = this.#counts;
      const isMixed = schedules < MIXED && walks * 3 <= schedules * 2 && meanOf(this.#orderCounts) > FEW;
      if (by === "orders" && !isMixed && this.#isSystematic()) await this.#systematic();
      else await this.#walk(this.#drawn(walks));
      if (this.#elapsed - this.#lastProgress >= PROGRESS_MS) this.#tell(undefined);
    }
    this.#judge();
    const endedBy = this.#endedBy() ?? "schedules";
    // An exploration that was cut short says nothing of roles that had no chance to act.
    if (endedBy !== "findings" && endedBy !== "signal") this.#addSleepers();
    return this.#report(endedBy);
  }

  get #elapsed(): number {
    return performance.now() - this.#began;
  }

  #tell(notice: string | undefined): void {
    this.#lastProgress = this.#elapsed;
    const { schedules } = this.#counts;
    this.#progress?.({ schedules, findings: this.#found.size, ms: Math.round(this.#elapsed), ...(notice === undefined ? {} : { notice }) });
  }

  #endedBy(): ExploreReport["endedBy"] | undefined {
    const { schedules, ms, findings } = this.#bounds;
    if (this.#rules.signal?.aborted === true) return "signal";
    if (this.#isExhausted) return "all schedules";
    if (this.#counts.schedules >= schedules) return "schedules";
    if (this.#elapsed >= ms) return "ms";
    return this.#found.size >= findings ? "findings" : undefined;
  }

  #isSystematic(): boolean {
    const { schedules, ms } = this.#bounds;
    const share = this.#counts.deep > PROBES ? ENDLESS : SYSTEMATIC;
    return this.#counts.schedules < schedules * share && this.#elapsed < ms * share;
  }

  async #systematic(): Promise<void> {
    const orders = (this.#orders ??= new Orders({ roles: new Set(this.#reads.roles), messages: this.#reads.messages }));
    const seen = await this.#see(orders);
    if (seen === undefined) return;
    const isFirst = this.#first === undefined;
    this.#first ??= seen.walk;
    if (isFirst) await this.#assertSame(seen.walk);
    const gone = orders.goneIn(seen.walk.steps);
    if (gone !== undefined) throw differs(`${gone} was possible as step ${seen.walk.steps.length + 1}, and then it was not`);
    // The roles that a property reads make more steps depend on each other, so the visit starts over.
    if (!orders.advance(seen.walk.steps, seen.causes)) {
      this.#judge();
      this.#isExhausted = !this.#hasReadMore(orders);
    }
    if (this.#hasReadMore(orders)) this.#orders = undefined;
  }

  #hasReadMore({ reads }: Orders): boolean {
    return this.#reads.roles.size > reads.roles.size || this.#reads.messages !== reads.messages;
  }

  async #walk(chooser: Chooser): Promise<Walk | undefined> {
    this.#counts.walks += 1;
    const seen = await this.#see(chooser);
    this.#first ??= seen?.walk;
    return seen?.walk;
  }

  #drawn(nth: number): Chooser {
    const { by, seed } = this.#bounds;
    const random = randomStream(seed, "explore", nth);
    if (by === "random") return randomWalk(random);
    if (by === "orders" && nth === 0) return newestFirst;
    if (by === "orders" && nth % 4 !== 3) return this.#new.chooser;
    return priorityWalk(random, nth % 3, this.#counts.longest);
  }

  async #see(chooser: Chooser): Promise<{ readonly walk: Walk; readonly causes: Causes } | undefined> {
    const walked = await walk(this.#rules, chooser);
    if (walked === undefined) return undefined;
    const counts = this.#counts;
    const { steps, end, states } = walked;
    const causes = new Causes(steps, this.#reads);
    counts.schedules += end === "left" ? 0 : 1;
    counts.left += end === "left" ? 1 : 0;
    counts.deep += end === "deep" ? 1 : 0;
    counts.steps += steps.length;
    counts.roles = states.size;
    counts.longest = Math.max(counts.longest, steps.length);
    counts.messages = Math.max(counts.messages, walked.result.messages.length);
    counts.faults = Math.max(counts.faults, walked.faults);
    for (const { move, isEffective } of steps) if (isEffective) this.#acted.add(move.role);
    if (this.#widths.length <= PROBES) this.#measure(steps, causes.races.length);
    this.#new.learn(steps);
    this.#unjudged.push({ walk: walked, causes, at: counts.schedules });
    if (counts.schedules <= MIXED || this.#unjudged.length >= BATCH) this.#judge();
    return { walk: walked, causes };
  }

  #judge(): void {
    const judged = this.#unjudged;
    this.#unjudged = [];
    flawsOf(judged, this.#claims, this.#reads, (flaw, { walk: { steps }, at }) => this.#add(flaw, steps, at));
  }

  #add(flaw: Flaw, steps: readonly Step[], at: number): void {
    const key = `${flaw.kind} ${flaw.kind === "endless" ? "" : flaw.text}`;
    const known = this.#found.get(key);
    const { foundAt = at, seen = 0 } = known ?? {};
    const best = known !== undefined && known.needs.length <= flaw.needs.length ? known : { ...flaw, steps };
    this.#found.set(key, { ...best, foundAt, seen: seen + 1 });
  }

  /** A race is two orders, and messages that wait for one role can be read in any order. */
  #measure(steps: readonly Step[], races: number): void {
    const sum = (of: (step: Step) => number): number => steps.reduce((all, step) => all + Math.log(of(step)), 0);
    const picks = sum((step) => step.picks.reduce((all, { of }) => all * of, 1));
    this.#widths.push(picks + sum(({ width }) => width));
    this.#orderCounts.push(
      picks +
        Math.max(
          races * Math.LN2,
          sum(({ rivals }) => rivals),
        ),
    );
  }

  /** Walks a few times, and says what makes a complete exploration impossible. */
  async #notice(): Promise<string | undefined> {
    const { by, schedules, ms } = this.#bounds;
    for (let nth = 0; by === "orders" && nth < PROBES && this.#endedBy() === undefined; nth += 1)
      await this.#walk(this.#drawn(this.#counts.walks));
    if (by !== "orders") return "Walks are drawn: they show faults, and never that there is none.";
    if (this.#counts.deep > 0) return `A schedule did not end within ${this.#rules.depth} steps: no exploration is complete.`;
    const orders = meanOf(this.#orderCounts);
    if (orders > schedules)
      return `${estimateText(orders, 0)} orders are expected, more than ${schedules} schedules: it will hardly be complete.`;
    const needed = (Math.min(orders, schedules) * this.#elapsed) / Math.max(1, this.#counts.schedules);
    return needed > ms
      ? `About ${Math.round(needed / 1_000)} seconds are expected, more than ${ms / 1_000}: it will hardly be complete.`
      : undefined;
  }

  /** Repeats a schedule. @throws UsageError `EXPLORE_DIFFERS` with the first difference */
  async #assertSame(walked: Walk | undefined): Promise<void> {
    if (walked === undefined) return;
    const { steps } = walked;
    const again = await walk(
      this.#rules,
      givenWalk(
        steps.map(({ move }) => move.key),
        steps.map(({ picks }) => picks.map(({ took }) => took)),
      ),
    );
    if (again === undefined) return;
    const [then, now] = [steps.map(stepText), again.steps.map(stepText)];
    const index = then.findIndex((text, place) => text !== now[place]);
    if (index === -1 && then.length === now.length) return;
    const at = index === -1 ? then.length : index;
    throw differs(`step ${at + 1} was ${then[at] ?? "none"}, and then ${now[at] ?? "none"}`);
  }

  #addSleepers(): void {
    const { states, steps = [] } = this.#first ?? {};
    for (const role of states?.keys() ?? []) {
      if (this.#acted.has(role)) continue;
      this.#add({ kind: "asleep", text: `${role} never acts, in none of the schedules.`, needs: [...steps.keys()] }, steps, 1);
    }
  }

  #report(endedBy: ExploreReport["endedBy"]): ExploreReport {
    const isComplete = this.#isExhausted && this.#counts.deep === 0 && this.#rules.questions.cut() === 0;
    const findings = [...this.#found.values()].map((found) => this.#finding(found, isComplete));
    const report = {
      ...{ isComplete, findings, endedBy, ...this.#counts, depth: this.#rules.depth },
      ...{ ms: Math.round(this.#elapsed), estimate: meanOf(this.#widths) },
    };
    return { ...report, text: reportText(report, this.#bounds, this.#rules) };
  }

  #finding({ kind, text, needs, steps, foundAt, seen }: Found, isComplete: boolean): Finding {
    const needed = needs.map((index) => steps[index] as Step);
    return {
      ...{ kind, text, foundAt, seen, isShortest: isComplete && kind !== "asleep" },
      schedule: needed.filter(isShown).map(shownStep),
      follow: needed.flatMap(({ fates }) => fates),
      answers: needed.flatMap(({ answers }) => answers),
      run: (o = {}) => rerun(this.#rules, needed, o),
    };
  }
}

/** A decision that a role does not crash is no step of a finding. */
function isShown({ fates }: Step): boolean {
  return fates.length > 0;
}

function shownStep({ text, fates, answers }: Step): string {
  const [first] = fates;
  const fault = first === undefined || first.fate === "delivered" || first.fate === "crashed" ? "" : `, ${first.fate}`;
  return `${text}${fault}${
    answers.length === 0
      ? ""
      : `, answered ${listed(
          answers.map((answer) => JSON.stringify(answer)),
          4,
        )}`
  }`;
}

function stepText({ text, said, state, failure }: Step): string {
  const words = said.map(({ content, instructContent, sendTo }) => [content, instructContent ?? null, sendTo]);
  return JSON.stringify([text, words, state ?? null, failure ?? null]);
}

function meanOf(logarithms: readonly number[]): number {
  const sum = logarithms.reduce((all, one) => all + Math.exp(one), 0);
  return Math.min(Number.MAX_VALUE, sum / Math.max(1, logarithms.length));
}

function differs(how: string): UsageError {
  return new UsageError(
    "EXPLORE_DIFFERS",
    `Expected the same schedule to lead to the same messages and states, but ${how}. Let roles and world use out.random(), and no clock, counter or file of their own.`,
  );
}
