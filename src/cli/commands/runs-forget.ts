import { UsageError } from "../../kernel/errors.ts";
import type { MessageStore } from "../../memory/message-store.ts";
import type { Scope } from "../../kernel/scope.ts";
import { forget } from "../../team/forget.ts";
import type { ExitCode } from "../errors.ts";
import { assertMemories, memoryPlace } from "../memory-store.ts";
import { report } from "../output.ts";
import { confirmRemoval } from "../prompt.ts";
import { plural } from "../screen/amounts.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore, withRuns } from "../store.ts";
import { storedRun } from "../stored-run.ts";

/** `troupe runs forget`: erases what a user, a conversation or a tenant has said, in runs and in memories. */
export function runsForget(session: Session, flags: Flags): Promise<ExitCode> {
  const { user, tenant } = flags;
  return withRuns<ExitCode>(session, flags, async ({ journal }) => {
    const conversation = flags.conversation === undefined ? undefined : await storedRun(journal, flags.conversation);
    const scope: Scope = {
      ...(user === undefined ? {} : { user }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(conversation === undefined ? {} : { conversation }),
    };
    const whose = Object.entries(scope).map(([part, name]) => `${part} ${shown(String(name), 60)}`);
    if (whose.length === 0)
      throw new UsageError("OPTION_INVALID", "Expected whose words to forget, got nobody. Say --user, --conversation or --tenant.");
    const memories = await memoriesOf(session, flags);
    try {
      await confirmRemoval(
        session,
        `Erase what was said for ${whose.join(", ")}, in runs and memories? It is gone for good.`,
        flags.yes === true,
      );
      const forgotten = await forget(scope, { journal, stores: memories, clock: session.host.clock });
      const { runs, texts, messages } = forgotten;
      // A call that was killed before it wrote the files again cannot be told from one that found nothing.
      for (const kept of runs + messages === 0 ? [journal, ...memories] : []) await kept.purge?.();
      const text = `Forgot ${plural(runs, "run")} with ${plural(texts, "text")}, and ${plural(messages, "message")} of memories.`;
      await report(session, text, { type: "forgotten", ...forgotten });
      return 0;
    } finally {
      for (const store of memories) await store.close();
    }
  });
}

/** The store of memories; none where the usual place has none. @throws UsageError `STORE_MISSING` for a named one that is not there */
async function memoriesOf(session: Session, { memory }: Flags): Promise<readonly MessageStore[]> {
  const place = memoryPlace(memory === undefined ? {} : { store: memory }, session);
  if (place.isDefault && !(await isStore(place.path))) return [];
  await assertMemories(place, "--memory");
  const { sqliteStore } = await import("../../adapters/sqlite-store.ts");
  return [sqliteStore({ path: place.path })];
}
