import { JournalError, UsageError } from "../../kernel/errors.ts";
import { confirmRemoval } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { runRows } from "../run-row.ts";
import { bytesText, plural, shown } from "../screen/text.ts";
import { durationIn } from "../screen/time-text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { removeRuns } from "./runs-rm.ts";

/** The options of `troupe runs gc`. */
export interface GcFlags extends Flags {
  readonly olderThan?: string;
}

/** Runs that moved later than this ago stay. */
const DEFAULT_AGE = "30d";

/** `troupe runs gc`: forgets finished runs that are old, and gives their room back to the disk. */
export function runsGcCommand(host: Host, flags: GcFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const age = ageOf(flags.olderThan ?? DEFAULT_AGE);
    const { path, removed } = await withRuns(session, flags, async ({ journal, path: file }) => {
      const before = host.clock.now() - age;
      const rows = await runRows(journal, session.interruptions.signal);
      const old = rows.filter(({ status, moved }) => status === "finished" && moved !== null && moved < before).map(({ runId }) => runId);
      if (old.length > 0)
        await confirmRemoval(session, `Forget ${plural(old.length, "finished run")}? Their projects stay.`, flags.yes === true);
      await removeRuns(session, journal, old);
      return { path: file, removed: old.length };
    });
    await compact(session, path, removed);
    return 0;
  });
}

async function compact({ screen, json }: Session, path: string, removed: number): Promise<void> {
  const { compactJournal } = await import("../../adapters/sqlite-upkeep.ts");
  try {
    const { before, after } = await compactJournal(path);
    await json?.write({ type: "compacted", removed, before, after });
    if (json === undefined)
      screen.say(`Forgot ${plural(removed, "run")}; the store has ${bytesText(after)} now, and had ${bytesText(before)}.`);
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "JOURNAL_UNWRITABLE")) throw error;
    await json?.write({ type: "compacted", removed, before: null, after: null });
    screen.insist([
      screen.style.warn(`Forgot ${plural(removed, "run")}, but the store could not be made smaller: ${shown(error.message, 300)}`),
    ]);
  }
}

/** @throws UsageError `OPTION_INVALID` */
function ageOf(text: string): number {
  const age = durationIn(text);
  if (age !== undefined) return age;
  throw new UsageError("OPTION_INVALID", `Expected --older-than to be a time such as 30d, 12h or 0d, got "${shown(text, 60)}".`);
}
