import { useSignal } from "@preact/signals";
import { shownLine } from "../../view/shown-text.ts";
import { plural } from "../amounts.ts";
import { Button, Fault, Form, Select, TextField, useTask } from "../controls.tsx";
import type { OpenRun } from "../open-run.ts";
import type { RunActions } from "../run-source.ts";

interface TeamChangeProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
}

export function HireButton(props: TeamChangeProps) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <HireForm {...props} close={() => (isOpen.value = false)} />;
  return <Button onClick={() => (isOpen.value = true)}>Hire a role</Button>;
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
    <Form
      aria-label="Hire a role"
      task={task}
      submit={() => task.start(hire)}
      verb="Hire"
      isOff={definition.value === ""}
      cancel={["Cancel", close]}
    >
      <Select
        class="field tight"
        name="Definition"
        value={definition.value}
        options={actions.definitions.map((one) => [one, shownLine(one, 60)])}
        onValue={(one) => (definition.value = one)}
      />
      <TextField name="Name in this run, if another" text={name} maxLength={200} />
    </Form>
  );
}

/** Retires a role of the run, after a second press that says what is lost. */
export function RetireButton({ run, actions, role, waiting }: TeamChangeProps & { readonly role: string; readonly waiting: number }) {
  const isSure = useSignal(false);
  const task = useTask();
  if (!isSure.value) return <Button onClick={() => (isSure.value = true)}>Retire</Button>;
  return (
    <div class="form frame stack" role="group" aria-label={`Retire ${shownLine(role, 60)}`}>
      <p class="small">
        It ends what it is at and gets no further messages.
        {waiting > 0 && ` ${plural(waiting, "unread message")} will be dead letters.`}
      </p>
      <Fault text={task.fault} />
      <div class="form-end flex">
        <Button onClick={() => (isSure.value = false)}>Keep</Button>
        <Button look="main" disabled={task.isBusy} onClick={() => task.start(() => actions.retire(run.id, role))}>
          Retire {shownLine(role, 40)}
        </Button>
      </div>
    </div>
  );
}
