import { type Message, ROUTE_TO_ALL } from "../../index.ts";
import type { ActEnded, RunEnded, Detector, Found, SeenAct, SeenRun } from "./finding.ts";

/**
 * Finds messages from one role to another that had no effect: the recipient took them and did nothing then, and nothing later. One that it does not
 * remember is told at once. It owns the remembered messages without an effect so far.
 *
 * IgnoredMessage.IM1 (`acted`) any effect of a role, also a step, clears all messages that it remembers.
 * IgnoredMessage.IM2 (`ended`) a remembered message is told once, when the run finishes.
 */
export class IgnoredMessage implements Detector {
  readonly #waiting = new Map<string, Message[]>();

  acted({ event, taken, steps }: SeenAct, run: SeenRun): readonly Found[] {
    const { role } = event;
    if (!run.isJudged(role)) return [];
    if (steps.length > 0 || hasEffect(event)) {
      this.#waiting.delete(role);
      return [];
    }
    const remembered = new Set(
      event.memory.flatMap((change) => (change[0] === "+" ? [typeof change[1] === "string" ? change[1] : change[1].id] : [])),
    );
    const own = taken.filter(({ sentFrom, sendTo }) => sentFrom !== "" && sentFrom !== role && !sendTo.includes(ROUTE_TO_ALL));
    const waiting = this.#waiting.get(role) ?? [];
    waiting.push(...own.filter(({ id }) => remembered.has(id)));
    if (waiting.length > 0) this.#waiting.set(role, waiting);
    return own.filter(({ id }) => !remembered.has(id)).map((message) => found(role, message, "read it and keeps nothing of it"));
  }

  ended({ status }: RunEnded): readonly Found[] {
    if (status !== "finished") return [];
    const all = [...this.#waiting].flatMap(([role, messages]) => messages.map((message) => found(role, message, "did nothing after it")));
    this.#waiting.clear();
    return all;
  }
}

function hasEffect({ said, working, state, plan, joins }: ActEnded): boolean {
  return said.length > 0 || working.length > 0 || state !== undefined || plan !== undefined || joins !== undefined;
}

function found(role: string, { id, sentFrom }: Message, end: string): Found {
  return { failure: "ignored-message", roles: [sentFrom, role], messages: [id], text: `${sentFrom} wrote ${id} to ${role}, who ${end}.` };
}
