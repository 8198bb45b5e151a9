import { UsageError } from "../../kernel/errors.ts";
import { aboutOf } from "../about.ts";
import type { ExitCode } from "../exit-code.ts";
import { goOn } from "../go-on.ts";
import type { Host } from "../host.ts";
import { loadRun } from "../loaded-run.ts";
import { type HeldRun, holdRun } from "../pick-run.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { type Store, withRuns } from "../store.ts";
import { tellFinished } from "../tell-finished.ts";

/** `troupe resume [id]`, and `troupe continue`, which names none: goes on with a run where it stopped. */
export function resumeCommand(host: Host, id: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    refuseModel(flags);
    return withRuns(session, flags, async (store) => {
      const held = await holdRun(store, id);
      try {
        return await resumed(session, store, held, flags);
      } finally {
        await held.release();
      }
    });
  });
}

async function resumed(session: Session, store: Store, { runId }: HeldRun, flags: Flags): Promise<ExitCode> {
  const { screen, interruptions } = session;
  const run = await loadRun(store.journal, runId, { signal: interruptions.signal });
  const { phase, seq } = run.state;
  if (seq === 0) throw emptyRun(runId);
  if (phase.phase === "ended" && phase.status === "finished") return tellFinished(session, store, run);
  screen.say(screen.style.strong(`Going on with run ${shown(runId, 100)}, ${standing(run.state.phase)}.`));
  const { about, outside } = run.state;
  // Cut off before it had its idea: it is told now.
  const idea = outside === 0 ? aboutOf(runId, about).idea : undefined;
  return goOn(session, {
    store,
    run,
    flags,
    begin: (team, o) => (idea === undefined ? team.resume(runId, o) : team.run(idea, { id: runId, ...o })),
  });
}

function standing(phase: { readonly phase: "running" } | { readonly phase: "ended"; readonly status: string }): string {
  return phase.phase === "running" ? "which was cut off" : `which ended as "${phase.status}"`;
}

/** What was said with one model is no past of another. @throws UsageError `MODEL_FIXED` */
function refuseModel({ model }: Flags): void {
  if (model === undefined) return;
  throw new UsageError(
    "MODEL_FIXED",
    `Expected to go on with the model of the run, got --model ${shown(model, 60)}. For another one, fork it: troupe fork <id> --model ${shown(model, 60)}`,
  );
}

function emptyRun(runId: string): UsageError {
  const id = shown(runId, 100);
  return new UsageError(
    "RUN_EMPTY",
    `Expected a run that had begun, but ${id} was cut off before its first event. Remove it: troupe runs rm ${id}`,
  );
}
