import { resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { exportSnapshot, snapshotLines } from "../../inspector/memory-snapshot.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findRole } from "../memory-id.ts";
import { withMemories } from "../memory-store.ts";
import { writeNewFile } from "../new-file.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { tellLines } from "../tell-lines.ts";

/**
 * `troupe memory export <role> [file]`: a memory as one JSON document, on standard output without a file. Ends with 2 when some messages are
 * damaged and not in it.
 */
export function memoryExportCommand(host: Host, given: string, file: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withMemories<ExitCode>(session, flags, async (store) => {
      const roleId = findRole(
        (await store.roles()).roles.map((role) => role.roleId),
        given,
      );
      if (file === undefined || file === "-") refuseTerminal(host);
      const snapshot = await exportSnapshot(store.reading(roleId), { clock: host.clock });
      const { messages, damaged } = snapshot;
      if (file === undefined || file === "-") {
        await tellLines(session, snapshotLines(snapshot));
      } else {
        await writeNewFile(resolve(host.cwd, file), snapshotLines(snapshot));
        const text = `Exported ${plural(messages, "message")} of ${shown(roleId, 100)} to ${shown(file, 200)}.`;
        await tell(session, text, { type: "exported", roleId, messages, damaged, file: resolve(host.cwd, file) });
      }
      if (damaged === 0) return 0;
      session.screen.insist([
        session.screen.style.bad(`${plural(damaged, "message")} cannot be read and not in it: the store is damaged.`),
      ]);
      return 2;
    }),
  );
}

async function tell({ json, screen }: Session, text: string, facts: object): Promise<void> {
  if (json === undefined) screen.say(text);
  else await json.write(facts);
}

/** Messages are as they were said, and a terminal would obey some of what models say. */
function refuseTerminal({ stdout }: Host): void {
  if (stdout.isTTY !== true) return;
  throw new UsageError(
    "EXPORT_TERMINAL",
    "Expected a file or a pipe for the export, got a terminal. Name one: troupe memory export <role> memory.json",
  );
}
