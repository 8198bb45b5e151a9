import { useSignal } from "@preact/signals";
import type { SentFact } from "../view/run-facts.ts";
import type { OpenRun } from "./open-run.ts";
import { Icon } from "./icon.tsx";
import { hashOf, FIRST_PANEL } from "./route.ts";
import type { RunSource } from "./run-source.ts";
import { Fault, useTask } from "./task.tsx";

/** "Fork here": a new run that shares the past up to a message, with that message edited. */
export function ForkForm({ run, source, sent }: { readonly run: OpenRun; readonly source: RunSource; readonly sent: SentFact }) {
  const isOpen = useSignal(false);
  const text = useSignal(sent.message.content);
  const task = useTask();
  const { actions } = source;
  if (actions === undefined) return null;
  const fork = async (): Promise<void> => {
    const change = text.value === sent.message.content ? [] : [{ seq: sent.seq, nth: sent.nth, content: text.value }];
    const id = await actions.fork(run.id, sent.seq, change);
    location.hash = hashOf({ page: "run", run: id, panel: FIRST_PANEL });
  };
  if (!isOpen.value)
    return (
      <button type="button" class="button" onClick={() => (isOpen.value = true)}>
        <Icon name="fork" /> Fork here with this message edited
      </button>
    );
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        task.start(fork);
      }}
    >
      <label class="field">
        <span>The message in the fork</span>
        <textarea class="field-input" rows={8} value={text.value} onInput={({ currentTarget }) => (text.value = currentTarget.value)} />
      </label>
      <p class="small soft">
        The new run shares everything up to event {sent.seq} and pays only for what differs. This run stays as it is.
      </p>
      <Fault text={task.fault} />
      <div class="form-end">
        <button type="button" class="button" onClick={() => (isOpen.value = false)}>
          Cancel
        </button>
        <button type="submit" class="button button-main" disabled={task.isBusy}>
          Fork
        </button>
      </div>
    </form>
  );
}
