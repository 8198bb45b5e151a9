import { aText, readable, takes, aCount } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { QueueFullError, UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { assertMessage, type Message, MessageSchema, serializeMessage } from "./message.ts";
import { PriorityLanes } from "./priority-lanes.ts";

/** Options of a {@link MessageQueue}. */
export interface MessageQueueOptions {
  /** Most messages held at once, 1 or more. Default: no limit, because the messages of a role must not be lost. */
  readonly limit?: number | undefined;
}

const messageQueueOptions: Known<MessageQueueOptions> = { limit: kinds.checked };
const pushOptions: Known<{ readonly priority?: number | undefined }> = { priority: kinds.number };

/** A queue as plain JSON: its messages in the order they would leave. */
export interface MessageQueueJson {
  readonly limit?: number;
  readonly entries: readonly { readonly message: ReturnType<typeof serializeMessage>; readonly priority?: number }[];
}

/**
 * The inbox of a role: delivered messages that it has not taken yet.
 *
 * Owns the order of the messages. The router decides who receives a message; the memory knows earlier messages.
 *
 * MessageQueue.Q1 (`PriorityLanes`) first in, first out among equal priorities; smaller numbers first. MessageQueue.Q2 (`has`) pushing an id that
 * the queue holds returns false and changes nothing; after it has left, it may be pushed again. MessageQueue.Q3 (`PriorityLanes`) push and pop are
 * O(1), or O(log p) when one of p priorities gets its first message or loses its last. MessageQueue.Q4 (`keepFirst`) messages that an activation has
 * taken stay the first ones, whatever comes.
 *
 * @example
 * import { createMessage, MessageQueue } from "troupe";
 *
 * const queue = new MessageQueue();
 * queue.push(createMessage("later"));
 * queue.push(createMessage("urgent", { priority: -1 }));
 * console.log(queue.pop()?.content, queue.size); // urgent 1
 */
export class MessageQueue {
  readonly limit: number | undefined;
  /** The only message, when it has the default priority: most messages are taken before the next one comes. */
  #only: Message | undefined;
  /** All messages, when there are few more and all of them have the default priority. */
  #few: Message[] | undefined;
  /** All messages otherwise. */
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

  /** Number of messages. */
  get size(): number {
    if (this.#waiting !== undefined) return this.#waiting.lanes.size;
    return this.#few === undefined ? (this.#only === undefined ? 0 : 1) : this.#few.length;
  }

  get isEmpty(): boolean {
    return this.#only === undefined && this.#few === undefined && this.#waiting === undefined;
  }

  /**
   * Adds a message. Returns false when the queue holds its id already.
   *
   * @throws QueueFullError when the limit is reached.
   * @throws UsageError `PRIORITY_INVALID` when `priority` (default: that of the message; smaller leaves sooner) is not a finite number;
   * `MESSAGE_INVALID` for a value that is not a message.
   */
  push(message: Message, options?: { readonly priority?: number | undefined }): boolean {
    if (options !== undefined) checkKnownOptions("push of a MessageQueue", options, pushOptions);
    const priority = options?.priority ?? message?.priority ?? 0;
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
   * Adds a message whose id the queue is known not to hold.
   *
   * @throws QueueFullError when the limit is reached.
   */
  append(message: Message): void {
    assertMessage(message);
    if (this.limit !== undefined && this.size >= this.limit) throw new QueueFullError(this.limit);
    const { priority = 0 } = message;
    const waiting = this.#waiting;
    if (waiting !== undefined && waiting.ids === undefined) waiting.lanes.push(message, priority);
    else if (priority === 0 && this.isEmpty) this.#only = message;
    else this.#join(message, priority);
  }

  /** Lets the first `n` messages leave before all others, also those that come later. @internal */
  keepFirst(n: number): void {
    if (n === 0 || this.#waiting?.lanes.has(n, FIRST) === true) return;
    const all = [...this.#inOrder()];
    const lanes = new PriorityLanes<Message>();
    for (const [place, { item, priority }] of all.entries()) lanes.push(item, place < n ? FIRST : priority);
    this.#only = undefined;
    this.#few = undefined;
    this.#waiting = all.length === 0 ? undefined : { lanes, ids: undefined };
  }

  /** Removes and returns the first message, or `undefined` from an empty queue. */
  pop(): Message | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return this.#few === undefined ? this.#popOnly() : this.#popFew(this.#few);
    const message = waiting.lanes.shift();
    if (message !== undefined) waiting.ids?.delete(message.id);
    if (waiting.lanes.size === 0) this.#waiting = undefined;
    return message;
  }

  /** Removes and returns all messages in order. */
  popAll(): Message[] {
    const messages = this.peek(this.size);
    this.#only = undefined;
    this.#few = undefined;
    this.#waiting = undefined;
    return messages;
  }

  /** Returns true when the queue holds a message of this id. */
  has(id: string): boolean {
    takes("MessageQueue.has", "id", id, aText);
    const waiting = this.#waiting;
    if (waiting === undefined) return this.#few === undefined ? this.#only?.id === id : this.#few.some((message) => message.id === id);
    if (waiting.ids === undefined && waiting.lanes.size <= FEW_WAITING) return waiting.lanes.some((message) => message.id === id);
    return (waiting.ids ??= idsOf(waiting.lanes)).has(id);
  }

  /**
   * Returns the first `n` messages, or all when there are fewer, without removing them.
   *
   * @throws UsageError `ARGUMENT_INVALID` when `n` is not a whole number of 0 or more.
   */
  peek(n = 1): Message[] {
    takes("MessageQueue.peek", "n", n, aCount);
    if (this.#waiting !== undefined) return this.#waiting.lanes.first(n);
    if (this.#few !== undefined) return this.#few.slice(0, n);
    return this.#only === undefined || n === 0 ? [] : [this.#only];
  }

  /** Returns the queue as plain JSON. */
  toJSON(): MessageQueueJson {
    const entries = Array.from(this.#inOrder(), ({ item, priority }) => {
      const message = serializeMessage(item);
      return priority === FIRST || priority === (item.priority ?? 0) ? { message } : { message, priority };
    });
    return this.limit === undefined ? { entries } : { limit: this.limit, entries };
  }

  /**
   * Restores a queue from {@link toJSON}.
   *
   * @throws UsageError `QUEUE_INVALID` naming the invalid part.
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

  /** The messages with their priorities, in the order they would leave. */
  *#inOrder(): Generator<{ readonly item: Message; readonly priority: number }, void> {
    for (const item of this.#unordered) yield { item, priority: 0 };
    yield* this.#waiting?.lanes.inOrder() ?? [];
  }

  /** The messages that are not in lanes. */
  get #unordered(): readonly Message[] {
    return this.#few ?? (this.#only === undefined ? [] : [this.#only]);
  }

  #popOnly(): Message | undefined {
    const only = this.#only;
    this.#only = undefined;
    return only;
  }

  #popFew(few: Message[]): Message | undefined {
    const first = few.shift();
    if (few.length > 1) return first;
    this.#only = few[0];
    this.#few = undefined;
    return first;
  }

  /** Adds a message after the others. */
  #join(message: Message, priority: number): void {
    if (this.#waiting === undefined && priority === 0 && this.size < FEW_WAITING) {
      if (this.#only === undefined) this.#few?.push(message);
      else this.#few = [this.#only, message];
      this.#only = undefined;
      return;
    }
    const waiting = (this.#waiting ??= { lanes: new PriorityLanes(), ids: undefined });
    for (const earlier of this.#unordered) waiting.lanes.push(earlier, 0);
    this.#only = undefined;
    this.#few = undefined;
    waiting.lanes.push(message, priority);
    waiting.ids?.add(message.id);
  }
}

/** The priority of the messages that are kept first. */
const FIRST = -Number.MAX_VALUE;

/** So few messages are searched one by one. */
const FEW_WAITING = 8;

/** Exists while the queue holds many messages, or messages of several priorities, so that most inboxes take little memory. */
interface Waiting {
  readonly lanes: PriorityLanes<Message>;
  /** Ids of all messages. Built when an id is looked up among many messages. */
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
    entries: z.array(z.object({ message: MessageSchema, priority: z.number().optional() })),
  }),
);
