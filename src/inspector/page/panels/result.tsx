import { outcomeAt, type RunOutcome } from "../../view/run-outcome.ts";
import { momentOf } from "../../view/run-terms.ts";
import { shownLine } from "../../view/shown-text.ts";
import { costText } from "../amounts.ts";
import { Choose, Facts, TextView } from "../controls.tsx";
import { markdownView } from "../markdown-view.tsx";
import type { OpenRun } from "../open-run.ts";
import { Badge, type Sign } from "../status.tsx";

type Delivery = NonNullable<RunOutcome["delivery"]>;

export function Result({ run }: { readonly run: OpenRun }) {
  const shown = run.shown.value;
  const { ledger, phase, clock, tick } = run.timeline.stateAt(shown);
  const { message, delivery } = outcomeAt(run.timeline, shown) ?? {};
  const { known, unpriced } = ledger.cost();
  const proven = delivery?.verdicts.filter(({ outcome }) => outcome === "proven").length;
  return (
    <section class="result frame stack" aria-label="Result">
      <div class="flex">
        <h2>{delivery === undefined ? "Result" : shownLine(delivery.name, 100)}</h2>
        <Badge sign={signOf(delivery, phase.phase === "ended")} />
        {message !== undefined && (
          <Choose class="choose small soft" run={run} what={{ kind: "message", id: message.id }}>
            Details of the result
          </Choose>
        )}
      </div>
      {delivery !== undefined && <Evidence {...delivery} />}
      {delivery === undefined && message !== undefined && <TextView text={message.content} label="Output" as={markdownView} />}
      {message === undefined && <p class="soft">There is no result yet.</p>}
      <Facts
        class="facts flex small"
        facts={[
          delivery && ["Criteria", `${proven} of ${delivery.verdicts.length} proven`],
          delivery && delivery.tests.length > 0 && ["Tests", shownLine(delivery.tests.join("; "), 200)],
          ["Cost", costText(known, unpriced)],
          clock !== "activations" && ["After", momentOf(clock, tick)],
        ]}
      />
    </section>
  );
}

function signOf(delivery: Delivery | undefined, isOver: boolean): Sign {
  if (delivery === undefined) return isOver ? ["plain", "done", "Ended"] : ["info", "run", "Under way"];
  if (delivery.isPast) return ["info", "wait", `${delivery.isDone ? "Done" : "Not done"}, before the last words`];
  return delivery.isDone ? ["good", "done", "Done"] : ["bad", "fault", "Not done"];
}

const MOST = 50;

function Evidence({ verdicts, wrong, reason }: Delivery) {
  return (
    <>
      {reason !== "" && <p class="note frame small note-warn">{shownLine(reason, 400)}</p>}
      <ul class="verdicts tight">
        {verdicts.slice(0, MOST).map(({ id, outcome, evidence, words = "" }, nth) => (
          <li key={nth}>
            <Badge sign={[...(SIGNS[outcome] ?? UNSURE), `${shownLine(id, 20)} ${shownLine(outcome, 20)}`]} />
            <span>
              {shownLine(words, 300)} <span class="soft">{shownLine(evidence, 300)}</span>
            </span>
          </li>
        ))}
        {wrong.slice(0, MOST).map((one, nth) => (
          <li key={nth} class="bad">
            {shownLine(one, 400)}
          </li>
        ))}
      </ul>
    </>
  );
}

const UNSURE = ["warn", "question"] as const;
const SIGNS: Readonly<Record<string, readonly ["good", "done"] | readonly ["bad", "fault"]>> = {
  proven: ["good", "done"],
  failed: ["bad", "fault"],
};
