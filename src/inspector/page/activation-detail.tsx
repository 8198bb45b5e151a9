import { activationDetail } from "../view/detail.ts";
import type { ActivationFact } from "../view/run-facts.ts";
import { costText, counted, durationText, momentText, plural } from "./amounts.ts";
import { Facts, Part } from "./controls.tsx";
import { CauseList, clockFact, END_WORDS, MessageLines, Rest, RoleLink, StepLine } from "./detail-parts.tsx";
import type { OpenRun } from "./open-run.ts";
import { JsonView, LiveTextView, TextView } from "./text-view.tsx";

const MOST = 300;

export function ActivationView({ run, index }: { readonly run: OpenRun; readonly index: number }) {
  const detail = activationDetail(run.timeline, index, run.shown.value);
  if (detail === undefined) return <p class="soft">It begins after the event that is shown.</p>;
  const { activation: fact, took, said, steps, changes } = detail;
  const live = fact.end === "open" ? run.textOf(fact.act) : undefined;
  return (
    <>
      <ActivationFacts run={run} fact={fact} />
      {fact.error !== undefined && (
        <Part title="Error">
          <TextView text={`${fact.error.code}: ${fact.error.message}`} label="Error of the activation" />
        </Part>
      )}
      <Part title={`Took ${plural(took.length, "message")}`}>
        <MessageLines run={run} list={took} />
      </Part>
      <Part title={`Did ${plural(steps.length, "step")}`}>
        <ol class="lines tight">
          {steps.slice(0, MOST).map((step) => (
            <li key={step.index}>
              <StepLine run={run} act={fact.act} step={step} />
              <span class="line-end soft numbers">
                {step.tries > 1 ? `${step.tries} tries ` : ""}
                {step.cost > 0 || step.unpriced > 0 ? costText(step.cost, step.unpriced) : ""}
              </span>
            </li>
          ))}
        </ol>
        <Rest count={steps.length} most={MOST} />
      </Part>
      {live !== undefined && (
        <Part title="The model says">
          <LiveTextView text={live.text} isCut={live.isCut} label="Answer so far" />
        </Part>
      )}
      <Part title={`Said ${plural(said.length, "message")}`}>
        <MessageLines run={run} list={said} />
      </Part>
      {changes !== undefined && (
        <details class="part">
          <summary>Changes of its state</summary>
          <JsonView value={changesOf(changes)} label="Changes of the state" />
        </details>
      )}
      <CauseList run={run} start={{ kind: "activation", index: fact.index }} />
    </>
  );
}

function ActivationFacts({ run, fact }: { readonly run: OpenRun; readonly fact: ActivationFact }) {
  return (
    <Facts
      facts={[
        ["Role", <RoleLink run={run} name={fact.role} />],
        ["Attempt", `${fact.attempt} of activation #${fact.n}`],
        ["Result", END_WORDS[fact.end]],
        ["Began", momentText(fact.began)],
        clockFact(run, fact.from),
        fact.ended !== undefined && ["Took", durationText(fact.ended - fact.began)],
        ["Cost", costText(fact.cost, fact.unpriced)],
        ["Tokens", `${counted(fact.inputTokens)} in, ${counted(fact.outputTokens)} out`],
        fact.retries > 0 && ["Retries", counted(fact.retries)],
      ]}
    />
  );
}

type Changes = NonNullable<NonNullable<ReturnType<typeof activationDetail>>["changes"]>;

function changesOf({ memory, working, state, plan, joins, summary }: Changes): object {
  return { memory, working, state, plan, joins, summary };
}
