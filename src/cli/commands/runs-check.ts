import type { FailureFinding } from "../../research/detectors/finding.ts";
import { FailureWatch } from "../../research/detectors/failure-watch.ts";
import type { ExitCode } from "../errors.ts";
import { printLines, resultStyle } from "../output.ts";
import { plural } from "../screen/amounts.ts";
import { tableLines, type TextStyle } from "../screen/layout.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { loadRun, withRun } from "../stored-run.ts";

/** Most findings that are listed. */
const LISTED = 60;

/** `troupe runs check <id>`: looks for failures of coordination in the record of a run. Ends with 1 when there are some, as runs diff does. */
export function runsCheck(session: Session, id: string, flags: Flags): Promise<ExitCode> {
  return withRun<ExitCode>(session, flags, id, async ({ journal }, runId) => {
    const watch = new FailureWatch({ roles: flags.allRoles === true ? "all" : "models" });
    const found: FailureFinding[] = [];
    await loadRun(journal, runId, { signal: session.interruptions.signal, visit: (event) => found.push(...watch.add(event)) });
    const exitCode = found.length === 0 ? 0 : 1;
    if (session.json === undefined) await printLines(session, findingLines(found, resultStyle(session)));
    else await session.json.write({ type: "checked", runId, exitCode, findings: found });
    return exitCode;
  });
}

function findingLines(found: readonly FailureFinding[], o: TextStyle): readonly string[] {
  if (found.length === 0) return ["No failure of coordination was found."];
  const rows = found.slice(0, LISTED).map(({ seq, failure, mode, text }) => [`${seq}`, failure, mode.slice(0, 6), shown(text, 400)]);
  const more = found.length > LISTED ? [o.style.faint(`and ${found.length - LISTED} more; --json has them all`)] : [];
  return [`${plural(found.length, "finding")}.`, ...tableLines(["EVENT", "FAILURE", "MODE", "FOUND"], rows, o), ...more];
}
