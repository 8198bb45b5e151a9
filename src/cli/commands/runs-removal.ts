import { JournalError } from "../../kernel/errors.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { printCompaction } from "../output.ts";
import { confirmRemoval } from "../prompt.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { ageOf, type Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { findRun, runIds } from "../stored-run.ts";
import { runRows } from "./runs-ls.ts";

/** Runs that moved later than this ago stay. */
const DEFAULT_AGE = "30d";

/** `troupe runs rm <id>...`: removes runs. Their projects stay. */
export function runsRmCommand(host: Host, given: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns<ExitCode>(session, flags, async ({ journal }) => {
      const ids = await runIds(journal);
      const chosen = [...new Set(given.map((id) => findRun(ids, id)))];
      await assertFree(journal, chosen);
      await confirmRemoval(session, `Forget ${chosen.map((id) => shown(id, 60)).join(", ")}? Their projects stay.`, flags.yes === true);
      await removeRuns(session, journal, chosen);
      if (session.json === undefined) session.screen.say(`Forgot ${plural(chosen.length, "run")}.`);
      return 0;
    }),
  );
}

/** `troupe runs gc`: removes finished runs that are old, and shrinks the store. */
export function runsGcCommand(host: Host, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const before = host.clock.now() - ageOf(flags.olderThan ?? DEFAULT_AGE);
    const { path, removed } = await withRuns(session, flags, async ({ journal, path: file }) => {
      const rows = await runRows(journal, session.interruptions.signal);
      const isOld = (moved: number | null): boolean => moved !== null && moved < before;
      const old = rows.filter(({ status, moved }) => status === "finished" && isOld(moved)).map(({ runId }) => runId);
      const question = `Forget ${plural(old.length, "finished run")}? Their projects stay.`;
      await confirmRemoval(session, question, flags.yes === true || old.length === 0);
      await removeRuns(session, journal, old);
      return { path: file, removed: old.length };
    });
    const { compactJournal } = await import("../../adapters/sqlite-runs.ts");
    await printCompaction(session, () => compactJournal(path), { removed }, `Forgot ${plural(removed, "run")}`);
    return 0;
  });
}

/** Removes runs and reports each. @throws JournalError `RUN_OWNED` */
async function removeRuns({ json }: Session, journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    await journal.remove(runId);
    await json?.write({ type: "removed", runId });
  }
}

/** Of several runs all are removed, or none. @throws JournalError `RUN_OWNED` for one that a living process works on */
async function assertFree(journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    try {
      await journal.release(runId, await journal.claim(runId));
    } catch (error) {
      // A damaged run can still be removed.
      if (error instanceof JournalError && error.code === "RUN_OWNED") throw error;
    }
  }
}
