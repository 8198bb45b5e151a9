import { difference, differenceText } from "../../runtime/replay/difference.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { loadRun } from "../loaded-run.ts";
import { findRun } from "../run-id.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";

/** `troupe runs diff <a> <b>`: where two runs first did something different. Ends with 1 when they did, as diff does. */
export function runsDiffCommand(host: Host, a: string, b: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, async ({ journal }) => {
      const ids = (await journal.runs()).map(({ runId }) => runId);
      const [left, right] = [findRun(ids, a), findRun(ids, b)];
      const { signal } = session.interruptions;
      const found = difference(await eventsOf(journal, left, signal), await eventsOf(journal, right, signal));
      const text = found === undefined ? "equal" : differenceText(found);
      if (session.json === undefined) await tellLines(session, text.split("\n"));
      else
        await session.json.write({
          type: "diff",
          left,
          right,
          equal: found === undefined,
          ...(found === undefined ? {} : { text, difference: found }),
        });
      return found === undefined ? 0 : 1;
    }),
  );
}

async function eventsOf(journal: Journal, runId: string, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  await loadRun(journal, runId, { signal, visit: (event) => events.push(event) });
  return events;
}
