import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Facts, JsonView, LiveTextView, Part, TextView } from "./controls.tsx";
import { ActivationLink, CauseList, END_WORDS, MessageLines, Rest, RoleLink, StepLine, clockFact } from "./detail-parts.tsx";
import { Icon } from "./status.tsx";
import { MessageView } from "./message-detail.tsx";
import { traitsOf } from "../view/role-graph.ts";
import { shownLine } from "../view/shown-text.ts";
import type { OpenRun, Selection } from "./open-run.ts";
import { hashOf } from "./route.ts";
import type { RunSource } from "./run-source.ts";
import { costText, counted, durationText, momentText, plural } from "./amounts.ts";
import { type CallDetail, type PromptPart, type StepDetail, type TryDetail, activationDetail, stepDetail } from "../view/detail.ts";
import type { ActivationFact } from "../view/run-facts.ts";

export function Drawer({ run, source }: { readonly run: OpenRun; readonly source: RunSource }) {
  const selected = run.selection.value;
  const drawer = useRef<HTMLElement>(null);
  const opener = useRef<HTMLElement | undefined>(undefined);
  // The focus moves together with the change of the page: a key that comes at once finds it in the drawer.
  useLayoutEffect(() => {
    if (selected === undefined || drawer.current === null || (selected.kind === "activation" && selected.stays === true)) return;
    const active = document.activeElement as HTMLElement | null;
    const isLost = active === null || active === document.body;
    // The focus moves after a selection by keyboard; after one by mouse, work may continue in the panel.
    if (!isLost && (!active.matches(":focus-visible") || drawer.current.contains(active))) return;
    if (!isLost) opener.current = active;
    drawer.current.focus();
  }, [selected]);
  // The view of files shows a file in full.
  if (selected === undefined || selected.kind === "file") return null;
  const close = (): void => {
    run.selection.value = undefined;
    opener.current?.focus();
    opener.current = undefined;
  };
  const [title, body] = detailOf(run, source, selected) ?? ["Nothing here", <p class="soft">The record has no such entry.</p>];
  return (
    <aside
      class="drawer"
      ref={drawer}
      tabIndex={-1}
      aria-labelledby="drawer-title"
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <header class="drawer-head flex">
        <h2 id="drawer-title">{title}</h2>
        <Button look="plain" aria-label="Close the details" onClick={close}>
          <Icon name="close" />
        </Button>
      </header>
      <div class="body" key={JSON.stringify(selected)}>
        {body}
      </div>
    </aside>
  );
}

function detailOf(
  run: OpenRun,
  source: RunSource,
  selected: Exclude<Selection, { readonly kind: "file" }>,
): readonly [title: string, body: ComponentChildren] | undefined {
  void run.count.value;
  const { record } = run.timeline;
  switch (selected.kind) {
    case "message": {
      const sent = record.sentWithId(selected.id);
      return sent && ["Message", <MessageView run={run} source={source} sent={sent} />];
    }
    case "activation": {
      const fact = record.activationNamed(selected.act);
      return fact && [`Activation ${shownLine(fact.act, 80)}`, <ActivationView run={run} index={fact.index} />];
    }
    case "step": {
      const indexes = record.activationNamed(selected.act)?.steps ?? [];
      const step = indexes.flatMap((index) => record.steps[index] ?? []).find(({ key }) => key === selected.key);
      return step && [STEP_TITLES[step.kind] ?? "Step", <StepView run={run} act={selected.act} index={step.index} />];
    }
    case "role":
      return [shownLine(selected.name, 80), <RoleDetail run={run} name={selected.name} />];
    case "event":
      return [`Event ${selected.seq}`, <EventDetail run={run} seq={selected.seq} />];
  }
}

const STEP_TITLES: Readonly<Record<string, string>> = {
  model: "Model call",
  tool: "Tool call",
  human: "Question to a person",
};

function RoleDetail({ run, name }: { readonly run: OpenRun; readonly name: string }) {
  const role = run.timeline.stateAt(run.shown.value).roles.get(name);
  if (role === undefined) return <p class="soft">The role is not hired yet at this event.</p>;
  const { profile, goal } = traitsOf(role.traits);
  return (
    <>
      <Facts
        facts={[
          profile !== "" && ["Profile", shownLine(profile, 200)],
          goal !== "" && ["Goal", shownLine(goal, 500)],
          ["Activations", String(role.n)],
          ["Mailbox", `${role.waiting} waiting`],
        ]}
      />
      <p class="small">
        <a href={hashOf({ page: "run", run: run.id, panel: "roles" })}>Its memory, plan and state</a>
      </p>
    </>
  );
}

function EventDetail({ run, seq }: { readonly run: OpenRun; readonly seq: number }) {
  const event = run.timeline.event(seq);
  if (event === undefined) return <p class="soft">The record has no such event.</p>;
  const said = run.timeline.record.sent.filter((sent) => sent.seq === seq);
  return (
    <>
      <Facts
        facts={[
          ["Type", <span class="mono">{event.type}</span>],
          ["Time", momentText(event.time)],
          clockFact(run, seq),
          "act" in event && ["Activation", <ActivationLink run={run} act={event.act} />],
        ]}
      />
      {said.length > 0 && (
        <Part title="Messages">
          <MessageLines run={run} list={said} />
        </Part>
      )}
      <Part title="Record">
        <JsonView value={event} label={`Event ${seq} as JSON`} />
      </Part>
    </>
  );
}

const MOST = 300;

function ActivationView({ run, index }: { readonly run: OpenRun; readonly index: number }) {
  const detail = activationDetail(run.timeline, index, run.shown.value);
  if (detail === undefined) return <p class="soft">It begins after the event that is shown.</p>;
  const { activation: fact, took, said, steps, changes } = detail;
  const { memory, working, state, plan, joins, summary } = changes ?? {};
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
          <JsonView value={{ memory, working, state, plan, joins, summary }} label="Changes of the state" />
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

function StepView({ run, act, index }: { readonly run: OpenRun; readonly act: string; readonly index: number }) {
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
