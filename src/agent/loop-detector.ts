import { canonicalJson, contentHash } from "../kernel/json.ts";
import type { ToolCall } from "../model/chat-message.ts";

/** When doing the same again counts as a loop. */
export interface LoopOptions {
  /** So many rounds of the same, of one batch of calls or of a cycle of several; 2 or more. Default 3. */
  readonly repeats?: number;
  /** The longest cycle that is looked for. Default 3: also A, B, A, B and A, B, C, A, B, C. */
  readonly longest?: number;
}

/**
 * Notices when an agent calls the same tools with the same arguments again and again, also in turns. It owns the signatures of the
 * latest batches of calls, never more than `repeats * longest`.
 */
export class LoopDetector {
  readonly #repeats: number;
  readonly #longest: number;
  readonly #seen: string[] = [];

  constructor(options: LoopOptions = {}) {
    this.#repeats = options.repeats ?? 3;
    this.#longest = options.longest ?? 3;
  }

  /** Takes what was called in one step and tells how long the cycle is that it closes; 0 for none. After one is told it is looked for anew. */
  add(calls: readonly ToolCall[]): number {
    if (calls.length === 0) return 0;
    const [only] = calls;
    const whole = calls.length === 1 && only !== undefined ? signature(only) : calls.map(signature).sort().join("\n");
    this.#seen.push(short(whole));
    if (this.#seen.length > this.#repeats * this.#longest) this.#seen.shift();
    for (let period = 1; period <= this.#longest; period++) {
      if (!this.#isCycle(period)) continue;
      this.#seen.length = 0;
      return period;
    }
    return 0;
  }

  #isCycle(period: number): boolean {
    const seen = this.#seen;
    const first = seen.length - period * this.#repeats;
    if (first < 0) return false;
    for (let place = first + period; place < seen.length; place++) if (seen[place] !== seen[place - period]) return false;
    return true;
  }
}

/** Arguments that say the same in another order or spacing are the same. */
function signature({ function: { name, arguments: text } }: ToolCall): string {
  return `${name} ${sameArguments(text)}`;
}

function sameArguments(text: string): string {
  try {
    return canonicalJson(JSON.parse(text === "" ? "{}" : text));
  } catch {
    return text.trim();
  }
}

/** What is remembered of a batch is small, however long its arguments are. */
function short(text: string): string {
  return text.length <= LONGEST_SIGNATURE ? text : contentHash(text);
}

const LONGEST_SIGNATURE = 300;
