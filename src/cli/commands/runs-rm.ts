import { JournalError } from "../../kernel/errors.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import { confirmRemoval } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findRun } from "../run-id.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";

/** `troupe runs rm <id>...`: forgets runs. Their projects stay. */
export function runsRmCommand(host: Host, given: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns<ExitCode>(session, flags, async ({ journal }) => {
      const ids = (await journal.runs()).map(({ runId }) => runId);
      const meant = [...new Set(given.map((id) => findRun(ids, id)))];
      await assertFree(journal, meant);
      await confirmRemoval(session, `Forget ${meant.map((id) => shown(id, 60)).join(", ")}? Their projects stay.`, flags.yes === true);
      await removeRuns(session, journal, meant);
      if (session.json === undefined) session.screen.say(`Forgot ${plural(meant.length, "run")}.`);
      return 0;
    }),
  );
}

/** Removes runs and tells of each. @throws JournalError `RUN_OWNED` */
export async function removeRuns({ json }: Session, journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    await journal.remove(runId);
    await json?.write({ type: "removed", runId });
  }
}

/** Of several runs all go, or none. @throws JournalError `RUN_OWNED` for one that a living process works on */
async function assertFree(journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    try {
      await journal.release(runId, await journal.claim(runId));
    } catch (error) {
      // What is damaged can still be removed.
      if (error instanceof JournalError && error.code === "RUN_OWNED") throw error;
    }
  }
}
