import { useRef } from "preact/hooks";
import { type CallDetail, stepDetail, type PromptPart, type StepDetail, type TryDetail } from "../view/detail.ts";
import { shownLine } from "../view/shown-text.ts";
import { costText, counted, durationText } from "./amounts.ts";
import { Facts, Part } from "./controls.tsx";
import { ActivationLink } from "./detail-parts.tsx";
import type { OpenRun } from "./open-run.ts";
import { JsonView, LiveTextView, TextView } from "./text-view.tsx";

export function StepView({ run, act, index }: { readonly run: OpenRun; readonly act: string; readonly index: number }) {
  const detail = stepDetail(run.timeline, index, run.shown.value);
  const { prompt = [], tries = [] } = detail ?? {};
  if (detail === undefined || tries.length === 0) return <p class="soft">The step begins after the event that is shown.</p>;
  const { step, request, answer, answerText } = detail;
  const took = tries.reduce((sum, { ms = 0 }) => sum + ms, 0);
  return (
    <>
      <Facts
        facts={[
          ["Kind", <span class="tag tiny soft mono">{shownLine(step.kind, 40)}</span>],
          [step.kind === "model" ? "Model" : "Name", shownLine(step.name, 100)],
          ["Activation", <ActivationLink run={run} act={act} />],
          ["Result", step.ok === undefined ? "no answer yet" : step.ok ? "answered" : "failed"],
          ["Took", durationText(took)],
          ["Cost", step.isReused ? "nothing: another run's record answered it" : costText(step.cost, step.unpriced)],
          step.inputTokens + step.outputTokens > 0 && ["Tokens", `${counted(step.inputTokens)} in, ${counted(step.outputTokens)} out`],
        ]}
      />
      <Tries tries={tries} />
      {prompt.length > 0 ? (
        <Prompt parts={prompt} />
      ) : (
        <Part title="Request">
          <JsonView value={request} label="Request of the step" />
        </Part>
      )}
      <Answer run={run} act={act} detail={detail} />
      {(prompt.length > 0 || (answerText !== undefined && typeof answer !== "string")) && (
        <details class="part">
          <summary>Everything that is recorded</summary>
          <JsonView value={{ request, answer }} label="Request and answer as recorded" />
        </details>
      )}
    </>
  );
}

function Answer({ run, act, detail }: { readonly run: OpenRun; readonly act: string; readonly detail: StepDetail }) {
  const { step, answer, answerText, answerCalls } = detail;
  const live = step.ok === undefined ? run.textOf(act, step.key) : undefined;
  return (
    <Part title="Answer">
      {live !== undefined && <LiveTextView text={live.text} isCut={live.isCut} label="Answer so far" />}
      {answerText !== undefined && (answerText !== "" || answerCalls.length === 0) && (
        <TextView text={answerText} label="Answer of the step" />
      )}
      <Calls calls={answerCalls} of="the answer" />
      {answerText === undefined && answer !== undefined && <JsonView value={answer} label="Answer of the step" />}
      {answer === undefined && (
        <p class="small soft">
          {live === undefined ? "No answer is recorded." : `Try ${live.try} is under way. Nothing of it is recorded yet.`}
        </p>
      )}
      <Ended isLive={live !== undefined} ok={step.ok} />
    </Part>
  );
}

/** Says once, at the end of a text that was seen while it came, that it has ended. */
function Ended({ isLive, ok }: { readonly isLive: boolean; readonly ok: boolean | undefined }) {
  const wasLive = useRef(false);
  wasLive.current ||= isLive;
  return (
    <p class="hidden" role="status">
      {wasLive.current && ok !== undefined ? (ok ? "The answer is complete." : "The call has failed.") : ""}
    </p>
  );
}

function Tries({ tries }: { readonly tries: readonly TryDetail[] }) {
  if (tries.length === 1 && tries[0]?.ok !== false) return null;
  return (
    <Part title={`${tries.length} ${tries.length === 1 ? "try" : "tries"}`}>
      <ol class="lines tight">
        {tries.map((one) => (
          <li key={one.started} class={one.ok === false ? "bad" : ""}>
            {`Try ${one.try}: ${one.ok === undefined ? "has not ended" : one.ok ? "answered" : "failed"}`}
            {one.error !== undefined && ` with ${shownLine(`${one.error.code}: ${one.error.message}`, 600)}`}
            <span class="line-end soft numbers">
              {one.ms === undefined ? "" : durationText(one.ms)}{" "}
              {one.cost === undefined ? "" : costText(one.cost ?? 0, one.cost === null ? 1 : 0)}
            </span>
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Prompt({ parts }: { readonly parts: readonly PromptPart[] }) {
  return (
    <Part title="Prompt">
      <ol class="prompt stack">
        {parts.map(({ role, text, calls }, index) => (
          <li key={index} class="tight">
            <span class="tag tiny soft mono">{shownLine(role, 40)}</span>
            {text !== "" && <TextView text={text} label={`Message ${index + 1} of the prompt`} />}
            <Calls calls={calls} of={`message ${index + 1}`} />
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Calls({ calls, of }: { readonly calls: readonly CallDetail[]; readonly of: string }) {
  return (
    <>
      {calls.map(({ name, args }, nth) => (
        <div key={nth}>
          <p class="small">Calls the tool {shownLine(name, 60)}</p>
          <JsonView value={args} label={`Call ${nth + 1} of ${of}`} />
        </div>
      ))}
    </>
  );
}
