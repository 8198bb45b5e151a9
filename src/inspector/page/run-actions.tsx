import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "./icon.tsx";
import type { OpenRun } from "./open-run.ts";
import type { RunActions } from "./run-source.ts";
import { Fault, useTask } from "./task.tsx";
import { shownText } from "../../kernel/value-text.ts";

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
      </div>
      <div class="run-action-words">
        <Fault text={task.fault} />
        {isSaying.value && <PublishForm run={run} actions={actions} ask={ask} close={() => (isSaying.value = false)} />}
      </div>
    </>
  );
}

/** States from which a run can go on. A finished run goes on too, when it has been told something. */
const RESTING: ReadonlySet<string> = new Set(["waiting", "rounds", "budget", "stopped", "failed", "open", "finished"]);

function PublishForm({ run, actions, ask, close }: RunActionsProps & { readonly close: () => void }) {
  const text = useSignal("");
  const to = useSignal("");
  const told = useSignal<string | undefined>(undefined);
  const task = useTask();
  const roles = run.standing.value?.summary.roles ?? [];
  const publish = async (): Promise<void> => {
    const { recipients, waits } = await actions.publish(run.id, text.value, to.value === "" ? [] : [to.value]);
    const names =
      recipients.length === 0 ? "No role watches for it." : `It goes to ${recipients.map((name) => shownText(name, 60)).join(", ")}.`;
    told.value = `Published. ${names}${waits ? " It is read when the run is resumed." : ""}`;
    text.value = "";
    ask();
  };
  return (
    <form
      class="form"
      aria-label="Say something to the run"
      onSubmit={(event) => {
        event.preventDefault();
        task.start(publish);
      }}
    >
      <label class="field">
        <span>Message</span>
        <textarea
          class="field-input"
          rows={3}
          required
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
      <Fault text={task.fault} />
      <p class="small" role="status">
        {told.value}
      </p>
      <div class="form-end">
        <label class="field-line">
          <span>To</span>
          <select value={to.value} onChange={({ currentTarget }) => (to.value = currentTarget.value)}>
            <option value="">Whoever watches for it</option>
            {roles.map((name) => (
              <option key={name} value={name}>
                {shownText(name, 60)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button" onClick={close}>
          Close
        </button>
        <button type="submit" class="button button-main" disabled={task.isBusy || text.value.trim() === ""}>
          Publish
        </button>
      </div>
    </form>
  );
}
