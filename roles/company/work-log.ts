import type { Dispute, WorkReport } from "../../actions/company/work-report.ts";
import type { Mind } from "../../src/agent/index.ts";

/** Replies in a row that do nothing: no tool is called, arguments cannot be read, a file is not there. */
const MOST_SLIPS = 10;
/** Tokens and milliseconds of one role for one order, if no budget binds. */
const MOST_TOKENS = 2_000_000;
const MOST_TIME = 7_200_000;
/** Times that a failure may come; before the last its engineer is asked for another approach. */
const MOST_EQUAL = 3;
/** Steps of one activation, and milliseconds without its model. Tokens, time and money end the work long before. */
export const MOST_STEPS = 1_000;
export const LONGEST_WORK = 86_400_000;

const SAME_AGAIN =
  "These are the same failures as before, so the last change did not help. Change the strategy: read the criterion and the file again, say what is really wrong, and write that part from scratch. If they come once more, your work ends.";

type Called = Awaited<ReturnType<Mind["act"]>>[number];

interface Facts {
  readonly dispute?: Dispute;
  readonly red?: readonly string[];
  readonly taken?: string;
  readonly missing?: string;
}

interface WorkLogOptions {
  /** The earlier spending of the role on the order. */
  readonly spent: NonNullable<WorkReport["spent"]>;
  /** False: the budget of the run binds. */
  readonly isUnpriced: boolean;
  /** Milliseconds; the same in each replay. */
  readonly now: () => number;
}

/**
 * The record of one activation of a worker, and the reason why it must end. It is a function of the replies and the results of the calls, so that a
 * resumed activation comes to the same.
 *
 * `WorkLog.L1` no step is counted: slips, equal failures, tokens and time end the work, each with its reason (`limit`). `WorkLog.L2` no dispute of a
 * reply is lost, whatever the other calls of the reply do (`report`).
 */
export class WorkLog {
  readonly #options: WorkLogOptions;
  readonly #began: number;
  readonly #disputes: Dispute[] = [];
  readonly #red = new Set<string>();
  readonly #taken = new Set<string>();
  readonly #notRun: string[] = [];
  readonly #failures = new Map<string, number>();
  #failing: string | undefined;
  #slips = 0;
  #tokens = 0;
  #unchanged = 0;
  #hasChanged = false;
  #end: string | undefined;

  constructor(options: WorkLogOptions) {
    this.#options = options;
    this.#began = options.now();
  }

  get isDisputed(): boolean {
    return this.#disputes.length > 0;
  }

  /** The reason why no further step may begin. */
  get limit(): string | undefined {
    const { isUnpriced } = this.#options;
    const { tokens, ms } = this.#spent;
    if (this.#end !== undefined || !isUnpriced) return this.#end;
    if (tokens >= MOST_TOKENS) return `The work took ${tokens} tokens, of at most ${MOST_TOKENS} where no budget is set.`;
    return ms >= MOST_TIME
      ? `The work took ${Math.round(ms / 60_000)} minutes, of at most ${MOST_TIME / 60_000} where no budget is set.`
      : undefined;
  }

  get #spent(): NonNullable<WorkReport["spent"]> {
    const { spent, now } = this.#options;
    return { tokens: spent.tokens + this.#tokens, ms: spent.ms + now() - this.#began };
  }

  replied(tokens: number): void {
    this.#tokens += tokens;
  }

  slipped(): void {
    this.#slips += 1;
    if (this.#slips >= MOST_SLIPS) this.#end = `${MOST_SLIPS} replies in a row did nothing: no tool was called, or no call could be made.`;
  }

  /** Returns the results as the worker is to read them. */
  called(all: readonly Called[]): readonly Called[] {
    if (all.length > 0 && all.every(isSlip)) this.slipped();
    else this.#slips = 0;
    return all.map((one) => this.#noted(one));
  }

  #noted(one: Called): Called {
    const { call, outcome, result } = one;
    const { name } = call.function;
    const { dispute, red = [], taken } = factsOf(one);
    if (dispute !== undefined) this.#disputes.push(dispute);
    if (taken !== undefined) this.#taken.add(taken);
    for (const test of red) this.#red.add(test);
    if (outcome === "skipped") this.#notRun.push(`${name}: ${result.error ?? ""}`);
    if (outcome === "ok" && CHANGING.has(name)) this.#hasChanged = true;
    if (name !== "done" || outcome !== "failed") return one;
    return this.#failed(result.error ?? "") ? { ...one, result: { ...result, error: `${result.error}\n\n${SAME_AGAIN}` } } : one;
  }

  /** True when the worker must change its approach. */
  #failed(text: string): boolean {
    const count = (this.#failures.get(text) ?? 0) + 1;
    this.#failures.set(text, count);
    this.#unchanged = this.#hasChanged || this.#failing === undefined ? 1 : this.#unchanged + 1;
    [this.#hasChanged, this.#failing] = [false, text];
    const [first = ""] = text.split("\n");
    if (this.#unchanged >= MOST_EQUAL) this.#end = `Nothing changed: no file was written, and the checks stay red. ${first}`;
    else if (count >= MOST_EQUAL) this.#end = `The same failure came a third time, also after another approach was asked for. ${first}`;
    return count > 1 || this.#unchanged > 1;
  }

  report(report: WorkReport): WorkReport {
    const lists = { disputes: this.#disputes, red: [...this.#red], taken: [...this.#taken], notRun: this.#notRun };
    const filled = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
    const failing = report.status === "finished" || this.#failing === undefined ? {} : { failing: this.#failing };
    // Without this bound no one needs it, and two runs would differ in it.
    const spent = this.#options.isUnpriced ? { spent: this.#spent } : {};
    const all = { ...report, ...filled, ...failing, ...spent };
    if (!this.isDisputed) return all;
    return { ...all, status: "disputed", summary: [...this.#disputes.map(({ why }) => why), report.summary].join("\n").trim() };
  }
}

/** Tools that may change files. */
const CHANGING: ReadonlySet<string> = new Set(["write_files", "editor", "shell", "take_work", "install_packages"]);

function factsOf({ outcome, result: { data } }: Called): Facts {
  const isKnown = outcome === "ok" || outcome === "failed";
  return isKnown && typeof data === "object" && data !== null ? (data as Facts) : {};
}

function isSlip(one: Called): boolean {
  return one.outcome === "invalid" || one.outcome === "unknown" || (one.outcome === "failed" && factsOf(one).missing !== undefined);
}
