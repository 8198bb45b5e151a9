import { folderName } from "../company.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { nextSteps } from "../next-steps.ts";
import { type RunDetail, runDetail } from "../run-detail.ts";
import { findRun, shortId } from "../run-id.ts";
import { detailLines } from "../screen/detail-lines.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { type Store, withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";
import { resultStyle } from "../tell-result.ts";

/** `troupe runs show <id>`: everything there is to tell of a run at a glance. Ends with 2 when its record is damaged. */
export function runsShowCommand(host: Host, id: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, async (store) => {
      const ids = (await store.journal.runs()).map(({ runId }) => runId);
      const run = await runDetail(store.journal, findRun(ids, id), session.interruptions.signal);
      await tell(session, run, store, shortId(run.runId, ids));
      return run.trouble === undefined ? 0 : 2;
    }),
  );
}

async function tell(session: Session, run: RunDetail, store: Store, short: string): Promise<void> {
  if (session.json !== undefined) return session.json.write({ type: "run", ...run, store: store.path });
  const { about, status, questions, budget } = run;
  const next =
    about === undefined || status === "empty"
      ? { answers: [] }
      : nextSteps({ status: status === "open" ? "stopped" : status, questions }, { short, store, budget, isForced: false });
  const folder = about === undefined ? undefined : folderName(session.host, about.out);
  const { style, width } = resultStyle(session);
  await tellLines(session, detailLines(run, { style, width, folder, goOn: next.goOn, answers: next.answers }));
}
