import type { StoredRole } from "../../adapters/sqlite-store-file.ts";
import { fingerprintOf } from "../../memory/embedder.ts";
import { hashingEmbedder } from "../../memory/hashing-embedder.ts";
import { timeOf } from "../../memory/stored-messages.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { findRole, type MemoriesStore, roleIds, withMemories, withMemory } from "../memory-store.ts";
import { printCompaction, report } from "../output.ts";
import { confirmRemoval } from "../prompt.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { ageOf, type Flags } from "../settings.ts";
import { reportDamage } from "./memory-ls.ts";

/**
 * `troupe memory rebuild <role>`: makes all vectors again, from the messages and with the embedder that needs no network. It asks before it
 * replaces vectors of another embedder.
 */
export function memoryRebuildCommand(host: Host, given: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withMemory<ExitCode>(session, flags, given, async (store, roleId) => {
      const foreign = foreignVectors((await store.roles()).roles.find((role) => role.roleId === roleId));
      const question = `Replace ${plural(foreign, "vector")} that another embedder made? Its program will have to make them again.`;
      await confirmRemoval(session, question, flags.yes === true || foreign === 0);
      const storage = store.writing(roleId, hashingEmbedder());
      await storage.rebuild({ signal: session.interruptions.signal });
      const { size: messages, damaged } = storage;
      const text = `Made the vectors of ${plural(messages, "message")} of ${shown(roleId, 100)} again.`;
      await report(session, text, { type: "rebuilt", roleId, messages, damaged });
      return reportDamage(session, damaged, `${plural(damaged, "message")} cannot be read`);
    }),
  );
}

function foreignVectors(role: StoredRole | undefined): number {
  const own = fingerprintOf(hashingEmbedder());
  return (role?.vectors ?? []).reduce((sum, { fingerprint, count }) => (fingerprint === own ? sum : sum + count), 0);
}

/** `troupe memory gc [role]`: removes messages that are older than a time, if one is given, and shrinks the store. */
export function memoryGcCommand(host: Host, given: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const before = flags.olderThan === undefined ? undefined : host.clock.now() - ageOf(flags.olderThan);
    const { path, forgotten } = await withMemories(session, flags, async (store) => ({
      path: store.path,
      forgotten: before === undefined ? 0 : await forget(session, store, given, before, flags.yes === true),
    }));
    const { compactStore } = await import("../../adapters/sqlite-store-file.ts");
    await printCompaction(session, () => compactStore(path), { forgotten }, `Forgot ${plural(forgotten, "message")}`);
    return 0;
  });
}

/** Removes messages. @param before milliseconds since 1970 @returns how many */
async function forget(
  session: Session,
  store: MemoriesStore,
  given: string | undefined,
  before: number,
  isAgreed: boolean,
): Promise<number> {
  const ids = await roleIds(store);
  const old = new Map<string, number>();
  for (const roleId of given === undefined ? ids : [findRole(ids, given)]) {
    const messages = (await store.reading(roleId).entries()).filter((entry) => timeOf(entry) < before).length;
    if (messages > 0) old.set(roleId, messages);
  }
  const [[first = ""] = []] = old;
  const sum = [...old.values()].reduce((total, messages) => total + messages, 0);
  const whose = old.size === 1 ? shown(first, 60) : plural(old.size, "role");
  await confirmRemoval(session, `Forget ${plural(sum, "message")} of ${whose}? They are gone for good.`, isAgreed || sum === 0);
  let forgotten = 0;
  for (const roleId of old.keys()) {
    const messages = await store.writing(roleId).deleteOlderThan(before);
    forgotten += messages;
    await session.json?.write({ type: "forgotten", roleId, messages });
  }
  return forgotten;
}
