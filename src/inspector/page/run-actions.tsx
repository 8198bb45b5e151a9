import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "./icon.tsx";
import type { OpenRun } from "./open-run.ts";
import type { RunActions } from "./run-source.ts";
import { PublishForm } from "./publish-form.tsx";
import { Fault, useTask } from "./task.tsx";

interface RunActionsProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
  /** Asks the server how the run stands now. */
  readonly ask: () => void;
}

/** The buttons of a run: what fits the state it is in. */
export function RunActionBar({ run, actions, ask }: RunActionsProps) {
  const task = useTask();
  const isSaying = useSignal(false);
  const status = run.standing.value?.summary.status;
  const act = (icon: IconName, word: string, work: (id: string) => Promise<void>, isMain = false) => (
    <button
      type="button"
      class={`button${isMain ? " button-main" : ""}`}
      disabled={task.isBusy}
      onClick={() =>
        task.start(async () => {
          await work(run.id);
          ask();
        })
      }
    >
      <Icon name={icon} size={12} /> {word}
    </button>
  );
  const isDriven = status === "running" || status === "paused";
  return (
    <>
      <div class="run-actions" role="group" aria-label="Actions on the run">
        <button type="button" class="button" aria-expanded={isSaying.value} onClick={() => (isSaying.value = !isSaying.value)}>
          <Icon name="say" size={12} /> Say something
        </button>
        {status === "running" && act("pause", "Pause", actions.pause)}
        {status === "paused" && act("run", "Proceed", actions.proceed, true)}
        {isDriven && act("stop", "Stop", actions.stop)}
        {status !== undefined && RESTING.has(status) && act("run", "Resume", actions.resume, true)}
        {status === "finished" && run.count.value > 0 && run.timeline.now.ready.size > 0 && act("run", "Resume", actions.resume, true)}
      </div>
      <div class="run-action-words">
        <Fault text={task.fault} />
        {isSaying.value && <PublishForm run={run} actions={actions} ask={ask} close={() => (isSaying.value = false)} />}
      </div>
    </>
  );
}

/** States from which a run can go on. A finished run goes on once a role has mail again. */
const RESTING: ReadonlySet<string> = new Set(["waiting", "rounds", "budget", "stopped", "failed", "open"]);
