import { dirname } from "node:path";
import type { StoredRole } from "../adapters/sqlite-store-file.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Embedder } from "../memory/embedder.ts";
import { scopeOfKey, scopeText } from "../memory/memory-scope.ts";
import { MemoryStorage } from "../memory/memory-storage.ts";
import type { StoredMessage } from "../memory/message-store.ts";
import type { Flags } from "./options.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { hideFromGit, isStore, type StoreKind, type StorePlace, storePlace } from "./store.ts";
import { findOne, thereAre } from "./stored-run.ts";

const MEMORIES: StoreKind = { file: "memory.db", variable: "TROUPE_MEMORY" };

export interface MemoriesStore extends StorePlace {
  /** The roles with a memory here; the id of one that is of a scope names its parts. @throws MemoryError when it cannot be used */
  roles(): Promise<readonly StoredRole[]>;
  /** Without an embedder nothing computes vectors: a search writes nothing. */
  memory(roleId: string, embedder?: Embedder): MemoryStorage;
}

export function memoryPlace(flags: Flags, session: Pick<Session, "host">): StorePlace {
  return storePlace(flags, session.host, MEMORIES);
}

export async function withMemories<T>(session: Session, flags: Flags, work: (store: MemoriesStore) => Promise<T>): Promise<T> {
  await assertMemories(memoryPlace(flags, session), "--store");
  return withNewMemories(session, flags, work);
}

export async function assertMemories({ path, name }: StorePlace, option: string): Promise<void> {
  if (await isStore(path)) return;
  const expected = `Expected memories in ${shown(name, 300)}, but there is no such file`;
  throw new UsageError("STORE_MISSING", `${expected}. Go to the folder they are kept in, or name it: ${option} <file>.`);
}

export function withMemory<T>(
  session: Session,
  flags: Flags,
  given: string,
  work: (store: MemoriesStore, roleId: string) => Promise<T>,
): Promise<T> {
  return withMemories(session, flags, async (store) => work(store, findRole(await roleIds(store), given)));
}

export async function withNewMemories<T>(session: Session, flags: Flags, work: (store: MemoriesStore) => Promise<T>): Promise<T> {
  const place = memoryPlace(flags, session);
  const { sqliteStore } = await import("../adapters/sqlite-store.ts");
  const { storedRoles } = await import("../adapters/sqlite-store-file.ts");
  const store = sqliteStore({ path: place.path });
  const { clock } = session.host;
  const isNew = !(await isStore(place.path));
  const keys = new Map<string, string>();
  const named = (role: StoredRole): StoredRole => {
    const roleId = scopeText(scopeOfKey(role.roleId));
    keys.set(roleId, role.roleId);
    return { ...role, roleId };
  };
  const memory = (roleId: string, embedder?: Embedder): MemoryStorage => {
    const { role, ...scope } = scopeOfKey(keys.get(roleId) ?? roleId);
    return new MemoryStorage({ roleId: role, scope, clock, store, embedder });
  };
  try {
    return await work({ ...place, roles: async () => (await storedRoles(place.path)).map(named), memory });
  } finally {
    await store.close();
    if (isNew && place.isDefault && (await isStore(place.path))) await hideFromGit(dirname(place.path), session);
  }
}

export async function roleIds(store: MemoriesStore): Promise<readonly string[]> {
  return (await store.roles()).map(({ roleId }) => roleId);
}

export function findRole(ids: readonly string[], given: string): string {
  const advice = ids.length === 0 ? "No memories are kept here yet." : thereAre(ids);
  const unknown = "the id of a role with a memory, or its beginning";
  return findOne(ids, given, { code: "ROLE", one: "role", unknown, advice, idOf: (id) => id });
}

export function findMessage(entries: readonly StoredMessage[], given: string): StoredMessage {
  return findOne(entries, given, {
    code: "MESSAGE",
    one: "message",
    unknown: "the id of a message of this memory, or its beginning",
    advice: "See: troupe memory show <role> --last 100",
    idOf: ({ message }) => message.id,
    nameOf: ({ runId, message }) => (runId === "" ? message.id : `${message.id} of run ${runId}`),
    more: "the run: --run <id>",
  });
}
