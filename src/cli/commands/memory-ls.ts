import type { StoredRole } from "../../adapters/sqlite-store-file.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { refuseWords } from "../idea.ts";
import { memoryPlace, withMemories } from "../memory-store.ts";
import { printLines, resultStyle } from "../output.ts";
import { ageText, bytesText, counted, plural, shown, tableLines } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore } from "../store.ts";

/** The commands of `troupe memory`. */
export const MEMORY_COMMANDS: readonly string[] = ["ls", "search", "show", "export", "import", "rebuild", "gc"];

/** `troupe memory ls`: the size of each role's memory. Ends with 2 when one is damaged. @param words other arguments: none may be given */
export function memoryLsCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    refuseWords(words, "memory", MEMORY_COMMANDS);
    const { path, name } = memoryPlace(flags, session);
    if (!(await isStore(path))) {
      session.screen.say(`No memories are kept in ${shown(name, 300)} yet.`);
      return 0;
    }
    return withMemories<ExitCode>(session, flags, async (store) => {
      const { roles, damaged } = await store.roles();
      await print(session, roles);
      return reportDamage(session, damaged, `${plural(damaged, "role")} more cannot be read`);
    });
  });
}

/** Reports damage in a store of memories. @returns the exit code: 2 when there is some */
export function reportDamage({ screen }: Session, damaged: number, text: string): ExitCode {
  if (damaged === 0) return 0;
  screen.print([screen.style.bad(`${text}: the store is damaged.`)]);
  return 2;
}

async function print(session: Session, roles: readonly StoredRole[]): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const role of roles) await json.write({ type: "memory", ...role, newest: role.newest ?? null });
    return;
  }
  if (roles.length === 0) return screen.say("No memories are kept here yet.");
  const now = host.clock.now();
  const rows = roles.map((role) => [
    shown(role.roleId, 60),
    counted(role.messages),
    vectorsText(role),
    bytesText(role.characters),
    role.newest === undefined ? "" : ageText(now - role.newest),
  ]);
  await printLines(session, tableLines(["ROLE", "MESSAGES", "VECTORS", "SIZE", "LAST"], rows, resultStyle(session)));
}

function vectorsText({ messages, vectors }: StoredRole): string {
  const made = vectors.reduce((sum, { count }) => sum + count, 0);
  const missing = messages - made;
  const text = `${counted(made)}${vectors.length > 1 ? ` of ${vectors.length} embedders` : ""}`;
  return missing > 0 ? `${text}, ${counted(missing)} to be made` : text;
}
