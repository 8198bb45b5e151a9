import { kinds } from "../kernel/option-kinds.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { either, having, object, readable, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import { serializeMessage } from "../message/message.ts";
import { LongTermMemory } from "../memory/long-term-memory.ts";
import { MemoryStorage, TICK } from "../memory/memory-storage.ts";
import type { MessageMemory, ReadableMemory } from "../memory/message-memory.ts";
import type { MessageToStore } from "../memory/message-store.ts";
import { type MemorySnapshot, readSnapshot, SNAPSHOT_VERSION, type SnapshotContent } from "./snapshot-form.ts";

/** Options of {@link exportSnapshot}: the clock gives the time of the snapshot. */
export interface SnapshotOptions {
  readonly clock?: Clock | undefined;
}

const snapshotOptions: Known<SnapshotOptions> = { clock: kinds.clock };

/** The number of messages of a snapshot, and of those that were new. */
interface ImportedSnapshot {
  readonly messages: number;
  readonly added: number;
}

/**
 * Exports a memory as plain JSON: every message in order of arrival. {@link importSnapshot} reads it. The snapshot of a long-term memory holds
 * the messages of all runs, with their runs and times; pending changes are stored first. `snapshotLines` writes it as text.
 *
 * @throws NotJsonError; MemoryError when the store cannot be read
 * @example
 * import { createMessage, Memory } from "troupe";
 * import { exportSnapshot, importSnapshot } from "troupe/inspector";
 *
 * const memory = new Memory();
 * memory.add(createMessage("The ferry leaves at nine."));
 * const copy = new Memory();
 * await importSnapshot(await exportSnapshot(memory), copy);
 * console.log(copy.size); // 1
 */
export async function exportSnapshot(memory: ReadableMemory | MemoryStorage, options: SnapshotOptions = {}): Promise<MemorySnapshot> {
  takes("exportSnapshot", "memory", memory, either(having("a memory", "toJSON"), having("a storage", "recover")));
  checkKnownOptions("exportSnapshot", options, snapshotOptions);
  const taken = await takenOf(memory);
  return {
    troupe: "memory",
    v: SNAPSHOT_VERSION,
    takenAt: (options.clock ?? systemClock).now(),
    sha256: contentHash(taken.body),
    ...taken,
  };
}

/**
 * Writes a snapshot as the lines of one JSON document, without line breaks. Each message has a line of its own, so a diff tool can compare two
 * snapshots.
 */
export function snapshotLines(snapshot: MemorySnapshot): Generator<string> {
  takes("snapshotLines", "snapshot", snapshot, object("a snapshot that exportSnapshot made", { body: object("what was in the memory") }));
  return linesOf(snapshot);
}

function* linesOf({ body, ...head }: MemorySnapshot): Generator<string> {
  const { messages, ...facts } = body;
  const members = JSON.stringify(facts).slice(1, -1);
  yield `${JSON.stringify(head).slice(0, -1)},"body":{${members}${members === "" ? "" : ","}"messages":[`;
  for (const [index, message] of messages.entries()) yield `${JSON.stringify(message)}${index === messages.length - 1 ? "" : ","}`;
  yield "]}}";
}

/**
 * Adds the messages of a snapshot to a memory of the same kind, after those that it holds and only once the whole snapshot is checked. Known
 * messages stay unchanged, so a second import changes nothing; a full memory evicts its oldest messages. A storage keeps the runs and times,
 * adds all in one transaction, and computes vectors later; its role may differ.
 *
 * @param snapshot the JSON of {@link exportSnapshot} or its text
 * @throws UsageError `SNAPSHOT_FOREIGN`, `SNAPSHOT_NEWER`, `SNAPSHOT_TOO_LARGE`; `SNAPSHOT_INVALID` for one that is cut, was changed, or names
 * a message twice; `SNAPSHOT_KIND` for a memory of another kind, or with another `ignoreId`. MemoryError when the store fails
 */
export async function importSnapshot(snapshot: unknown, memory: MessageMemory | MemoryStorage): Promise<ImportedSnapshot> {
  takes("importSnapshot", "snapshot", snapshot, readable);
  takes("importSnapshot", "memory", memory, having("a memory or a storage", "delete"));
  return importContent(readSnapshot(snapshot), memory);
}

/** @internal */
export async function importContent(content: SnapshotContent, memory: MessageMemory | MemoryStorage): Promise<ImportedSnapshot> {
  if (memory instanceof MemoryStorage) return intoStorage(content, memory);
  if (memory instanceof LongTermMemory) {
    const imported = await intoStorage(content, memory.storage);
    await memory.recover();
    return imported;
  }
  if (content.kind !== "memory") throw otherKind(content, "memory");
  if (content.ignoreId !== memory.ignoreId) {
    throw new UsageError(
      "SNAPSHOT_KIND",
      `Expected a memory with ignoreId ${content.ignoreId}, as the snapshot has it, got one with ${memory.ignoreId}. Make another one.`,
    );
  }
  return { messages: content.messages.length, added: memory.addBatch(content.messages) };
}

type Taken = MemorySnapshot extends infer S ? (S extends MemorySnapshot ? Pick<S, "kind" | "messages" | "body"> : never) : never;

async function takenOf(memory: ReadableMemory | MemoryStorage): Promise<Taken> {
  if (memory instanceof LongTermMemory) {
    await memory.persist().catch((error: unknown) => {
      // Messages are stored even when the embedder fails, and a snapshot has no vectors.
      if (memory.unsaved > 0) throw error;
    });
    return takenOf(memory.storage);
  }
  if (memory instanceof MemoryStorage) {
    const entries = await memory.entries();
    const messages = entries.map(({ runId, addedAt, message }) => ({ runId, addedAt, message: serializeMessage(message) }));
    return { kind: "storage", messages: entries.length, body: { roleId: memory.roleId, messages } };
  }
  const body = memory.toJSON();
  return { kind: "memory", messages: body.messages.length, body };
}

async function intoStorage(content: SnapshotContent, storage: MemoryStorage): Promise<ImportedSnapshot> {
  if (content.kind !== "storage") throw otherKind(content, "storage");
  const now = await storage.nextTime();
  const entries = content.messages.map((entry, n): MessageToStore => ({ ...entry, addedAt: Math.min(entry.addedAt, now + n * TICK) }));
  return { messages: entries.length, added: await storage.adopt(entries) };
}

const KINDS = { memory: "a short-term memory", storage: "a long-term memory" } as const;

function otherKind({ kind }: SnapshotContent, came: SnapshotContent["kind"]): UsageError {
  return new UsageError(
    "SNAPSHOT_KIND",
    `Expected ${KINDS[kind]} for this snapshot, got ${KINDS[came]}. Import it into a memory of its kind.`,
  );
}
