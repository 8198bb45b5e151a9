import { dirname } from "node:path";
import type { StoredRoles } from "../adapters/sqlite-store-roles.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Embedder } from "../memory/embedder.ts";
import { MemoryStorage } from "../memory/memory-storage.ts";
import { readOnlyStore } from "./read-only-store.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { Flags } from "./settings.ts";
import { hideFromGit, isStore, type StoreKind, type StorePlace, storePlace } from "./store.ts";

const MEMORIES: StoreKind = { file: "memory.db", variable: "TROUPE_MEMORY" };

/** A store of long-term memories. */
export interface MemoriesStore extends StorePlace {
  /** Whose memories it has. @throws MemoryError when it cannot be used */
  roles(): Promise<StoredRoles>;
  /** One role's memory, to be looked at. */
  reading(roleId: string): MemoryStorage;
  /** The same, to be changed. */
  writing(roleId: string, embedder?: Embedder): MemoryStorage;
}

/** Where memories are kept: where `--store` says, else TROUPE_MEMORY, else `.troupe/memory.db`. @throws UsageError `OPTION_INVALID` */
export function memoryPlace(flags: Flags, session: Pick<Session, "host">): StorePlace {
  return storePlace(flags, session.host, MEMORIES);
}

/** Works with the memories that are there. @throws UsageError `STORE_MISSING` */
export async function withMemories<T>(session: Session, flags: Flags, work: (store: MemoriesStore) => Promise<T>): Promise<T> {
  const place = memoryPlace(flags, session);
  if (!(await isStore(place.path))) throw noStore(place);
  return opened(session, place, work);
}

/** The same; where there are none yet, the store is made. */
export async function withNewMemories<T>(session: Session, flags: Flags, work: (store: MemoriesStore) => Promise<T>): Promise<T> {
  return opened(session, memoryPlace(flags, session), work);
}

async function opened<T>(session: Session, place: StorePlace, work: (store: MemoriesStore) => Promise<T>): Promise<T> {
  const { sqliteStore } = await import("../adapters/sqlite-store.ts");
  const { storedRoles } = await import("../adapters/sqlite-store-roles.ts");
  const store = sqliteStore({ path: place.path });
  const { clock } = session.host;
  const isNew = !(await isStore(place.path));
  try {
    return await work({
      ...place,
      roles: () => storedRoles(place.path),
      reading: (roleId) => new MemoryStorage({ roleId, store: readOnlyStore(store), clock }),
      writing: (roleId, embedder) => new MemoryStorage({ roleId, store, embedder, clock }),
    });
  } finally {
    await store.close();
    if (isNew && place.isDefault && (await isStore(place.path))) await hideFromGit(dirname(place.path), session);
  }
}

function noStore({ name }: StorePlace): UsageError {
  return new UsageError(
    "STORE_MISSING",
    `Expected memories in ${shown(name, 300)}, but there is no such file. Go to the folder they are kept in, or name it: --store <file>.`,
  );
}
