import { useSignal } from "@preact/signals";
import { shownText } from "../../kernel/value-text.ts";
import type { OpenRun } from "./open-run.ts";
import type { RunActions } from "./run-source.ts";
import { Fault, useTask } from "./task.tsx";

interface PublishFormProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
  readonly ask: () => void;
  readonly close: () => void;
}

/** A message from outside to a run. */
export function PublishForm({ run, actions, ask, close }: PublishFormProps) {
  const text = useSignal("");
  const to = useSignal("");
  const told = useSignal<string | undefined>(undefined);
  const task = useTask();
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
        <RecipientSelect to={to.value} roles={run.standing.value?.summary.roles ?? []} onTo={(name) => (to.value = name)} />
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

interface RecipientSelectProps {
  readonly to: string;
  readonly roles: readonly string[];
  readonly onTo: (name: string) => void;
}

function RecipientSelect({ to, roles, onTo }: RecipientSelectProps) {
  return (
    <label class="field-line">
      <span>To</span>
      <select value={to} onChange={({ currentTarget }) => onTo(currentTarget.value)}>
        <option value="">Whoever watches for it</option>
        {roles.map((name) => (
          <option key={name} value={name}>
            {shownText(name, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}
