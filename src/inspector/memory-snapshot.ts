import { kinds } from "../kernel/option-kinds.ts";
import { type Known, checkKnownOptions } from "../kernel/known-options.ts";
import { either, having, object, readable, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { NotJsonError, UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import { MESSAGE_VERSION, type Message, MessageSchema, serializeMessage } from "../message/message.ts";
import { LongTermMemory } from "../memory/long-term-memory.ts";
import { MemoryStorage, TICK } from "../memory/memory-storage.ts";
import type { MemoryJson, MessageMemory, ReadableMemory } from "../memory/message-memory.ts";
import { type MessageToStore, identityOf } from "../memory/message-store.ts";
import { z } from "zod";
import { valueText } from "../kernel/value-text.ts";

/** Options of {@link exportSnapshot}: the clock gives the time of the snapshot. */
export interface SnapshotOptions {
  readonly clock?: Clock | undefined;
}

const snapshotOptions: Known<SnapshotOptions> = { clock: kinds.clock };

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

/** Writes a snapshot as lines of JSON, without line breaks. Each message has a line of its own, so a diff tool can compare two snapshots. */
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

const SNAPSHOT_VERSION = 1;
/** Limit of a snapshot in characters. Larger stores are copied as files. */
export const MAX_CHARACTERS: number = 256 * 1024 * 1024;
const LATEST = 8.64e15;

interface StorageJson {
  readonly roleId: string;
  readonly messages: readonly {
    readonly runId: string;
    readonly addedAt: number;
    readonly message: MemoryJson["messages"][number];
  }[];
}

export type SnapshotContent =
  | { readonly kind: "memory"; readonly ignoreId: boolean; readonly messages: readonly Message[] }
  | { readonly kind: "storage"; readonly roleId: string; readonly messages: readonly MessageToStore[] };

const time = z.number().min(0).max(LATEST);
const HeadSchema = z.strictObject({
  troupe: z.literal("memory"),
  v: z.literal(SNAPSHOT_VERSION),
  kind: z.enum(["memory", "storage"]),
  takenAt: time,
  messages: z.int().min(0),
  sha256: z.string(),
  body: z.unknown(),
});
/** An exported memory as plain JSON: its kind, time in milliseconds since 1970, number of messages, and hash of the canonical JSON of `body`. */
export type MemorySnapshot = Omit<z.infer<typeof HeadSchema>, "kind" | "body"> &
  ({ readonly kind: "memory"; readonly body: MemoryJson } | { readonly kind: "storage"; readonly body: StorageJson });

/** `MessageSchema` alone would invent a missing id or time. */
const WholeMessage = z
  .looseObject({ id: z.string().min(1), timestamp: z.number() })
  .transform((wire): unknown => wire)
  .pipe(MessageSchema);
const MemoryBody = z.strictObject({
  ignoreId: z.boolean().default(false),
  limit: z.int().min(1).optional(),
  messages: z.array(WholeMessage),
});
const StorageBody = z.strictObject({
  roleId: z.string().min(1),
  messages: z.array(z.strictObject({ runId: z.string(), addedAt: time, message: WholeMessage })),
});

/** Reads a snapshot from its text or its JSON and validates all of it. Its errors are those of `importSnapshot`. */
export function readSnapshot(given: unknown): SnapshotContent {
  const json = typeof given === "string" ? parsed(given) : given;
  const { troupe, v } = (json ?? {}) as { readonly troupe?: unknown; readonly v?: unknown };
  if (troupe !== "memory") {
    const came = `got ${valueText(json)}. Nothing was taken over.`;
    throw new UsageError("SNAPSHOT_FOREIGN", `Expected the snapshot of a memory, as exportSnapshot makes it, ${came}`);
  }
  if (typeof v === "number" && v > SNAPSHOT_VERSION) throw newer(`a snapshot of version ${SNAPSHOT_VERSION} at most, got version ${v}`);
  const { kind, messages, sha256 } = fitting(HeadSchema, json, "its head");
  // The raw value, because a schema silently drops keys such as `__proto__`.
  const { body } = json as { readonly body?: unknown };
  if (hashOf(body) !== sha256) throw invalid("its content is not what its checksum was made of: it was changed since");
  const content = contentOf(kind, body);
  const count = content.messages.length;
  if (count !== messages) throw invalid(`it names ${messages} messages, but holds ${count}`);
  return content;
}

function parsed(text: string): unknown {
  if (text.length > MAX_CHARACTERS) {
    const got = `Expected a snapshot of at most ${MAX_CHARACTERS} characters, got ${text.length}.`;
    throw new UsageError("SNAPSHOT_TOO_LARGE", `${got} Copy the file of the store instead, while no process uses it.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid("it is not JSON, or it is cut off", error);
  }
}

function contentOf(kind: MemorySnapshot["kind"], body: unknown): SnapshotContent {
  if (kind === "memory") {
    const { ignoreId, messages } = fitting(MemoryBody, body, "its memory");
    refuseDoubles(messages.map((message) => (ignoreId ? message.content : message.id)));
    return { kind, ignoreId, messages };
  }
  const { roleId, messages } = fitting(StorageBody, body, "its storage");
  refuseDoubles(messages.map(({ runId, message }) => identityOf(runId, message.id)));
  return { kind, roleId, messages };
}

function refuseDoubles(identities: readonly string[]): void {
  const known = new Map<string, number>();
  for (const [index, identity] of identities.entries()) {
    const first = known.get(identity);
    if (first !== undefined) throw invalid(`message ${index} is message ${first} once more`);
    known.set(identity, index);
  }
}

function fitting<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") ?? "";
  if (path.startsWith("messages.") && path.endsWith(".v"))
    throw newer(`messages of version ${MESSAGE_VERSION} at most, got another at ${path}`);
  throw invalid(`${what} does not fit: ${path} ${issue?.message ?? ""}`.replace(/\s+/g, " ").trim(), result.error);
}

function hashOf(body: unknown): string {
  if (typeof body !== "object" || body === null) throw invalid("it has no body");
  try {
    return contentHash(body);
  } catch (error) {
    if (error instanceof NotJsonError) throw invalid(error.message, error);
    throw error;
  }
}

function invalid(why: string, cause?: unknown): UsageError {
  return new UsageError(
    "SNAPSHOT_INVALID",
    `Expected a whole snapshot of a memory, but ${why}. Take another copy of it; nothing was taken over.`,
    cause === undefined ? {} : { cause },
  );
}

function newer(expected: string): UsageError {
  return new UsageError("SNAPSHOT_NEWER", `Expected ${expected}. Update this program to read it; nothing was taken over.`);
}
