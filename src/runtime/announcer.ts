import type { Emit, Logger } from "../kernel/emit.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { isOutput } from "./record/deliver.ts";
import type { RunNotice, Sent } from "./record/event.ts";
import { maskedError } from "./record/masking.ts";

/** Where a notice of a type is told; undefined when nobody listens to that type, so that it need not be made. */
export type Tell = (type: RunNotice["type"]) => Emit<RunNotice> | undefined;

/** Whom to tell. */
export interface AnnouncerParts {
  readonly logger: Logger;
  readonly mask: Mask;
  readonly tell: Tell;
}

/** Tells loggers and listeners what becomes of messages and of roles. It owns of which full mailboxes it has warned, and makes nothing for nobody (E6). */
export class Announcer {
  readonly #parts: AnnouncerParts;
  /** Roles whose full mailboxes were warned of. */
  readonly #dropping = new Set<string>();

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  warn(role: string | undefined, text: string): void {
    this.#parts.logger.warn(text);
    this.#parts.tell("warning")?.({ type: "warning", ...(role === undefined ? {} : { role }), text });
  }

  /** What a role said. There is something to tell only where nobody hears it, or one of its addresses is nobody's. */
  said(sent: Sent): void {
    const { message, to, dead } = sent;
    if (dead !== undefined) this.#lost(message, dead);
    if (isOutput(message, to)) this.#parts.tell("message.output")?.({ type: "message.output", message });
  }

  /** The same of what somebody said from outside: there everybody should be heard. */
  saidOutside(sent: Sent): void {
    const { message, to, dead } = sent;
    if (dead !== undefined) this.#lost(message, dead);
    if (!isOutput(message, to)) return;
    this.#parts.logger.warn(`Nobody hears message ${message.id}, caused by ${message.causeBy}: no role watches it.`);
    this.#parts.tell("message.unheard")?.({ type: "message.unheard", message });
  }

  /** A full mailbox made room. The first of a role is warned of too. */
  dropped(role: string, message: Message): void {
    if (!this.#dropping.has(role)) {
      this.#dropping.add(role);
      this.warn(role, `The mailbox of ${role} is full: message ${message.id} and others that have waited longest are dropped unread.`);
    }
    this.#parts.tell("message.dropped")?.({ type: "message.dropped", message, role });
  }

  gaveUp(name: string, error: unknown): void {
    this.warn(name, `${name} failed and its messages became dead letters: ${maskedError(this.#parts.mask, error).message}`);
  }

  #lost(message: Message, addresses: readonly string[]): void {
    for (const address of addresses) {
      this.warn(message.sentFrom, `Nobody has the address "${address}": message ${message.id} is a dead letter.`);
      this.#parts.tell("message.dead")?.({ type: "message.dead", message, address });
    }
  }
}
