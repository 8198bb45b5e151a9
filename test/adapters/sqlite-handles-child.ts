import { copyFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sqlite, sqliteStore } from "../../src/adapters/sqlite.ts";
import { errorRecord } from "../../src/kernel/errors.ts";
import { createMessage } from "../../src/message/message.ts";
import { childEvent } from "./sqlite-child.ts";

/** The remains of a number of stores and journals that were opened, filled and closed. */
export interface Left {
  /** Files of the folder that the process has open, or mapped. */
  readonly handles: readonly string[];
  readonly mapped: readonly string[];
  /** Messages and events that a copy of the main file alone gives back, of every tenth. */
  readonly messages: number;
  readonly events: number;
  /** The files beside the main ones that are not empty. */
  readonly logs: readonly string[];
  /** Codes of the errors that were told. */
  readonly errors: readonly string[];
}

const MESSAGES = 40;

export async function main({ dir, count }: { readonly dir: string; readonly count: number }): Promise<void> {
  const errors: string[] = [];
  try {
    for (let n = 0; n < count; n++) await used(dir, n);
    errors.push(...(await refused(dir)));
  } catch (error) {
    errors.push(JSON.stringify(errorRecord(error)));
  }
  // A truncation of an index that is still mapped ends this process with the next look at it.
  for (const file of readdirSync(dir)) if (file.endsWith("-shm")) truncateSync(join(dir, file), 0);
  const handles = namesIn(dir, "/proc/self/fd", (entry) => readlinkSync(join("/proc/self/fd", entry)));
  const mapped = readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .filter((line) => line.includes(dir));
  const logs = readdirSync(dir).filter((file) => /-(wal|shm)$/.test(file) && statSync(join(dir, file)).size > 0);
  const left: Left = { handles, mapped, logs, errors, ...(await recovered(dir, errors.length > 3 ? 0 : count)) };
  process.stdout.write(JSON.stringify(left));
}

async function used(dir: string, n: number): Promise<void> {
  const store = sqliteStore({ path: join(dir, `store-${n}.db`) });
  const messages = Array.from({ length: MESSAGES }, (_, m) => ({
    runId: "",
    addedAt: m + 1,
    message: createMessage(`word ${m}`, { id: `m${m}` }),
  }));
  await store.add("role", messages);
  for await (const _page of store.read("role", 0)) break;
  await store.close();
  const path = join(dir, `journal-${n}.db`);
  const journal = sqlite({ path });
  await journal.create("run");
  const { epoch } = await journal.claim("run");
  await journal.append("run", epoch, 0, [childEvent("run", 0), childEvent("run", 1)]);
  const reader = sqlite({ path });
  for await (const _event of reader.read("run", 0)) break;
  await journal.close();
  await reader.runs();
  await reader.close();
}

/** Files that cannot be opened, and the remains of one that is read in spite of that. */
async function refused(dir: string): Promise<string[]> {
  const codes: string[] = [];
  const tell = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => void codes.push("none"),
      (error: unknown) => void codes.push(errorRecord(error).code),
    );
  const diary = join(dir, "diary.db");
  writeFileSync(diary, "my diary, no database\n".repeat(400));
  mkdirSync(join(dir, "folder.db"));
  for (let n = 0; n < 20; n++) {
    await tell(sqliteStore({ path: diary }).state("role"));
    const journal = sqlite({ path: diary });
    await tell(journal.runs());
    await journal.close();
    await tell(sqlite({ path: join(dir, "folder.db") }).runs());
  }
  return [...new Set(codes)];
}

async function recovered(dir: string, count: number): Promise<{ readonly messages: number; readonly events: number }> {
  let [messages, events] = [0, 0];
  for (let n = 0; n < count; n += 10) {
    for (const kind of ["store", "journal"]) copyFileSync(join(dir, `${kind}-${n}.db`), join(dir, `copy-of-${kind}-${n}.db`));
    const store = sqliteStore({ path: join(dir, `copy-of-store-${n}.db`) });
    for await (const page of store.read("role", 0)) messages += page.length;
    await store.close();
    const journal = sqlite({ path: join(dir, `copy-of-journal-${n}.db`) });
    for (const run of await journal.runs()) events += run.events;
    await journal.close();
  }
  return { messages, events };
}

function namesIn(dir: string, folder: string, nameOf: (entry: string) => string): string[] {
  return readdirSync(folder).flatMap((entry) => {
    try {
      const name = nameOf(entry);
      return name.startsWith(dir) ? [name] : [];
    } catch {
      // The handle that lists the folder is gone by now.
      return [];
    }
  });
}
