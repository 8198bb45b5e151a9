import { expect } from "vitest";
import { MemoryError } from "../../src/kernel/errors.ts";
import type { MemoryStorage } from "../../src/memory/memory-storage.ts";
import type { Message } from "../../src/message/message.ts";
import { meddle, newFile } from "./sqlite-setup.ts";

/*
 * Files of memories that something happened to, and what is asked of all of them: what comes back is what was put in, or a typed error.
 */

const ERRORS = ["MEMORY_DAMAGED", "MEMORY_FOREIGN", "MEMORY_UNWRITABLE"];

/** A file with all messages of a role, closed, its log gone over into it. */
export async function fileWith(messages: readonly Message[], storageAt: (path: string) => MemoryStorage): Promise<string> {
  const path = newFile("memory.db");
  const storage = storageAt(path);
  await storage.addBatch(messages);
  await storage.close();
  await meddle(path);
  return path;
}

/** The n-th way to flip four bits of a file. */
export function flipped(whole: Buffer, n: number): Buffer {
  const bytes = Buffer.from(whole);
  for (let flip = 0; flip < 4; flip++) {
    const at = (n * 7_919 + flip * 104_729 + 100) % bytes.length;
    bytes[at] = (bytes[at] ?? 0) ^ (1 << ((n + flip) % 8));
  }
  return bytes;
}

/** The messages of a role that come back, or the error that says why none does. Closes the storage. */
export async function recoveredFrom(storage: MemoryStorage): Promise<readonly Message[] | MemoryError> {
  try {
    return await storage.recover();
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  } finally {
    await storage.close();
  }
}

/** Counts the messages that came back, each as it was put in, and once. @param more codes of errors that are as good as those of damage */
export function expectTrue(came: readonly Message[] | MemoryError, messages: readonly Message[], ...more: readonly string[]): number {
  if (came instanceof MemoryError) {
    expect([...ERRORS, ...more]).toContain(came.code);
    return 0;
  }
  for (const message of came) expect(message).toEqual(messages.find(({ id }) => id === message.id));
  expect(new Set(came.map(({ id }) => id)).size).toBe(came.length);
  return came.length;
}
