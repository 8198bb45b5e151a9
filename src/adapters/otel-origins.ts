import type { SpanContext } from "@opentelemetry/api";
import { JournalError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import { sentMessage } from "../runtime/edges/arrivals.ts";
import { applyNext } from "../runtime/record/apply.ts";
import type { RunEvent, RunEventBody, Sent } from "../runtime/record/event.ts";
import { RunState } from "../runtime/record/run-state.ts";

export interface Arrival {
  readonly message: Message;
  readonly sender: SpanContext | undefined;
}

/**
 * Knows which spans sent the messages in each mailbox. It owns a state of the run whose messages have no content, folded by the runtime.
 * MessageOrigins.O1 (`apply`) the messages of an activation are those that the runtime gave it. MessageOrigins.O2 (`slim`) contents, payloads,
 * memories and steps are not kept. MessageOrigins.O3 (`apply`) a record that does not fit ends the links, and not the trace.
 */
export class MessageOrigins {
  #state: RunState | undefined = new RunState("", false);
  readonly #senders = new WeakMap<Message, SpanContext>();

  /** The first `take` messages that wait for a role. Default: those that its open activation has taken. */
  arrivals(role: string, take?: number): readonly Arrival[] {
    const state = this.#state?.roles.get(role);
    const news = state?.news(take ?? state.open?.take ?? 0) ?? [];
    return news.map((message) => ({ message, sender: this.#senders.get(sentMessage(message)) }));
  }

  apply(event: RunEvent, sender?: SpanContext): void {
    const body = slim(event);
    if (this.#state === undefined || body === undefined) return;
    if (sender !== undefined && body.type === "act.ended") for (const { message } of body.said) this.#senders.set(message, sender);
    try {
      applyNext(this.#state, body, event.runId);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      this.#state = undefined;
    }
  }
}

function slim(event: RunEvent): RunEventBody | undefined {
  switch (event.type) {
    case "message":
      return { ...event, ...slimSent(event) };
    case "act.ended": {
      const { state: _state, plan: _plan, joins: _joins, summary: _summary, ...rest } = event;
      return { ...rest, said: event.said.filter(({ to }) => to.length > 0).map(slimSent), memory: [], working: [] };
    }
    case "act.resumed":
    case "step.started":
    case "step.ended":
      return undefined;
    default:
      return event;
  }
}

function slimSent({ message: sent, dead: _dead, meant: _meant, faults, ...delivery }: Sent): Sent {
  const { id, role, causeBy, sentFrom, timestamp, priority } = sent;
  const slimmed: Message = { id, content: "", role, causeBy, sentFrom, sendTo: [], parents: [], timestamp, metadata: {} };
  const message = priority === undefined ? slimmed : { ...slimmed, priority };
  const kept = faults?.map((fault) => ({ ...fault, arrives: fault.arrives.map(({ reads: _reads, ...arrival }) => arrival) }));
  return { ...delivery, message, ...(kept && { faults: kept }) };
}
