import { contentHash, type Json } from "../../kernel/json.ts";
import type { Detector, Found, RunEnded, SeenRun, Sent } from "./finding.ts";

/**
 * Finds a run that a limit had to end although nothing new was said any more. It owns the texts that were said, and the messages of judged roles
 * to others since the last new one.
 *
 * NoTermination.NT1 (`sent`) a text is new for each sender and cause, and a new one of any role clears the list.
 */
export class NoTermination implements Detector {
  readonly #repeats: number;
  readonly #said = new Set<string>();
  #stale: Sent["message"][] = [];

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  sent({ message, to }: Sent, run: SeenRun): readonly Found[] {
    const { sentFrom, content, causeBy } = message;
    const text = contentHash([sentFrom, causeBy, content, (message.instructContent ?? null) as Json]);
    const isKnown = this.#said.has(text);
    this.#said.add(text);
    if (!isKnown) this.#stale = [];
    else if (run.isJudged(sentFrom) && to.some((role) => role !== sentFrom)) this.#stale.push(message);
    return [];
  }

  ended({ status }: RunEnded, { state }: SeenRun): readonly Found[] {
    const stale = this.#stale;
    // Each half of a pair repeats itself.
    if ((status !== "rounds" && status !== "budget") || stale.length < 2 * this.#repeats) return [];
    const roles = [...new Set(stale.map(({ sentFrom }) => sentFrom))];
    const limit = status === "budget" ? "its budget" : `its limit of rounds, after ${state.round}`;
    const text = `The run ended by ${limit}, and nobody had said anything new in the last ${stale.length} messages.`;
    return [{ failure: "no-termination", roles, messages: stale.map(({ id }) => id).slice(-2 * this.#repeats), text }];
  }
}
