import { causeChain, type CauseChain, type CauseNode, type CauseStart, PROOF_TEXTS } from "../view/cause-chain.ts";
import { ActivationLine, MessageLine, Part } from "./detail-parts.tsx";
import type { OpenRun } from "./open-run.ts";

/** The causes and effects of a message or an activation, from the first cause to the last effect. */
export function CauseList({ run, start }: { readonly run: OpenRun; readonly start: CauseStart }) {
  const chain = causeChain(run.timeline, start, run.shown.value);
  if (chain.nodes.length < 2) return null;
  const before = chain.nodes.filter(({ steps }) => steps < 0);
  const after = chain.nodes.filter(({ steps }) => steps > 0);
  return (
    <Part title="Cause chain">
      <ol class="chain">
        {before.map((node) => (
          <CauseEntry key={`${node.kind} ${node.place}`} run={run} chain={chain} node={node} />
        ))}
        <li class="chain-here">This {"message" in start ? "message" : "activation"}</li>
        {after.map((node) => (
          <CauseEntry key={`${node.kind} ${node.place}`} run={run} chain={chain} node={node} />
        ))}
      </ol>
      {chain.isCut && <p class="small soft">The chain is longer. This is the part near the selection.</p>}
    </Part>
  );
}

interface CauseEntryProps {
  readonly run: OpenRun;
  readonly chain: CauseChain;
  readonly node: CauseNode;
}

function CauseEntry({ run, chain, node }: CauseEntryProps) {
  const { record } = run.timeline;
  const isMessage = node.kind === "message";
  const sent = isMessage ? record.sent[node.place] : undefined;
  const fact = isMessage ? undefined : record.activations[node.place];
  const isUncertain = chain.links.some(
    ({ proof, direction, ...link }) => proof === "took with others" && direction === "in" && link[node.kind] === node.place && isMessage,
  );
  return (
    <li class={isMessage ? "chain-message" : "chain-activation"}>
      {sent !== undefined && <MessageLine run={run} sent={sent} />}
      {fact !== undefined && <ActivationLine run={run} fact={fact} />}
      {isUncertain && <p class="small soft">{PROOF_TEXTS["took with others"]}</p>}
    </li>
  );
}
