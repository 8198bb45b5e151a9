import type { StoredRole } from "../../adapters/sqlite-store-roles.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { memoryPlace, withMemories } from "../memory-store.ts";
import { nearestWord } from "../../kernel/known-options.ts";
import { tableLines } from "../screen/table.ts";
import { bytesText, counted, plural, shown } from "../screen/text.ts";
import { ageText } from "../screen/time-text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore } from "../store.ts";
import { tellLines } from "../tell-lines.ts";
import { resultStyle } from "../tell-result.ts";

/** What `troupe memory` can be followed by. */
export const MEMORY_COMMANDS: readonly string[] = ["ls", "search", "show", "export", "import", "rebuild", "gc"];

/** `troupe memory ls`: who remembers how much. Ends with 2 when something of it is damaged. @param words what followed: nothing may */
export function memoryLsCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    refuseWords(words);
    const place = memoryPlace(flags, session);
    if (!(await isStore(place.path))) {
      session.screen.say(`No memories are kept in ${shown(place.name, 300)} yet.`);
      return 0;
    }
    return withMemories<ExitCode>(session, flags, async (store) => {
      const { roles, damaged } = await store.roles();
      await tell(session, roles);
      if (damaged === 0) return 0;
      session.screen.insist([session.screen.style.bad(`${plural(damaged, "role")} more cannot be read: the store is damaged.`)]);
      return 2;
    });
  });
}

function refuseWords([word]: readonly string[]): void {
  if (word === undefined) return;
  const near = nearestWord(word, MEMORY_COMMANDS);
  const guess = near === undefined ? "" : ` Did you mean: troupe memory ${near}?`;
  throw new UsageError(
    "COMMAND_INVALID",
    `Expected one of ${MEMORY_COMMANDS.join(", ")} after troupe memory, got "${shown(word, 60)}".${guess}`,
  );
}

async function tell(session: Session, roles: readonly StoredRole[]): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const role of roles) await json.write({ type: "memory", ...role, newest: role.newest ?? null });
    return;
  }
  if (roles.length === 0) {
    screen.say("Nothing is remembered here yet.");
    return;
  }
  const now = host.clock.now();
  const rows = roles.map((role) => [
    shown(role.roleId, 60),
    counted(role.messages),
    vectorsText(role),
    bytesText(role.characters),
    role.newest === undefined ? "" : ageText(now - role.newest),
  ]);
  await tellLines(session, tableLines(["ROLE", "MESSAGES", "VECTORS", "SIZE", "LAST"], rows, resultStyle(session)));
}

function vectorsText({ messages, vectors }: StoredRole): string {
  const made = vectors.reduce((sum, { count }) => sum + count, 0);
  const missing = messages - made;
  const parts = [counted(made), ...(vectors.length > 1 ? [`of ${vectors.length} embedders`] : [])];
  return missing > 0 ? `${parts.join(" ")}, ${counted(missing)} to be made` : parts.join(" ");
}
