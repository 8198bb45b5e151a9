import { z } from "zod";
import { NotJsonError, UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { type Message, MESSAGE_VERSION, MessageSchema } from "../message/message.ts";
import type { MemoryJson } from "../memory/message-memory.ts";
import { identityOf, type MessageToStore } from "../memory/message-store.ts";

export const SNAPSHOT_VERSION = 1;
/** Limit of a snapshot in characters. Larger stores are copied as files. */
export const MAX_CHARACTERS: number = 256 * 1024 * 1024;
const LATEST = 8.64e15;

/** A long-term memory in order of arrival, without vectors, which can be computed again. */
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
