import type { Message } from "../../index.ts";
import { Cycles } from "../../kernel/cycles.ts";
import { listed } from "../../kernel/value-text.ts";
import { type Sent, type Detector, type Found, type SeenRun, MOST_NAMED } from "./finding.ts";

/** Most roles of a circle. */
const LONGEST = 4;

/** A message, and the messages that it goes back to. */
interface Link {
  readonly message: Message;
  readonly signature: string;
}

/**
 * Finds roles that answer each other in a circle: along a chain of answers, the same roles say the same texts in the same order, again and
 * again. Letter case and spaces do not count. It owns the end of the chain of each message of a judged role.
 *
 * PingPong.PP1 (`sent`) a chain is kept at most as long as the longest circle needs, and begins again where one was found.
 */
export class PingPong implements Detector {
  readonly #repeats: number;
  readonly #chains = new Map<string, readonly Link[]>();

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  sent({ message }: Sent, run: SeenRun): readonly Found[] {
    if (!run.isJudged(message.sentFrom)) return [];
    const before = message.parents.map((id) => this.#chains.get(id)).findLast((chain) => chain !== undefined) ?? [];
    const chain = [...before, { message, signature: signatureOf(message) }].slice(-this.#repeats * LONGEST);
    const length = closedCycle(chain, this.#repeats);
    const circle = chain.slice(-length);
    const roles = [...new Set(circle.map((link) => link.message.sentFrom))];
    const isFound = length > 0 && roles.length > 1;
    // A circle that was found begins again, so that it is told once for each further number of repeats.
    this.#chains.set(message.id, isFound ? [] : chain);
    if (!isFound) return [];
    const text = `${listed(roles, MOST_NAMED)} answered each other with the same ${length} messages ${this.#repeats} times.`;
    return [{ failure: "ping-pong", roles, messages: circle.map((link) => link.message.id), text }];
  }
}

function signatureOf({ sentFrom, content, instructContent }: Message): string {
  return JSON.stringify([sentFrom, content.toLowerCase().replaceAll(/\s+/g, " ").trim(), instructContent ?? null]);
}

function closedCycle(chain: readonly Link[], repeats: number): number {
  const cycles = new Cycles(repeats, LONGEST);
  let length = 0;
  for (const { signature } of chain) length = cycles.add(signature);
  return length;
}
