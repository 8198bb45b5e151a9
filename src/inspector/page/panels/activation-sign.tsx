import type { ActivationEnd, ActivationFact } from "../../view/run-facts.ts";
import { plural } from "../amounts.ts";

const SIGNS: Readonly<Record<ActivationEnd, string>> = {
  open: "…",
  ended: "✓",
  retry: "↻",
  isolate: "✕",
  dead: "✕",
  stop: "✕",
  retired: "–",
};

const WORDS: Readonly<Record<ActivationEnd, string>> = {
  open: "under way",
  ended: "took effect",
  retry: "failed, tried again",
  isolate: "failed, its messages are tried one by one",
  dead: "failed, its messages are given up",
  stop: "failed, the run stopped",
  retired: "given up, the role was retired",
};

/** A sign for the end of an activation, so that its colour is no more than a help. */
export function ActivationSign({ end }: { readonly end: ActivationEnd }) {
  return (
    <span class="sign" aria-hidden="true">
      {SIGNS[end]}
    </span>
  );
}

/** The outcome of an activation, in words. */
export function activationWords({ end, took, said, from, until }: ActivationFact, isOpen: boolean): string {
  const when = isOpen || until === undefined ? `from event ${from}` : from === until ? `event ${from}` : `events ${from} to ${until}`;
  const words = WORDS[isOpen ? "open" : end];
  return `${words}, ${when}, took ${plural(took.length, "message")}${isOpen ? "" : `, said ${plural(said.length, "message")}`}`;
}
