import { iterable, listOf, takes } from "../kernel/argument.ts";
import { isMessage, type Message } from "../message/message.ts";
import { excerptOf } from "./flow-drawing.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import { identityIn } from "../memory/memory.ts";

/** Messages of a group that a report shows, and characters of each. */
const SHOWN = 3;
const EXCERPT = 50;
/** Groups of equal messages in a report. */
const MOST_REPEATED = 20;
/** Faults in a report: one broken index has as many faults as messages. */
const MOST_FAULTS = 20;

/** Messages with the same cause, role or sender. */
export interface MessageGroup {
  readonly name: string;
  readonly messages: number;
  /** The beginnings of the first of them. */
  readonly first: readonly string[];
}

/** A message id and its time. */
export interface DatedMessage {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

/** Messages with the same content. */
export interface RepeatedContent {
  readonly excerpt: string;
  readonly ids: readonly string[];
}

/** A report on the content of a memory. */
export interface MemoryReport {
  readonly messages: number;
  /** Characters of their contents. */
  readonly characters: number;
  /** Bytes of the messages as JSON in UTF-8. */
  readonly bytes: number;
  /** Grouped by cause, the largest group first, as in the other groups. */
  readonly byCause: readonly MessageGroup[];
  readonly byRole: readonly MessageGroup[];
  /** The empty name is the user. */
  readonly bySender: readonly MessageGroup[];
  /** By timestamp; undefined when no message has one. */
  readonly oldest: DatedMessage | undefined;
  readonly newest: DatedMessage | undefined;
  /** Messages without a timestamp. */
  readonly undated: number;
  /** The most frequent first, at most 20. */
  readonly repeated: readonly RepeatedContent[];
  /** Answers of the memory that contradict its messages, at most 20. Empty for a list, which has no index. */
  readonly faults: readonly string[];
}

/**
 * Reports on the content of a memory: the number of messages by cause, role and sender, the oldest and the newest message, repeated contents,
 * and whether every index agrees with the messages. Reads every message and changes nothing.
 *
 * @param memory a memory, or messages: those of a storage come from `recover()`, those of a brain memory from `history`
 */
export function debugMemory(memory: ReadableMemory | Iterable<Message>): MemoryReport {
  takes("debugMemory", "memory", memory, iterable("a memory or messages"));
  const messages = [...memory];
  takes("debugMemory", "memory", messages, listOf({ says: "a message", fits: isMessage }));
  const dated = messages.filter(({ timestamp }) => timestamp > 0);
  return {
    messages: messages.length,
    characters: sum(messages, ({ content }) => content.length),
    bytes: sum(messages, bytesOf),
    byCause: groupsOf(messages, ({ causeBy }) => causeBy),
    byRole: groupsOf(messages, ({ role }) => role),
    bySender: groupsOf(messages, ({ sentFrom }) => sentFrom),
    oldest: extreme(dated, (a, b) => a.timestamp < b.timestamp),
    newest: extreme(dated, (a, b) => a.timestamp >= b.timestamp),
    undated: messages.length - dated.length,
    repeated: repeatedIn(messages),
    faults: isMemory(memory) ? faultsOf(memory, messages).slice(0, MOST_FAULTS) : [],
  };
}

function isMemory(memory: ReadableMemory | Iterable<Message>): memory is ReadableMemory {
  return "getByAction" in memory;
}

function sum(messages: readonly Message[], of: (message: Message) => number): number {
  return messages.reduce((total, message) => total + of(message), 0);
}

function bytesOf(message: Message): number {
  return new TextEncoder().encode(JSON.stringify(message)).length;
}

function groupedBy(messages: readonly Message[], keyOf: (message: Message) => string): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const group = groups.get(keyOf(message));
    if (group === undefined) groups.set(keyOf(message), [message]);
    else group.push(message);
  }
  return groups;
}

function groupsOf(messages: readonly Message[], keyOf: (message: Message) => string): readonly MessageGroup[] {
  const groups = [...groupedBy(messages, keyOf)].map(([name, group]) => ({
    name,
    messages: group.length,
    first: group.slice(0, SHOWN).map(({ content }) => excerptOf(content, EXCERPT)),
  }));
  return groups.sort((a, b) => b.messages - a.messages);
}

function extreme(messages: readonly Message[], isMore: (a: Message, b: Message) => boolean): DatedMessage | undefined {
  let found: Message | undefined;
  for (const message of messages) if (found === undefined || isMore(message, found)) found = message;
  return found === undefined ? undefined : { id: found.id, timestamp: found.timestamp };
}

function repeatedIn(messages: readonly Message[]): readonly RepeatedContent[] {
  return [...groupedBy(messages, ({ content }) => content)]
    .filter(([, group]) => group.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, MOST_REPEATED)
    .map(([content, group]) => ({ excerpt: excerptOf(content, EXCERPT), ids: group.map(({ id }) => id) }));
}

/** Compares every query with the messages found by iterating. */
function faultsOf(memory: ReadableMemory, walked: readonly Message[]): readonly string[] {
  const faults: string[] = [];
  const expect = (what: string, answer: readonly unknown[], expected: readonly unknown[]): void => {
    if (answer.length === expected.length && answer.every((one, nth) => one === expected[nth])) return;
    faults.push(`${what} gives ${answer.length} messages, and they are not the ${expected.length} that are held`);
  };
  if (memory.size !== walked.length) faults.push(`size is ${memory.size}, but ${walked.length} messages are held`);
  if (memory.limit !== undefined && walked.length > memory.limit)
    faults.push(`the limit is ${memory.limit}, but ${walked.length} are held`);
  expect("get()", memory.get(), walked);
  expect("newestFirst()", [...memory.newestFirst()], walked.toReversed());
  expect("getByPosition(0) and (-1)", [memory.getByPosition(0), memory.getByPosition(-1)], [walked[0], walked.at(-1)]);
  for (const [cause, group] of groupedBy(walked, ({ causeBy }) => causeBy)) {
    expect(`getByAction(${JSON.stringify(cause)})`, memory.getByAction(cause), group);
    expect(`newestBy(${JSON.stringify(cause)})`, [memory.newestBy(cause)], [group.at(-1)]);
  }
  for (const [role, group] of groupedBy(walked, (message) => message.role)) {
    expect(`getByRole("${role}")`, memory.getByRole(role as Message["role"]), group);
  }
  for (const [identity, group] of groupedBy(walked, (message) => identityIn(memory, message))) {
    if (group.length > 1) faults.push(`${group.length} messages are held that are the same: ${excerptOf(identity, EXCERPT)}`);
    if (!group.every((message) => memory.has(message)))
      faults.push(`has() does not know a message that is held: ${excerptOf(identity, EXCERPT)}`);
  }
  return faults;
}
