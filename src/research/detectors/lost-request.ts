import { type Message, ROUTE_TO_ALL } from "../../index.ts";
import { listed } from "../../kernel/value-text.ts";
import { type RunEnded, type Sent, type Detector, type Found, type SeenAct, type SeenRun, MOST_NAMED } from "./finding.ts";

/** A request without an answer so far: a question that its recipient has read, or a message that the edges lost. */
interface Open {
  readonly message: Message;
  readonly to: string;
  readonly isLost: boolean;
}

/**
 * Finds requests that get no answer: a message to an address that no role has, one that left a full mailbox unread, a question, a text that
 * ends with a question mark, which its recipient read and never answered the sender, and a message that the edges lost, unless its sender repeats
 * it or its recipient writes to the sender all the same. It owns the requests without an answer so far.
 *
 * LostRequest.LR1 (`sent`) an answer closes all requests of its recipient to its sender, and a repetition closes one that the edges lost.
 * LostRequest.LR2 (`ended`) a request is told once, when the run finishes: one that a limit cut off may still be answered.
 */
export class LostRequest implements Detector {
  #open: Open[] = [];

  sent({ message, to, dead = [], faults = [] }: Sent, run: SeenRun): readonly Found[] {
    const { sentFrom: from, id } = message;
    const lostTo = faults.filter(({ arrives }) => arrives.length === 0).map((fault) => fault.to);
    const reached = to.filter((role) => !lostTo.includes(role));
    this.#open = this.#open.filter(
      (one) => !(one.to === from && reached.includes(one.message.sentFrom)) && !(one.isLost && isRepeated(one, message, reached)),
    );
    if (isRequest(message) && run.isJudged(from)) this.#open.push(...lostTo.map((role) => ({ message, to: role, isLost: true })));
    if (dead.length === 0 || !run.isJudged(from)) return [];
    return [lost([from], id, `${from} wrote ${id} to ${listed(dead, MOST_NAMED)}, and the team has no such role.`)];
  }

  dropped(message: Message, role: string, run: SeenRun): readonly Found[] {
    const { sentFrom: from, id } = message;
    if (!isRequest(message) || !run.isJudged(from)) return [];
    return [lost([from, role], id, `${from} wrote ${id} to ${role}, whose full mailbox dropped it unread.`)];
  }

  acted({ event: { role }, taken }: SeenAct, run: SeenRun): readonly Found[] {
    const asked = taken.filter((message) => isRequest(message) && message.sentFrom !== role && message.content.trimEnd().endsWith("?"));
    this.#open.push(...asked.filter(({ sentFrom }) => run.isJudged(sentFrom)).map((message) => ({ message, to: role, isLost: false })));
    return [];
  }

  ended({ status }: RunEnded): readonly Found[] {
    if (status !== "finished") return [];
    const open = this.#open;
    this.#open = [];
    return open.map(({ message: { sentFrom, id }, to, isLost }) => {
      const end = isLost ? `wrote ${id} to ${to}, which the edges lost` : `asked ${to} in ${id}`;
      return lost([sentFrom, to], id, `${sentFrom} ${end}, and ${to} never answered.`);
    });
  }
}

/** True for a message that tells the recipient of a lost one the same. */
function isRepeated({ message: { sentFrom, content }, to }: Open, again: Message, reached: readonly string[]): boolean {
  return again.sentFrom === sentFrom && again.content === content && reached.includes(to);
}

/** True for a message from one role to others that it names. */
function isRequest({ sentFrom, sendTo }: Message): boolean {
  return sentFrom !== "" && !sendTo.includes(ROUTE_TO_ALL);
}

function lost(roles: readonly string[], id: string, text: string): Found {
  return { failure: "lost-request", roles, messages: [id], text };
}
