import { iterable, listOf, takes } from "../kernel/argument.ts";
import { isMessage, type Message } from "../message/message.ts";
import { excerptOf } from "./flow-drawing.ts";

/** Messages of a group that a report shows, and characters of each. */
const SHOWN = 3;
const EXCERPT = 50;
/** Groups of equal messages in a report. */
const MOST_REPEATED = 20;

/** Messages with the same cause, role or sender, and the beginnings of the first of them. */
export interface MessageGroup {
  readonly name: string;
  readonly messages: number;
  readonly first: readonly string[];
}

/** A report on the content of a memory. Groups are sorted by size, the largest first. */
export interface MemoryReport {
  readonly messages: number;
  /** Characters of their contents. */
  readonly characters: number;
  /** Bytes of the messages as JSON in UTF-8. */
  readonly bytes: number;
  readonly byCause: readonly MessageGroup[];
  readonly byRole: readonly MessageGroup[];
  /** The empty name is the user. */
  readonly bySender: readonly MessageGroup[];
  /** Ids and timestamps in milliseconds since 1970; undefined when no message has a timestamp. */
  readonly oldest: Pick<Message, "id" | "timestamp"> | undefined;
  readonly newest: Pick<Message, "id" | "timestamp"> | undefined;
  /** Messages without a timestamp. */
  readonly undated: number;
  /** Messages with the same content, the most frequent first, at most 20. */
  readonly repeated: readonly { readonly excerpt: string; readonly ids: readonly string[] }[];
}

/**
 * Reports on the content of a memory: the number of messages by cause, role and sender, the oldest and the newest message, and repeated
 * contents.
 *
 * @param memory a memory, or messages: those of a storage come from `recover()`, those of a brain memory from `history`
 */
export function debugMemory(memory: Iterable<Message>): MemoryReport {
  takes("debugMemory", "memory", memory, iterable("a memory or messages"));
  const messages = [...memory];
  takes("debugMemory", "memory", messages, listOf({ says: "a message", fits: isMessage }));
  const dated = messages.filter(({ timestamp }) => timestamp > 0).sort((a, b) => a.timestamp - b.timestamp);
  const datedAt = (index: number): MemoryReport["oldest"] => {
    const message = dated.at(index);
    return message && { id: message.id, timestamp: message.timestamp };
  };
  return {
    messages: messages.length,
    characters: messages.reduce((sum, { content }) => sum + content.length, 0),
    bytes: messages.reduce((sum, message) => sum + new TextEncoder().encode(JSON.stringify(message)).length, 0),
    byCause: groupsOf(messages, "causeBy"),
    byRole: groupsOf(messages, "role"),
    bySender: groupsOf(messages, "sentFrom"),
    oldest: datedAt(0),
    newest: datedAt(-1),
    undated: messages.length - dated.length,
    repeated: grouped(messages, "content")
      .slice(0, MOST_REPEATED)
      .filter(([, group]) => group.length > 1)
      .map(([content, group]) => ({ excerpt: excerptOf(content, EXCERPT), ids: group.map(({ id }) => id) })),
  };
}

type Key = "causeBy" | "role" | "sentFrom" | "content";

/** Messages by the value of a member, the largest group first. */
function grouped(messages: readonly Message[], key: Key): readonly (readonly [string, readonly Message[]])[] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const group = groups.get(message[key]);
    if (group === undefined) groups.set(message[key], [message]);
    else group.push(message);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}

function groupsOf(messages: readonly Message[], key: Key): readonly MessageGroup[] {
  return grouped(messages, key).map(([name, group]) => ({
    name,
    messages: group.length,
    first: group.slice(0, SHOWN).map(({ content }) => excerptOf(content, EXCERPT)),
  }));
}
