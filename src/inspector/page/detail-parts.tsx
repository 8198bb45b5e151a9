import type { ComponentChildren } from "preact";
import { visibleText } from "../../kernel/value-text.ts";
import { activationAt, stepAt } from "../view/facts-at.ts";
import { tickAt } from "../view/lanes.ts";
import type { ActivationFact, SentFact, StepFact } from "../view/run-facts.ts";
import { momentOf } from "../view/run-terms.ts";
import { shownLine } from "../view/shown-text.ts";
import type { OpenRun, Selection } from "./open-run.ts";

/** Characters of a message in a link. */
const MOST = 120;

/** A word or line that selects something when it is pressed. */
export function Choose({ run, what, children }: { readonly run: OpenRun; readonly what: Selection; readonly children: ComponentChildren }) {
  return (
    <button
      type="button"
      class="choose"
      onClick={() => {
        run.selection.value = what;
      }}
    >
      {children}
    </button>
  );
}

/** A message as one line: its sender, its cause and its first words. */
export function MessageLine({ run, sent }: { readonly run: OpenRun; readonly sent: SentFact }) {
  const { message } = sent;
  return (
    <Choose run={run} what={{ kind: "message", id: message.id }}>
      <span class="line-who">{senderOf(sent)}</span> <span class="tag">{shownLine(message.causeBy, 60)}</span>{" "}
      <span class="soft">{shownLine(message.content, MOST)}</span>
    </Choose>
  );
}

/** An activation as one line. */
export function ActivationLine({ run, fact }: { readonly run: OpenRun; readonly fact: ActivationFact }) {
  const { end } = activationAt(run.timeline, fact, run.shown.value);
  return (
    <Choose run={run} what={{ kind: "activation", act: fact.act }}>
      <span class="mono">{visibleText(fact.act)}</span> <span class="soft">{END_WORDS[end]}</span>
    </Choose>
  );
}

/** A step as one line. */
export function StepLine({ run, act, step }: { readonly run: OpenRun; readonly act: string; readonly step: StepFact }) {
  const { ok } = stepAt(run.timeline, step, run.shown.value);
  return (
    <Choose run={run} what={{ kind: "step", act, key: step.key }}>
      <span class="tag">{step.kind}</span> {shownLine(step.name, 60)}{" "}
      <span class="soft">{ok === undefined ? "no answer yet" : ok ? "" : "failed"}</span>
    </Choose>
  );
}

/** The ends of an activation in words. */
export const END_WORDS: Readonly<Record<ActivationFact["end"], string>> = {
  open: "still acting",
  ended: "took effect",
  retry: "failed, tried again",
  isolate: "failed, its messages are tried one by one",
  dead: "failed, its messages are given up",
  stop: "failed, and the run ended",
  retired: "given up: the role was retired",
};

/** The sender of a message in words. */
export function senderOf({ message }: Pick<SentFact, "message">): string {
  return message.sentFrom === "" ? "From outside" : shownLine(message.sentFrom, 60);
}

/** A list of terms and what they say. An entry without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return (
    <dl class="detail-facts">
      {facts.map((fact) => {
        if (fact === undefined) return null;
        const [name, value] = fact;
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The round or the simulated time of an event, as a fact; undefined where the clock counts activations. */
export function clockFact({ timeline }: OpenRun, seq: number): readonly [string, string] | undefined {
  const { clock } = timeline.now;
  return clock === "activations" ? undefined : ["Clock", momentOf(clock, tickAt(timeline, seq))];
}

/** A part of the drawer under a heading. */
export function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
