import { z } from "zod";
import { QueueFullError, UsageError } from "../kernel/errors.ts";
import { type Message, MessageSchema, serializeMessage } from "./message.ts";
import { PriorityLanes } from "./priority-lanes.ts";

/** How much a queue may hold. */
export interface MessageQueueOptions {
  /** Most messages held at once, 1 or more. Without it the queue is unbounded: a role's mail must not be lost, so what bounds it is the run. */
  readonly limit?: number | undefined;
}

/** A queue as plain JSON: what waits in it, in the order it would leave. */
export interface MessageQueueJson {
  readonly limit?: number;
  readonly entries: readonly { readonly message: ReturnType<typeof serializeMessage>; readonly priority?: number }[];
}

/**
 * What a role has heard and not yet taken: its inbox.
 *
 * Owns the order of what waits. Who hears a message is the router's business, what was heard before is the memory's.
 * Single-threaded: nothing here waits, so no caller sees it half changed.
 *
 * Q1 first in, first out among equal priorities; smaller numbers first. Q2 pushing an id that the queue holds returns false and changes
 * nothing; once it has left it may come again. Q3 push and pop are O(1), O(log p) when one of p priorities comes into use or out of it.
 */
export class MessageQueue {
  readonly limit: number | undefined;
  #waiting: Waiting | undefined;

  /** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
  constructor(options: MessageQueueOptions = {}) {
    const { limit } = options;
    if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
      throw new UsageError(
        "LIMIT_INVALID",
        `Expected the limit of a queue to be a whole number of 1 or more, got ${limit}. Leave it out for no limit.`,
      );
    }
    this.limit = limit;
  }

  /** How many messages wait. */
  get size(): number {
    return this.#waiting?.ids.size ?? 0;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /**
   * Puts a message in line. False, and nothing changes, when its id waits already.
   *
   * @throws QueueFullError when the limit is reached.
   * @throws UsageError `PRIORITY_INVALID` when `priority` (default 0; smaller is sooner) is not a finite number.
   */
  push(message: Message, options?: { readonly priority?: number | undefined }): boolean {
    const { priority = 0 } = options ?? noOptions;
    if (!Number.isFinite(priority)) {
      throw new UsageError(
        "PRIORITY_INVALID",
        `Expected a priority to be a finite number, got ${priority}. Smaller numbers leave first, 0 is the default.`,
      );
    }
    if (this.has(message.id)) return false;
    if (this.limit !== undefined && this.size >= this.limit) throw new QueueFullError(this.limit);
    const waiting = (this.#waiting ??= { lanes: new PriorityLanes(), ids: new Set() });
    waiting.lanes.push(message, priority);
    waiting.ids.add(message.id);
    return true;
  }

  /** Takes the first message, or `undefined` from an empty queue. */
  pop(): Message | undefined {
    const message = this.#waiting?.lanes.shift();
    if (message !== undefined) this.#waiting?.ids.delete(message.id);
    return message;
  }

  /** Takes all messages, first to leave first. */
  popAll(): Message[] {
    const messages = this.peek(this.size);
    this.#waiting = undefined;
    return messages;
  }

  /** Whether a message of this id waits. */
  has(id: string): boolean {
    return this.#waiting?.ids.has(id) ?? false;
  }

  /**
   * The first `n` messages in the order they would leave, without taking them; fewer when fewer wait.
   *
   * @throws RangeError when `n` is not a whole number of 0 or more.
   */
  peek(n = 1): Message[] {
    if (!Number.isInteger(n) || n < 0) throw new RangeError(`Expected to peek at a whole number of messages, 0 or more, got ${n}.`);
    return this.#waiting?.lanes.first(n) ?? [];
  }

  /** The queue as plain JSON; it changes nothing. */
  toJSON(): MessageQueueJson {
    const entries: MessageQueueJson["entries"][number][] = [];
    for (const { item, priority } of this.#waiting?.lanes.inOrder() ?? []) {
      const message = serializeMessage(item);
      entries.push(priority === 0 ? { message } : { message, priority });
    }
    return this.limit === undefined ? { entries } : { limit: this.limit, entries };
  }

  /**
   * A queue from {@link toJSON}.
   *
   * @throws UsageError `QUEUE_INVALID` naming what does not fit.
   * @throws QueueFullError when it holds more than its limit.
   */
  static fromJSON(json: unknown): MessageQueue {
    const parsed = QueueSchema.safeParse(json);
    if (!parsed.success) {
      throw new UsageError("QUEUE_INVALID", `Expected a message queue as JSON, got something else: ${z.prettifyError(parsed.error)}`);
    }
    const queue = new MessageQueue({ limit: parsed.data.limit });
    for (const { message, priority } of parsed.data.entries) queue.push(message, { priority });
    return queue;
  }
}

const noOptions: { readonly priority?: number | undefined } = {};

/** Exists from the first push until all is taken, so that a hundred thousand idle inboxes weigh nothing. */
interface Waiting {
  readonly lanes: PriorityLanes<Message>;
  readonly ids: Set<string>;
}

const QueueSchema = z.object({
  limit: z.int().min(1).optional(),
  entries: z.array(z.object({ message: MessageSchema, priority: z.number().default(0) })),
});
