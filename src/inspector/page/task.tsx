import { useSignal } from "@preact/signals";
import { wordsOf } from "./open-run.ts";

/** Work that a person has asked for: whether it is under way, and the words of the server when it failed. */
export interface Task {
  readonly isBusy: boolean;
  readonly fault: string | undefined;
  /** Does the work, unless some is under way. */
  start(work: () => Promise<void>): void;
}

/** Keeps the state of the work of one form or bar. */
export function useTask(): Task {
  const isBusy = useSignal(false);
  const fault = useSignal<string | undefined>(undefined);
  const run = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true;
    fault.value = undefined;
    try {
      await work();
    } catch (error) {
      fault.value = wordsOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  return {
    isBusy: isBusy.value,
    fault: fault.value,
    start: (work) => {
      if (!isBusy.value) void run(work);
    },
  };
}

/** The words of a fault. A screen reader says them at once. */
export function Fault({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="note note-bad" role="alert">
      {text}
    </p>
  );
}
