import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { QueueFullError, UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { assertMessage, type Message, MessageSchema, serializeMessage } from "./message.ts";
import { PriorityLanes } from "./priority-lanes.ts";

/** How much a queue may hold. */
export interface MessageQueueOptions {
  /** Most messages held at once, 1 or more. Without it the queue is unbounded: a role's mail must not be lost, so what bounds it is the run. */
  readonly limit?: number | undefined;
}

const messageQueueOptions: Known<MessageQueueOptions> = { limit: true };

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
 *
 * @example
 * import { createMessage, MessageQueue } from "troupe";
 *
 * const queue = new MessageQueue();
 * queue.push(createMessage("later"));
 * queue.push(createMessage("urgent"), { priority: -1 });
 * console.log(queue.pop()?.content, queue.size); // urgent 1
 */
export class MessageQueue {
  readonly limit: number | undefined;
  /** The one that waits, where it waits alone and under no priority of its own: most mail is read before more comes. */
  #only: Message | undefined;
  /** Everything that waits, where that is more. */
  #waiting: Waiting | undefined;

  /** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
  constructor(options?: MessageQueueOptions) {
    checkKnownOptions("new MessageQueue", options, messageQueueOptions);
    const limit = options?.limit;
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
    return this.#waiting === undefined ? (this.#only === undefined ? 0 : 1) : this.#waiting.lanes.size;
  }

  get isEmpty(): boolean {
    return this.#only === undefined && this.#waiting === undefined;
  }

  /**
   * Puts a message in line. False, and nothing changes, when its id waits already.
   *
   * @throws QueueFullError when the limit is reached.
   * @throws UsageError `PRIORITY_INVALID` when `priority` (default 0; smaller is sooner) is not a finite number; `MESSAGE_INVALID` for what is no
   * message.
   */
  push(message: Message, options?: { readonly priority?: number | undefined }): boolean {
    const priority = options?.priority ?? 0;
    if (!Number.isFinite(priority)) {
      throw new UsageError(
        "PRIORITY_INVALID",
        `Expected a priority to be a finite number, got ${priority}. Smaller numbers leave first, 0 is the default.`,
      );
    }
    assertMessage(message);
    if (this.has(message.id)) return false;
    if (this.limit !== undefined && this.size >= this.limit) throw new QueueFullError(this.limit);
    if (priority === 0 && this.isEmpty) this.#only = message;
    else this.#join(message, priority);
    return true;
  }

  /**
   * Puts a message in line where it is known that its id does not wait: the caller answers for that. As long as nobody asks for an id, none is noted.
   *
   * @throws QueueFullError when the limit is reached.
   */
  append(message: Message): void {
    if (this.limit !== undefined && this.size >= this.limit) throw new QueueFullError(this.limit);
    const waiting = this.#waiting;
    if (waiting !== undefined && waiting.ids === undefined) waiting.lanes.push(message, 0);
    else if (this.isEmpty) this.#only = message;
    else this.#join(message, 0);
  }

  /** Takes the first message, or `undefined` from an empty queue. */
  pop(): Message | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) {
      const only = this.#only;
      this.#only = undefined;
      return only;
    }
    const message = waiting.lanes.shift();
    if (message !== undefined) waiting.ids?.delete(message.id);
    if (waiting.lanes.size === 0) this.#waiting = undefined;
    return message;
  }

  /** Takes all messages, first to leave first. */
  popAll(): Message[] {
    const messages = this.peek(this.size);
    this.#only = undefined;
    this.#waiting = undefined;
    return messages;
  }

  /** Whether a message of this id waits. */
  has(id: string): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined) return this.#only?.id === id;
    if (waiting.ids === undefined && waiting.lanes.size <= FEW_WAITING) return waiting.lanes.some((message) => message.id === id);
    return (waiting.ids ??= idsOf(waiting.lanes)).has(id);
  }

  /**
   * The first `n` messages in the order they would leave, without taking them; fewer when fewer wait.
   *
   * @throws RangeError when `n` is not a whole number of 0 or more.
   */
  peek(n = 1): Message[] {
    if (!Number.isInteger(n) || n < 0) throw new RangeError(`Expected to peek at a whole number of messages, 0 or more, got ${n}.`);
    if (this.#waiting !== undefined) return this.#waiting.lanes.first(n);
    return this.#only === undefined || n === 0 ? [] : [this.#only];
  }

  /** The queue as plain JSON; it changes nothing. */
  toJSON(): MessageQueueJson {
    const entries: MessageQueueJson["entries"][number][] = [];
    if (this.#only !== undefined) entries.push({ message: serializeMessage(this.#only) });
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
    takes("MessageQueue.fromJSON", "json", json, readable);
    const parsed = queueSchema().safeParse(json);
    if (!parsed.success) {
      throw new UsageError("QUEUE_INVALID", `Expected a message queue as JSON, got something else: ${z.prettifyError(parsed.error)}`);
    }
    const queue = new MessageQueue({ limit: parsed.data.limit });
    for (const { message, priority } of parsed.data.entries) queue.push(message, { priority });
    return queue;
  }

  /** Behind those who wait. Who waited alone is the first of them. */
  #join(message: Message, priority: number): void {
    const waiting = (this.#waiting ??= { lanes: new PriorityLanes(), ids: undefined });
    if (this.#only !== undefined) waiting.lanes.push(this.#only, 0);
    this.#only = undefined;
    waiting.lanes.push(message, priority);
    waiting.ids?.add(message.id);
  }
}

/** So many are looked through one by one. */
const FEW_WAITING = 8;

/** Exists while more than one waits, so that a hundred thousand idle inboxes weigh nothing. */
interface Waiting {
  readonly lanes: PriorityLanes<Message>;
  /** Of all that wait, once somebody asks and there are too many to look through. */
  ids: Set<string> | undefined;
}

function idsOf(lanes: PriorityLanes<Message>): Set<string> {
  const ids = new Set<string>();
  for (const { item } of lanes.inOrder()) ids.add(item.id);
  return ids;
}

const queueSchema = lazily(() =>
  z.object({
    limit: z.int().min(1).optional(),
    entries: z.array(z.object({ message: MessageSchema, priority: z.number().default(0) })),
  }),
);
