import { useSignal } from "@preact/signals";
import { shownText } from "../../kernel/value-text.ts";
import { Button, Fault, Form, Select, TextField, useTask } from "./controls.tsx";
import type { OpenRun } from "./open-run.ts";
import type { RunActions } from "./run-source.ts";
import { Icon, type IconName } from "./status.tsx";

interface RunActionsProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
  readonly ask: () => void;
}

export function RunActionBar(props: RunActionsProps) {
  const { run, actions, ask } = props;
  const task = useTask();
  const isSaying = useSignal(false);
  const status = run.standing.value?.summary.status;
  const act = (icon: IconName, word: string, work: (id: string) => Promise<void>, look?: "main") => (
    <Button look={look} disabled={task.isBusy} onClick={() => task.start(() => work(run.id).then(ask))}>
      <Icon name={icon} size={12} /> {word}
    </Button>
  );
  const canResume =
    (status !== undefined && RESTING.has(status)) || (status === "finished" && run.count.value > 0 && run.timeline.now.ready.size > 0);
  return (
    <>
      <div class="run-actions flex" role="group" aria-label="Actions on the run">
        <Button aria-expanded={isSaying.value} onClick={() => (isSaying.value = !isSaying.value)}>
          <Icon name="say" size={12} /> Say something
        </Button>
        {status === "running" && act("pause", "Pause", actions.pause)}
        {status === "paused" && act("run", "Proceed", actions.proceed, "main")}
        {(status === "running" || status === "paused") && act("stop", "Stop", actions.stop)}
        {canResume && act("run", "Resume", actions.resume, "main")}
      </div>
      <div class="run-action-words">
        <Fault text={task.fault} />
        {isSaying.value && <PublishForm {...props} close={() => (isSaying.value = false)} />}
      </div>
    </>
  );
}

/** States from which a run can be resumed. A finished run can once a role has mail again. */
const RESTING: ReadonlySet<string> = new Set(["waiting", "rounds", "budget", "stopped", "failed", "open"]);

function PublishForm({ run, actions, ask, close }: RunActionsProps & { readonly close: () => void }) {
  const text = useSignal("");
  const to = useSignal("");
  const reported = useSignal<string | undefined>(undefined);
  const task = useTask();
  const publish = async (): Promise<void> => {
    const { recipients, waits } = await actions.publish(run.id, text.value, to.value === "" ? [] : [to.value]);
    const names =
      recipients.length === 0 ? "No role watches for it." : `It goes to ${recipients.map((name) => shownText(name, 60)).join(", ")}.`;
    reported.value = `Published. ${names}${waits ? " It is read when the run is resumed." : ""}`;
    text.value = "";
    ask();
  };
  const roles = run.standing.value?.summary.roles ?? [];
  const options = roles.map((name) => [name, shownText(name, 60)] as const);
  return (
    <Form
      aria-label="Say something to the run"
      task={task}
      submit={() => task.start(publish)}
      verb="Publish"
      isOff={text.value.trim() === ""}
      cancel={["Close", close]}
      beside={
        <Select
          class="field-line inline small"
          name="To"
          value={to.value}
          options={[["", "Whoever watches for it"], ...options]}
          onValue={(name) => (to.value = name)}
        />
      }
    >
      <TextField name="Message" text={text} rows={3} required />
      <p class="small" role="status">
        {reported.value}
      </p>
    </Form>
  );
}
