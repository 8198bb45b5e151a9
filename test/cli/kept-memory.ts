import { join } from "node:path";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { type Embedder, hashingEmbedder } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { createMessage, type Message, type MessageFields } from "../../src/message/message.ts";

/** The place where a command looks for memories in a folder. */
export function memoryFile(cwd: string): string {
  return join(cwd, ".troupe/memory.db");
}

/** Something that was said an hour ago, if nothing else is said of it. */
export function remark(id: string, content: string, fields: MessageFields = {}): Message {
  return createMessage(content, { id, timestamp: Date.now() - 3_600_000, ...fields });
}

/** Makes a role remember. */
export async function remember(
  cwd: string,
  roleId: string,
  messages: readonly Message[],
  { runId = "run1", embedder = hashingEmbedder() }: { readonly runId?: string; readonly embedder?: Embedder } = {},
): Promise<void> {
  const storage = new MemoryStorage({ roleId, runId, embedder, store: sqliteStore({ path: memoryFile(cwd) }) });
  await storage.addBatch(messages);
  await storage.close();
}

/** All that a role remembers. */
export async function remembered(cwd: string, roleId: string): Promise<readonly string[]> {
  const storage = new MemoryStorage({ roleId, store: sqliteStore({ path: memoryFile(cwd) }) });
  const messages = await storage.recover();
  await storage.close();
  return messages.map(({ content }) => content);
}
