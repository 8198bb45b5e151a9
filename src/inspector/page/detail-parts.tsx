import { visibleText } from "../../kernel/value-text.ts";
import { causeChain, type CauseChain, type CauseNode } from "../view/cause-chain.ts";
import { activationAt, stepAt } from "../view/detail.ts";
import { tickAt } from "../view/lanes.ts";
import type { ActivationFact, SentFact, StepFact } from "../view/run-facts.ts";
import { momentOf } from "../view/run-terms.ts";
import { shownLine } from "../view/shown-text.ts";
import { spokenLine } from "../view/spoken.ts";
import { counted } from "./amounts.ts";
import { Choose, type Fact, Part } from "./controls.tsx";
import type { OpenRun } from "./open-run.ts";

const MOST = 120;
const MOST_LINES = 300;

interface OfRun {
  readonly run: OpenRun;
}

export function MessageLine({ run, sent }: OfRun & { readonly sent: SentFact }) {
  const { message } = sent;
  return (
    <Choose run={run} what={{ kind: "message", id: message.id }}>
      <span class="strong">{senderOf(sent)}</span> <span class="tag tiny soft mono">{shownLine(message.causeBy, 60)}</span>{" "}
      <span class="soft">{spokenLine(message, MOST)}</span>
    </Choose>
  );
}

export function MessageLines({ run, list }: OfRun & { readonly list: readonly SentFact[] }) {
  return (
    <>
      <ul class="lines tight">
        {list.slice(0, MOST_LINES).map((sent, nth) => (
          // An activation may have taken copies of one message.
          <li key={nth}>
            <MessageLine run={run} sent={sent} />
          </li>
        ))}
      </ul>
      <Rest count={list.length} most={MOST_LINES} />
    </>
  );
}

export function Rest({ count, most, of = "" }: { readonly count: number; readonly most: number; readonly of?: string }) {
  return count <= most ? null : <p class="small soft">{`${counted(count - most)} more${of} are not listed.`}</p>;
}

export function RoleLink({ run, name }: OfRun & { readonly name: string }) {
  return (
    <Choose run={run} what={{ kind: "role", name }}>
      {shownLine(name, 60)}
    </Choose>
  );
}

export function ActivationLink({ run, act }: OfRun & { readonly act: string }) {
  return (
    <Choose class="choose mono" run={run} what={{ kind: "activation", act }}>
      {shownLine(act, 100)}
    </Choose>
  );
}

export function ActivationLine({ run, fact }: OfRun & { readonly fact: ActivationFact }) {
  const { end } = activationAt(run.timeline, fact, run.shown.value);
  return (
    <Choose run={run} what={{ kind: "activation", act: fact.act }}>
      <span class="mono">{visibleText(fact.act)}</span> <span class="soft">{END_WORDS[end]}</span>
    </Choose>
  );
}

export function StepLine({ run, act, step }: OfRun & { readonly act: string; readonly step: StepFact }) {
  const { ok } = stepAt(run.timeline, step, run.shown.value);
  return (
    <Choose run={run} what={{ kind: "step", act, key: step.key }}>
      <span class="tag tiny soft mono">{step.kind}</span> {shownLine(step.name, 60)}{" "}
      <span class="soft">{ok === undefined ? "no answer yet" : ok ? "" : "failed"}</span>
    </Choose>
  );
}

export const END_WORDS: Readonly<Record<ActivationFact["end"], string>> = {
  open: "under way",
  ended: "took effect",
  retry: "failed, tried again",
  isolate: "failed, its messages are tried one by one",
  dead: "failed, its messages are given up",
  stop: "failed, the run stopped",
  retired: "given up, the role was retired",
};

export function senderOf({ message }: Pick<SentFact, "message">): string {
  return message.sentFrom === "" ? "From outside" : shownLine(message.sentFrom, 60);
}

export function clockFact({ timeline }: OpenRun, seq: number): Fact {
  const { clock } = timeline.now;
  return clock === "activations" ? undefined : ["Clock", momentOf(clock, tickAt(timeline, seq))];
}

export function CauseList({ run, start }: OfRun & { readonly start: Pick<CauseNode, "kind" | "index"> }) {
  const chain = causeChain(run.timeline, start, run.shown.value);
  if (chain.nodes.length < 2) return null;
  const entries = (nodes: readonly CauseNode[]) =>
    nodes.map((node) => <CauseEntry key={`${node.kind} ${node.index}`} run={run} chain={chain} node={node} />);
  return (
    <Part title="Cause chain">
      <ol class="chain tight">
        {entries(chain.nodes.filter(({ steps }) => steps < 0))}
        <li class="chain-here strong">This {start.kind}</li>
        {entries(chain.nodes.filter(({ steps }) => steps > 0))}
      </ol>
      {chain.isCut && <p class="small soft">The chain is longer. This is the part near the selection.</p>}
    </Part>
  );
}

function CauseEntry({ run, chain, node: { kind, index } }: OfRun & { readonly chain: CauseChain; readonly node: CauseNode }) {
  const { record } = run.timeline;
  const sent = kind === "message" ? record.sent[index] : undefined;
  const fact = kind === "activation" ? record.activations[index] : undefined;
  return (
    <li class={`chain-${kind}`}>
      {sent !== undefined && <MessageLine run={run} sent={sent} />}
      {fact !== undefined && <ActivationLine run={run} fact={fact} />}
      {kind === "message" && chain.uncertain.has(index) && (
        <p class="small soft">
          The activation took it together with other messages. The record does not say which of them led to its answer.
        </p>
      )}
    </li>
  );
}
