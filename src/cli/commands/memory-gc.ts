import { MemoryError, UsageError } from "../../kernel/errors.ts";
import { timeOf } from "../../memory/held-messages.ts";
import { confirmRemoval } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findRole } from "../memory-id.ts";
import { type MemoriesStore, withMemories } from "../memory-store.ts";
import { bytesText, plural, shown } from "../screen/text.ts";
import { durationIn } from "../screen/time-text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";

/** The options of `troupe memory gc`. */
export interface MemoryGcFlags extends Flags {
  readonly olderThan?: string;
}

interface Old {
  readonly roleId: string;
  readonly messages: number;
}

/** `troupe memory gc [role]`: forgets what is older than a time, if one is given, and gives the room back to the disk. */
export function memoryGcCommand(host: Host, given: string | undefined, flags: MemoryGcFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const before = flags.olderThan === undefined ? undefined : host.clock.now() - ageOf(flags.olderThan);
    const { path, forgotten } = await withMemories(session, flags, async (store) => ({
      path: store.path,
      forgotten: before === undefined ? 0 : await forget(session, store, { given, before, isAgreed: flags.yes === true }),
    }));
    await compact(session, path, forgotten);
    return 0;
  });
}

interface Wish {
  readonly given: string | undefined;
  /** Milliseconds since 1970. */
  readonly before: number;
  readonly isAgreed: boolean;
}

async function forget(session: Session, store: MemoriesStore, { given, before, isAgreed }: Wish): Promise<number> {
  const ids = (await store.roles()).roles.map(({ roleId }) => roleId);
  const old: Old[] = [];
  for (const roleId of given === undefined ? ids : [findRole(ids, given)]) {
    const messages = (await store.reading(roleId).entries()).filter((entry) => timeOf(entry) < before).length;
    if (messages > 0) old.push({ roleId, messages });
  }
  const sum = old.reduce((total, { messages }) => total + messages, 0);
  if (sum === 0) return 0;
  const whose = old.length === 1 ? shown(old[0]?.roleId ?? "", 60) : plural(old.length, "role");
  await confirmRemoval(session, `Forget ${plural(sum, "message")} of ${whose}? They are gone for good.`, isAgreed);
  let forgotten = 0;
  for (const { roleId } of old) {
    const messages = await store.writing(roleId).deleteOlderThan(before);
    forgotten += messages;
    await session.json?.write({ type: "forgotten", roleId, messages });
  }
  return forgotten;
}

async function compact({ screen, json }: Session, path: string, forgotten: number): Promise<void> {
  const { compactStore } = await import("../../adapters/sqlite-store-roles.ts");
  try {
    const { before, after } = await compactStore(path);
    await json?.write({ type: "compacted", forgotten, before, after });
    if (json === undefined)
      screen.say(`Forgot ${plural(forgotten, "message")}; the store has ${bytesText(after)} now, and had ${bytesText(before)}.`);
  } catch (error) {
    if (!(error instanceof MemoryError && error.code === "MEMORY_UNWRITABLE")) throw error;
    await json?.write({ type: "compacted", forgotten, before: null, after: null });
    screen.insist([
      screen.style.warn(`Forgot ${plural(forgotten, "message")}, but the store could not be made smaller: ${shown(error.message, 300)}`),
    ]);
  }
}

/** @throws UsageError `OPTION_INVALID` */
function ageOf(text: string): number {
  const age = durationIn(text);
  if (age !== undefined) return age;
  throw new UsageError("OPTION_INVALID", `Expected --older-than to be a time such as 90d, 12h or 0s, got "${shown(text, 60)}".`);
}
