import { type Message, ROUTE_TO_ALL } from "../../index.ts";
import { listed } from "../../kernel/value-text.ts";
import { type RunEnded, type Sent, type Detector, type Found, type SeenAct, type SeenRun, MOST_NAMED } from "./finding.ts";

/** A question that its recipient has read. */
interface Question {
  readonly message: Message;
  readonly to: string;
}

/**
 * Finds requests that get no answer: a message to an address that no role has, one that left a full mailbox unread, and a question, a text that
 * ends with a question mark, which its recipient read and never answered the sender. It owns the open questions.
 */
export class LostRequest implements Detector {
  #open: Question[] = [];

  sent({ message, to, dead = [] }: Sent, run: SeenRun): readonly Found[] {
    const { sentFrom: from, id } = message;
    this.#open = this.#open.filter((question) => question.to !== from || !to.includes(question.message.sentFrom));
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
    this.#open.push(...asked.filter(({ sentFrom }) => run.isJudged(sentFrom)).map((message) => ({ message, to: role })));
    return [];
  }

  ended({ status }: RunEnded): readonly Found[] {
    if (status !== "finished") return [];
    const open = this.#open;
    this.#open = [];
    return open.map(({ message: { sentFrom, id }, to }) =>
      lost([sentFrom, to], id, `${sentFrom} asked ${to} in ${id}, and ${to} never answered.`),
    );
  }
}

/** True for a message from one role to others that it names. */
function isRequest({ sentFrom, sendTo }: Message): boolean {
  return sentFrom !== "" && !sendTo.includes(ROUTE_TO_ALL);
}

function lost(roles: readonly string[], id: string, text: string): Found {
  return { failure: "lost-request", roles, messages: [id], text };
}
