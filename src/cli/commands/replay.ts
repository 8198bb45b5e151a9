import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { type Replayed, replayRecorded } from "../replayed.ts";
import { findRun } from "../run-id.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";

/** `troupe replay <id>`: lets a run happen again from its record alone, and tells whether it does as it did. */
export function replayCommand(host: Host, id: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, async ({ journal }) => {
      const ids = (await journal.runs()).map(({ runId }) => runId);
      const runId = findRun(ids, id);
      const replayed = await replayRecorded(session, journal, runId);
      await tell(session, runId, replayed);
      return replayed.isEqual ? 0 : 1;
    }),
  );
}

async function tell(session: Session, runId: string, replayed: Replayed): Promise<void> {
  const { isEqual, events, steps, files, isWhole } = replayed;
  const facts = { type: "replay", runId, equal: isEqual, events, steps, files, calls: 0 };
  if (session.json !== undefined) {
    const found = isEqual ? {} : { text: replayed.text, difference: replayed.difference };
    return session.json.write({ ...facts, whole: isWhole, ...found });
  }
  const did = `${plural(steps, "step")} answered from the record, no call, ${plural(files, "file")} made again in a folder that is gone`;
  const how = isWhole ? "equal" : "equal as far as the record goes";
  const lines = isEqual
    ? [`${how}: ${did}.`]
    : [`Run ${shown(runId, 100)} does not happen again as it was recorded.`, ...replayed.text.split("\n")];
  await tellLines(session, lines);
}
