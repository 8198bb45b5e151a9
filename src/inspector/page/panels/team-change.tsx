import { useSignal } from "@preact/signals";
import { shownLine } from "../../view/shown-text.ts";
import { plural } from "../amounts.ts";
import type { OpenRun } from "../open-run.ts";
import type { RunActions } from "../run-source.ts";
import { Fault, useTask } from "../task.tsx";

interface TeamChangeProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
}

/** Hires a role into the run. */
export function HireButton(props: TeamChangeProps) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <HireForm {...props} close={() => (isOpen.value = false)} />;
  return (
    <button type="button" class="button" onClick={() => (isOpen.value = true)}>
      Hire a role
    </button>
  );
}

function HireForm({ run, actions, close }: TeamChangeProps & { readonly close: () => void }) {
  const definition = useSignal(actions.definitions[0] ?? "");
  const name = useSignal("");
  const task = useTask();
  const hire = async (): Promise<void> => {
    const as = name.value.trim();
    await actions.hire(run.id, definition.value, as === "" ? undefined : as);
    run.selection.value = { kind: "role", name: as === "" ? definition.value : as };
    close();
  };
  return (
    <form
      class="form"
      aria-label="Hire a role"
      onSubmit={(event) => {
        event.preventDefault();
        task.start(hire);
      }}
    >
      <label class="field">
        <span>Definition</span>
        <select class="field-input" value={definition.value} onChange={({ currentTarget }) => (definition.value = currentTarget.value)}>
          {actions.definitions.map((one) => (
            <option key={one} value={one}>
              {shownLine(one, 60)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Name in this run, if another</span>
        <input class="field-input" maxLength={200} value={name.value} onInput={({ currentTarget }) => (name.value = currentTarget.value)} />
      </label>
      <Fault text={task.fault} />
      <div class="form-end">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="button button-main" disabled={task.isBusy || definition.value === ""}>
          Hire
        </button>
      </div>
    </form>
  );
}

/** Retires a role of the run, after a second press that says what is lost. */
export function RetireButton({ run, actions, role, waiting }: TeamChangeProps & { readonly role: string; readonly waiting: number }) {
  const isSure = useSignal(false);
  const task = useTask();
  if (!isSure.value)
    return (
      <button type="button" class="button" onClick={() => (isSure.value = true)}>
        Retire
      </button>
    );
  return (
    <div class="form" role="group" aria-label={`Retire ${shownLine(role, 60)}`}>
      <p class="small">
        It ends what it is at and gets no further messages.
        {waiting > 0 && ` ${plural(waiting, "unread message")} will be dead letters.`}
      </p>
      <Fault text={task.fault} />
      <div class="form-end">
        <button type="button" class="button" onClick={() => (isSure.value = false)}>
          Keep
        </button>
        <button
          type="button"
          class="button button-main"
          disabled={task.isBusy}
          onClick={() => task.start(() => actions.retire(run.id, role))}
        >
          Retire {shownLine(role, 40)}
        </button>
      </div>
    </div>
  );
}
