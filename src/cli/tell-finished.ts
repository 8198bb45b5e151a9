import { runResult } from "../runtime/run-result.ts";
import { maskSecrets } from "../kernel/mask.ts";
import type { MicroUsd } from "../model/money.ts";
import { aboutOf } from "./about.ts";
import { folderName } from "./company.ts";
import { workerOf } from "./crew.ts";
import { toldError } from "./errors.ts";
import type { ExitCode } from "./exit-code.ts";
import type { LoadedRun } from "./loaded-run.ts";
import { resultReport } from "./report.ts";
import { shortId } from "./run-id.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";
import { tellResult } from "./tell-result.ts";

/** Tells once more what came of a run that has nothing left to do. */
export async function tellFinished(session: Session, store: Store, run: LoadedRun): Promise<ExitCode> {
  const { screen, host, interruptions } = session;
  const { runId, state } = run;
  const about = aboutOf(runId, state.about);
  screen.say(screen.style.strong(`Run ${shown(runId, 100)} is finished: nothing is left to do.`));
  const { fileWorkspace } = await import("../workspace/file-workspace.ts");
  const files = await fileWorkspace({ root: about.out, git: false }).list();
  const result = runResult(state, { reason: "idle", failure: undefined, control: undefined }, maskSecrets([]));
  const told = (error: unknown): ReturnType<typeof toldError> => toldError(error, host.env);
  const report = resultReport(result, {
    out: about.out,
    files,
    isScripted: about.demo !== undefined,
    by: workerOf(about),
    worstCase: run.held + result.uncertain,
    interruption: interruptions.first,
    told,
    store: store.path,
    next: { answers: [] },
  });
  const short = shortId(
    runId,
    (await store.journal.runs()).map((one) => one.runId),
  );
  const { id, price } = about.model;
  const model = { id, ...(price === undefined ? {} : { price }) };
  const chosen = { model, budget: state.budget as MicroUsd | undefined };
  await tellResult(session, report, {
    settings: { rounds: Math.max(state.bounds.rounds ?? about.rounds, state.round) },
    chosen,
    place: folderName(host, about.out),
    short,
  });
  return report.exitCode;
}
