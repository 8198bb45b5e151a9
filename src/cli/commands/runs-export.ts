import { resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { exportRun } from "../../runtime/record/transfer.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { writeNewFile } from "../new-file.ts";
import { findRun } from "../run-id.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";

/** `troupe runs export <id> [file]`: the run as lines of JSON that can be imported elsewhere, on standard output without a file. */
export function runsExportCommand(host: Host, id: string, file: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns<ExitCode>(session, flags, async ({ journal }) => {
      const runs = await journal.runs();
      const runId = findRun(
        runs.map((run) => run.runId),
        id,
      );
      const { signal } = session.interruptions;
      const lines = exportRun(journal, runId, { signal });
      if (file === undefined || file === "-") {
        refuseTerminal(host, runId);
        await tellLines(session, lines);
        return 0;
      }
      const written = await writeNewFile(resolve(host.cwd, file), lines);
      const events = written - 2;
      if (session.json === undefined)
        session.screen.say(`Exported run ${shown(runId, 100)}, ${plural(events, "event")}, to ${shown(file, 200)}.`);
      else await session.json.write({ type: "exported", runId, events, file: resolve(host.cwd, file) });
      return 0;
    }),
  );
}

/** The lines are as they were recorded, and a terminal would obey some of what models say. */
function refuseTerminal({ stdout }: Host, runId: string): void {
  if (stdout.isTTY !== true) return;
  const id = shown(runId, 60);
  throw new UsageError(
    "EXPORT_TERMINAL",
    `Expected a file or a pipe for the export, got a terminal. Name one: troupe runs export ${id} ${id}.ndjson`,
  );
}
