import { resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { exportSnapshot, importContent, snapshotLines } from "../../inspector/memory-snapshot.ts";
import { MOST_CHARACTERS, readSnapshot, type SnapshotContent } from "../../inspector/snapshot-form.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { withMemory, withNewMemories } from "../memory-store.ts";
import { printLines, report } from "../output.ts";
import { confirmRemoval } from "../prompt.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import { type Flags, invalidOption } from "../settings.ts";
import { isStore } from "../store.ts";
import { readText, refuseTerminal, writeNewFile } from "../text-file.ts";
import { reportDamage } from "./memory-ls.ts";

/**
 * `troupe memory export <role> [file]`: a memory as one JSON document, on standard output without a file. Ends with 2 when damaged messages are
 * left out.
 */
export function memoryExportCommand(host: Host, given: string, file: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withMemory<ExitCode>(session, flags, given, async (store, roleId) => {
      const isPrinted = file === undefined || file === "-";
      if (isPrinted) refuseTerminal(host, "troupe memory export <role> memory.json");
      const snapshot = await exportSnapshot(store.reading(roleId), { clock: host.clock });
      const { messages, damaged } = snapshot;
      if (isPrinted) {
        await printLines(session, snapshotLines(snapshot));
      } else {
        const place = resolve(host.cwd, file);
        await writeNewFile(place, snapshotLines(snapshot));
        const text = `Exported ${plural(messages, "message")} of ${shown(roleId, 100)} to ${shown(file, 200)}.`;
        await report(session, text, { type: "exported", roleId, messages, damaged, file: place });
      }
      return reportDamage(session, damaged, `${plural(damaged, "message")} cannot be read and not in it`);
    }),
  );
}

/** `troupe memory import <file>`: takes an exported memory into the store, whole or not at all. It asks before it adds to a role's memory. */
export function memoryImportCommand(host: Host, file: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    if (flags.as?.trim() === "") throw invalidOption("--as", "the id of a role", "");
    const content = readSnapshot(await readText(host, file, "a memory", MOST_CHARACTERS));
    const roleId = flags.as ?? roleOf(content);
    return withNewMemories<ExitCode>(session, flags, async (store) => {
      const held = (await isStore(store.path)) ? (await store.roles()).roles.find((role) => role.roleId === roleId) : undefined;
      if (held !== undefined) {
        const question = `Add to what ${shown(roleId, 60)} remembers already, ${plural(held.messages, "message")}?`;
        await confirmRemoval(session, `${question} It cannot be taken apart again.`, flags.yes === true);
      }
      const { messages, added } = await importContent(content, store.writing(roleId));
      const known = messages - added;
      const rest = known === 0 ? "" : ` ${plural(known, "message")} ${known === 1 ? "was" : "were"} there already.`;
      const text = `Imported ${plural(added, "message")} into ${shown(roleId, 100)}.${rest}`;
      await report(session, text, { type: "imported", roleId, messages, added });
      return 0;
    });
  });
}

/** @throws UsageError `SNAPSHOT_KIND` */
function roleOf(content: SnapshotContent): string {
  if (content.kind === "storage") return content.roleId;
  const kind = content.kind === "brain" ? "brain" : "short-term";
  const expected = `Expected the snapshot of a long-term memory, got one of a ${kind} memory`;
  throw new UsageError("SNAPSHOT_KIND", `${expected}, which a program imports: importSnapshot(snapshot, memory).`);
}
