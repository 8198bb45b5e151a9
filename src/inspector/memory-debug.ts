import { iterable, listOf, takes } from "../kernel/argument.ts";
import { isMessage, type Message } from "../message/message.ts";
import { excerptOf } from "./flow-drawing.ts";

/** Messages of a group that a report shows, and characters of each. */
const SHOWN = 3;
const EXCERPT = 50;

/** Messages with the same cause or sender, and the beginnings of the first of them. */
export interface MessageGroup {
  readonly name: string;
  readonly messages: number;
  readonly first: readonly string[];
}

/** A report on the content of a memory. Groups are sorted by size, the largest first. */
export interface MemoryReport {
  readonly messages: number;
  /** Bytes of the messages as JSON in UTF-8. */
  readonly bytes: number;
  readonly byCause: readonly MessageGroup[];
  /** The empty name is the user. */
  readonly bySender: readonly MessageGroup[];
  /** Ids and timestamps in milliseconds since 1970; undefined when no message has a timestamp. */
  readonly oldest: Pick<Message, "id" | "timestamp"> | undefined;
  readonly newest: Pick<Message, "id" | "timestamp"> | undefined;
}

/**
 * Reports on the content of a memory: the number of messages by cause and sender, and the oldest and the newest message.
 *
 * @param memory a memory, or messages: those of a storage come from `recover()`, those of a brain memory from `history`
 */
export function debugMemory(memory: Iterable<Message>): MemoryReport {
  takes("debugMemory", "memory", memory, iterable("a memory or messages"));
  const messages = [...memory];
  takes("debugMemory", "memory", messages, listOf({ says: "a message", fits: isMessage }));
  const dated = messages
    .filter(({ timestamp }) => timestamp > 0)
    .sort((a, b) => a.timestamp - b.timestamp)
    .map(({ id, timestamp }) => ({ id, timestamp }));
  return {
    messages: messages.length,
    bytes: messages.reduce((sum, message) => sum + new TextEncoder().encode(JSON.stringify(message)).length, 0),
    byCause: groupsOf(messages, "causeBy"),
    bySender: groupsOf(messages, "sentFrom"),
    oldest: dated[0],
    newest: dated.at(-1),
  };
}

function groupsOf(messages: readonly Message[], key: "causeBy" | "sentFrom"): readonly MessageGroup[] {
  const groups = new Map<string, string[]>();
  for (const message of messages) {
    const contents = groups.get(message[key]) ?? [];
    groups.set(message[key], contents);
    contents.push(message.content);
  }
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, contents]) => ({
      name,
      messages: contents.length,
      first: contents.slice(0, SHOWN).map((content) => excerptOf(content, EXCERPT)),
    }));
}
