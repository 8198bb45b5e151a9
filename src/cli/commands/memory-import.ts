import { UsageError } from "../../kernel/errors.ts";
import { importContent } from "../../inspector/memory-snapshot.ts";
import { MOST_CHARACTERS, readSnapshot, type SnapshotContent } from "../../inspector/snapshot-form.ts";
import { confirmRemoval } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { withNewMemories } from "../memory-store.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore } from "../store.ts";
import { readText } from "../text-file.ts";

/** The options of `troupe memory import`. */
export interface ImportMemoryFlags extends Flags {
  readonly as?: string;
}

/** `troupe memory import <file>`: takes an exported memory into the store, whole or not at all. A role that remembers something is asked about. */
export function memoryImportCommand(host: Host, file: string, flags: ImportMemoryFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    if (flags.as?.trim() === "") throw new UsageError("OPTION_INVALID", "Expected --as to be the id of a role, got an empty text.");
    const text = await readText(host, file, "a memory", MOST_CHARACTERS);
    const content = readSnapshot(text);
    const roleId = flags.as ?? roleOf(content);
    return withNewMemories<ExitCode>(session, flags, async (store) => {
      const held = (await isStore(store.path)) ? (await store.roles()).roles.find((role) => role.roleId === roleId) : undefined;
      if (held !== undefined) {
        const what = `Add to what ${shown(roleId, 60)} remembers already, ${plural(held.messages, "message")}?`;
        await confirmRemoval(session, `${what} It cannot be taken apart again.`, flags.yes === true);
      }
      const { messages, added } = await importContent(content, store.writing(roleId));
      const known = messages - added;
      const rest = known === 0 ? "" : ` ${plural(known, "message")} ${known === 1 ? "was" : "were"} there already.`;
      if (session.json === undefined) session.screen.say(`Imported ${plural(added, "message")} into ${shown(roleId, 100)}.${rest}`);
      else await session.json.write({ type: "imported", roleId, messages, added });
      return 0;
    });
  });
}

/** @throws UsageError `SNAPSHOT_KIND` */
function roleOf(content: SnapshotContent): string {
  if (content.kind === "storage") return content.roleId;
  throw new UsageError(
    "SNAPSHOT_KIND",
    `Expected the snapshot of a long-term memory, got one of a ${content.kind === "brain" ? "brain" : "short-term"} memory, which a program imports: importSnapshot(snapshot, memory).`,
  );
}
