import { z } from "zod";
import { aCount, aText, readable, takes } from "../kernel/argument.ts";
import { QueueFullError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { lazily } from "../kernel/lazily.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { assertMessage, assertMessageAlone, type Message, MessageSchema, serializeMessage } from "./message.ts";

export interface MessageQueueOptions {
  /** Limit on the messages, 1 or more. Default: none. */
  readonly limit?: number | undefined;
}

const messageQueueOptions: Known<MessageQueueOptions> = { limit: kinds.checked };

export interface MessageQueueJson {
  readonly limit?: number;
  /** In order. */
  readonly messages: readonly ReturnType<typeof serializeMessage>[];
}

const FEW = 8;

/**
 * The mailbox of a role: delivered messages that it has not taken yet. It owns their order.
 *
 * MessageQueue.Q1 (`#indexFor`) smaller priorities first, equal ones in order of arrival. MessageQueue.Q2 (`has`) an id waits at most once.
 * MessageQueue.Q3 (`append`, `take`) messages of one priority are added and taken in O(1) amortized; another one is found by binary search.
 * MessageQueue.Q4 (`keepFirst`) messages that an activation has taken stay the first ones.
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
  /** The number of messages. Written by the queue alone. */
  size = 0;
  /** The messages in order, from `#head` on. Undefined while there are none: most mailboxes are empty. */
  #line: Message[] | undefined;
  #head = 0;
  #kept = 0;
  /** The ids of the messages, once one was looked up among many. */
  #ids: Set<string> | undefined;

  /** @throws UsageError `LIMIT_INVALID` */
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

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** Adds a message. Returns false when its id waits already. @throws QueueFullError; UsageError `MESSAGE_INVALID`, `OPTION_UNKNOWN` */
  push(message: Message, more?: undefined): boolean {
    assertMessage(message);
    assertMessageAlone("push of a MessageQueue", more);
    if (this.holds(message.id)) return false;
    this.append(message);
    return true;
  }

  /** Adds a message whose id does not wait. @throws QueueFullError @internal */
  append(message: Message): void {
    const line = this.#line;
    if (this.limit !== undefined && this.size >= this.limit) throw new QueueFullError(this.limit);
    this.#ids?.add(message.id);
    this.size += 1;
    // A literal has room for one item, the first push makes room for many.
    if (line === undefined) this.#line = [message];
    else if (priorityAt(line, line.length - 1) <= (message.priority ?? 0)) line.push(message);
    else line.splice(this.#indexFor(message.priority ?? 0, line), 0, message);
  }

  /** Lets the first `n` messages leave before all that come later. @internal */
  keepFirst(n: number): void {
    this.#kept = Math.max(this.#kept, Math.min(n, this.size));
  }

  /** Replaces all messages, given in order, of which the first `n` stay first. @internal */
  refill(messages: readonly Message[], n: number): void {
    this.popAll();
    for (const message of messages) {
      this.#kept = this.size;
      this.append(message);
    }
    this.#kept = Math.min(n, this.size);
  }

  /** Removes and returns the first message. */
  pop(): Message | undefined {
    return this.take(1)[0];
  }

  /** Removes and returns all messages in order. */
  popAll(): Message[] {
    return this.take(this.size);
  }

  /** Removes and returns the first `n` messages. @internal */
  take(n: number): Message[] {
    const line = this.#line;
    if (line === undefined) return [];
    const end = this.#head + n;
    this.size = Math.max(0, this.size - n);
    if (end < line.length) {
      const taken = line.slice(this.#head, end);
      if (this.#ids !== undefined) for (const { id } of taken) this.#ids.delete(id);
      this.#head = end;
      this.#kept = Math.max(0, this.#kept - n);
      if (end * 2 > line.length) {
        line.splice(0, end);
        this.#head = 0;
      }
      return taken;
    }
    const taken = this.#head === 0 ? line : line.slice(this.#head);
    this.#line = undefined;
    this.#ids = undefined;
    this.#head = 0;
    this.#kept = 0;
    return taken;
  }

  /** True when a message of this id waits. */
  has(id: string): boolean {
    takes("MessageQueue.has", "id", id, aText);
    return this.holds(id);
  }

  /** True when a message of this id waits. @internal */
  holds(id: string): boolean {
    const line = this.#line;
    if (line === undefined) return false;
    if (line.length > FEW) this.#ids ??= new Set(this.first(this.size).map((message) => message.id));
    if (this.#ids !== undefined) return this.#ids.has(id);
    for (let index = this.#head; index < line.length; index += 1) if (line[index]?.id === id) return true;
    return false;
  }

  /**
   * Returns the first `n` messages, or all when there are fewer, without removing them.
   *
   * @throws UsageError `ARGUMENT_INVALID` when `n` is not a whole number of 0 or more.
   */
  peek(n = 1): Message[] {
    takes("MessageQueue.peek", "n", n, aCount);
    return this.first(n);
  }

  /** @internal */
  first(n: number): Message[] {
    return this.#line === undefined ? [] : this.#line.slice(this.#head, this.#head + n);
  }

  /** Returns the queue as plain JSON. */
  toJSON(): MessageQueueJson {
    const messages = this.first(this.size).map(serializeMessage);
    return this.limit === undefined ? { messages } : { limit: this.limit, messages };
  }

  /**
   * Restores a queue from {@link toJSON}.
   *
   * @throws UsageError `QUEUE_INVALID` naming the invalid part; QueueFullError when it holds more than its limit.
   */
  static fromJSON(json: unknown): MessageQueue {
    takes("MessageQueue.fromJSON", "json", json, readable);
    const parsed = queueSchema().safeParse(json);
    if (!parsed.success) {
      throw new UsageError("QUEUE_INVALID", `Expected a message queue as JSON, got something else: ${z.prettifyError(parsed.error)}`);
    }
    const queue = new MessageQueue({ limit: parsed.data.limit });
    for (const message of parsed.data.messages) queue.push(message);
    return queue;
  }

  #indexFor(priority: number, line: readonly Message[]): number {
    let low = this.#head + this.#kept;
    let high = line.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (priorityAt(line, middle) <= priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function priorityAt(line: readonly Message[], index: number): number {
  return line[index]?.priority ?? 0;
}

const queueSchema = lazily(() => z.object({ limit: z.int().min(1).optional(), messages: z.array(MessageSchema) }));
