import type { StoredRole } from "../../adapters/sqlite-store-roles.ts";
import { UsageError } from "../../kernel/errors.ts";
import { debugMemory } from "../../inspector/memory-debug.ts";
import type { StoredMessage } from "../../memory/message-store.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findMessage, findRole } from "../memory-id.ts";
import { withMemories } from "../memory-store.ts";
import { entryLines, reportLines } from "../screen/memory-lines.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { tellLines } from "../tell-lines.ts";
import { resultStyle } from "../tell-result.ts";

/** The options of `troupe memory show`. */
export interface ShowFlags extends Flags {
  readonly run?: string;
  readonly last?: string;
}

/** `troupe memory show <role> [message]`: what is in a memory, or one message of it. Ends with 2 when some of it is damaged. */
export function memoryShowCommand(host: Host, given: string, messageId: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const last = lastOf(flags.last);
    return withMemories<ExitCode>(session, flags, async (store) => {
      const { roles } = await store.roles();
      const roleId = findRole(
        roles.map((role) => role.roleId),
        given,
      );
      const storage = store.reading(roleId);
      const all = await storage.entries();
      const entries = flags.run === undefined ? all : all.filter(({ runId }) => runId.startsWith(flags.run ?? ""));
      if (messageId !== undefined) {
        await tellMessage(session, findMessage(entries, messageId));
        return 0;
      }
      const role = roles.find((one) => one.roleId === roleId) as StoredRole;
      await tellReport(session, role, entries, storage.damaged, last);
      return storage.damaged > 0 ? 2 : 0;
    });
  });
}

async function tellMessage(session: Session, entry: StoredMessage): Promise<void> {
  const { runId, addedAt, message } = entry;
  if (session.json !== undefined) return session.json.write({ type: "message", runId, addedAt, message });
  return tellLines(session, entryLines(entry, resultStyle(session)));
}

async function tellReport(
  session: Session,
  role: StoredRole,
  entries: readonly StoredMessage[],
  damaged: number,
  last: number,
): Promise<void> {
  const report = debugMemory(entries.map(({ message }) => message));
  const runs = new Set(entries.map(({ runId }) => runId)).size;
  const newest = last === 0 ? [] : entries.slice(-last);
  if (session.json !== undefined) {
    const { faults: _none, ...counts } = report;
    return session.json.write({ type: "memory", roleId: role.roleId, runs, damaged, vectors: role.vectors, ...counts });
  }
  return tellLines(session, reportLines({ role, report, runs, damaged, newest }, resultStyle(session)));
}

function lastOf(text = "20"): number {
  if (/^\d{1,6}$/.test(text.trim())) return Number(text);
  throw new UsageError("OPTION_INVALID", `Expected --last to be how many messages are shown, such as 20, got "${shown(text, 60)}".`);
}
