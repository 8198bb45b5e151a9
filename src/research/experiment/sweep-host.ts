import { untilAborted } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { formatCost, modelLimits, usd } from "../../index.ts";
import type { Lease, ModelLimits } from "../../ports.ts";

export type LimitOptions = Parameters<typeof modelLimits>[0];

/** A question of the process of a run to the process of its sweep. Plain JSON. */
export type HostQuestion =
  /** A run begins, or continues: what its record has cost, and what its calls without an end may have cost, in micro-dollars. */
  | { readonly ask: "begin"; readonly run: string; readonly spent: number; readonly held: number }
  /** A call that may cost so much is about to be made. Answered with true or false. */
  | { readonly ask: "reserve"; readonly run: string; readonly amount: number }
  | { readonly ask: "settle"; readonly run: string; readonly amount: number; readonly cost: number }
  /** A call waits for its turn. Answered with the number of its lease. */
  | { readonly ask: "lease"; readonly tokens: number }
  | { readonly ask: "start"; readonly lease: number }
  | { readonly ask: "release"; readonly lease: number; readonly tokens: number | null };

export type AskHost = (question: HostQuestion) => Promise<unknown>;

export interface SweepMeans {
  /** Micro-dollars. */
  readonly budget: number | undefined;
  readonly limits: LimitOptions | undefined;
  /** Micro-dollars that runs of the folder have spent, by their names. */
  readonly spent: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Called when a call does not fit the budget. */
  readonly onExhausted: (error: UsageError) => void;
}

interface Account {
  readonly spent: number;
  readonly held: number;
}

/**
 * The money and the limits that all processes of a sweep share. It owns what each run has spent and holds, and the leases of calls.
 *
 * SweepHost.H1 (`#reserve`) spent and held together never exceed the budget: each call is reserved before it is made, at the most that it may cost.
 * SweepHost.H2 (`connected`) the calls of a process that died stay reserved until its run continues, and give their places back at once.
 */
export class SweepHost {
  readonly #means: SweepMeans;
  readonly #limits: ModelLimits | undefined;
  readonly #accounts = new Map<string, Account>();
  #sum = 0;
  #leases = 0;

  constructor(means: SweepMeans) {
    this.#means = means;
    this.#limits = means.limits === undefined ? undefined : modelLimits(means.limits);
    for (const [run, spent] of means.spent) this.#set(run, { spent, held: 0 });
  }

  /** Connects a process. `end` is called when it is gone. */
  connected(): { readonly ask: AskHost; readonly end: () => void } {
    const leases = new Map<number, Lease>();
    const gone = new AbortController();
    const end = (): void => {
      gone.abort();
      for (const lease of leases.values()) lease.release();
    };
    return { end, ask: async (question) => this.#answer(question, leases, gone.signal) };
  }

  async #answer(question: HostQuestion, leases: Map<number, Lease>, signal: AbortSignal): Promise<unknown> {
    const account = "run" in question ? (this.#accounts.get(question.run) ?? { spent: 0, held: 0 }) : { spent: 0, held: 0 };
    switch (question.ask) {
      case "begin":
        return this.#set(question.run, { spent: question.spent, held: question.held });
      case "reserve":
        return this.#reserve(question.run, account, question.amount);
      case "settle":
        return this.#set(question.run, { spent: account.spent + question.cost, held: Math.max(0, account.held - question.amount) });
      case "lease": {
        const lease = await this.#limits?.acquire({ tokens: question.tokens, clock: this.#means.clock, signal });
        this.#leases += 1;
        if (lease !== undefined) leases.set(this.#leases, lease);
        return this.#leases;
      }
      case "start":
        return leases.get(question.lease)?.begin?.();
      case "release":
        leases.get(question.lease)?.release(question.tokens ?? undefined);
        leases.delete(question.lease);
    }
  }

  #reserve(run: string, account: Account, amount: number): boolean {
    const { budget = Infinity, onExhausted } = this.#means;
    if (this.#sum + amount <= budget) {
      this.#set(run, { ...account, held: account.held + amount });
      return true;
    }
    const text = (sum: number): string => formatCost({ known: usd(sum / 1_000_000), unpriced: 0 });
    onExhausted(
      new UsageError(
        "EXPERIMENT_BUDGET",
        `Expected the calls of the sweep to cost at most ${text(budget)}, but ${text(this.#sum)} are spent or reserved, and the next call may cost ${text(amount)}. Raise the budget to continue: what is there is kept.`,
      ),
    );
    return false;
  }

  #set(run: string, account: Account): void {
    const former = this.#accounts.get(run);
    this.#sum += account.spent + account.held - (former === undefined ? 0 : former.spent + former.held);
    this.#accounts.set(run, account);
  }
}

/** The limits of a sweep as the process of a run sees them. */
export function hostLimits(ask: AskHost): ModelLimits {
  return {
    async acquire({ tokens, signal }) {
      const asked = ask({ ask: "lease", tokens });
      const release = (lease: unknown, used: number | null): unknown => ask({ ask: "release", lease: Number(lease), tokens: used });
      const lease = await untilAborted(asked, signal).catch((error: unknown) => {
        // Nobody uses the turn that comes later.
        void asked.then(
          (late) => release(late, 0),
          () => undefined,
        );
        throw error;
      });
      let isHeld = true;
      return {
        begin: async () => void (await untilAborted(ask({ ask: "start", lease: Number(lease) }), signal)),
        release(used) {
          if (isHeld) void release(lease, used ?? null);
          isHeld = false;
        },
      };
    },
  };
}
