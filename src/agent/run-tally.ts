import { ControlError } from "../kernel/errors.ts";
import type { AttemptOutcome } from "../kernel/step.ts";
import type { CallMeter } from "../model/ask.ts";
import { type Usage, addUsage } from "../model/chat-model.ts";
import type { Cost, MicroUsd } from "../model/money.ts";
import { type Spendings, SpendingTable } from "../model/ledger.ts";

/** A run of an agent has reached its `tokenLimit`. Another run can continue the work. */
export class TokenLimitError extends ControlError {
  constructor(used: number, limit: number) {
    super("TOKEN_LIMIT", `Stopped: ${used} tokens are used, of at most ${limit}. Run it again to go on, or raise tokenLimit.`, {
      data: { used, limit },
    });
  }
}

export interface CallTally extends CallMeter {
  answered(usage: Usage | undefined): void;
}

/**
 * The tokens and the cost of one run of an agent, rejected tries included. It owns the sums and the open tries.
 *
 * `RunTally.T1` every try counts once: settled at its cost, open at its hold or as unpriced (`cost`). `RunTally.T2` no call begins when the
 * limit of tokens is reached; a call under way may pass it (`begin`).
 */
export class RunTally {
  readonly #tokenLimit: number;
  readonly #byModel = new SpendingTable();
  readonly #open = new Map<CallTally, AttemptOutcome>();
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #known = 0;
  #unpriced = 0;

  constructor(tokenLimit: number = Infinity) {
    this.#tokenLimit = tokenLimit;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get byModel(): Spendings {
    return this.#byModel.record();
  }

  get cost(): Cost {
    const open = [...this.#open.values()];
    return {
      known: open.reduce((sum, { cost = 0 }) => sum + cost, this.#known) as MicroUsd,
      unpriced: this.#unpriced + open.filter(({ cost }) => cost === undefined).length,
    };
  }

  /** @throws TokenLimitError */
  begin(model: string): CallTally {
    const used = this.#usage.inputTokens + this.#usage.outputTokens;
    if (used >= this.#tokenLimit) throw new TokenLimitError(used, this.#tokenLimit);
    let isMade = false;
    const tally: CallTally = {
      opened: (hold, isUnpriced) => {
        isMade = true;
        this.#open.set(tally, { cost: isUnpriced ? undefined : hold, basis: "hold" });
      },
      settled: (outcome) => {
        this.#open.delete(tally);
        this.#add(model, outcome);
      },
      recorded: (cost) => this.#add(model, { cost, basis: "usage" }),
      answered: (usage) => {
        if (!isMade && usage !== undefined) this.#add(model, { cost: 0, basis: "none", usage: { ...usage } });
      },
    };
    return tally;
  }

  #add(model: string, { cost, basis, usage: reported }: AttemptOutcome): void {
    const usage = reported as Usage | undefined;
    this.#usage = addUsage(this.#usage, usage);
    this.#known += cost ?? 0;
    if (cost === undefined && basis !== "none") this.#unpriced += 1;
    this.#byModel.add(model, { cost: cost as MicroUsd | undefined, basis, ...(usage === undefined ? {} : { usage }) });
  }
}
