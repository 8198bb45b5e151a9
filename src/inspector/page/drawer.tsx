import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ActivationView } from "./activation-detail.tsx";
import { Button, Facts, Part } from "./controls.tsx";
import { ActivationLink, clockFact, MessageLines } from "./detail-parts.tsx";
import { Icon } from "./status.tsx";
import { MessageView } from "./message-detail.tsx";
import { traitsOf } from "../view/role-graph.ts";
import { shownLine } from "../view/shown-text.ts";
import type { OpenRun, Selection } from "./open-run.ts";
import { hashOf } from "./route.ts";
import type { RunSource } from "./run-source.ts";
import { StepView } from "./step-detail.tsx";
import { JsonView } from "./text-view.tsx";
import { momentText } from "./amounts.ts";

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
  const { title, body } = detailOf(run, source, selected);
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
): { readonly title: string; readonly body: ComponentChildren } {
  void run.count.value;
  const { record } = run.timeline;
  switch (selected.kind) {
    case "message": {
      const sent = record.sentWithId(selected.id);
      if (sent === undefined) break;
      return { title: "Message", body: <MessageView run={run} source={source} sent={sent} /> };
    }
    case "activation": {
      const fact = record.activationNamed(selected.act);
      if (fact !== undefined)
        return { title: `Activation ${shownLine(fact.act, 80)}`, body: <ActivationView run={run} index={fact.index} /> };
      break;
    }
    case "step": {
      const indexes = record.activationNamed(selected.act)?.steps ?? [];
      const step = indexes.flatMap((index) => record.steps[index] ?? []).find(({ key }) => key === selected.key);
      if (step !== undefined)
        return { title: STEP_TITLES[step.kind] ?? "Step", body: <StepView run={run} act={selected.act} index={step.index} /> };
      break;
    }
    case "role":
      return { title: shownLine(selected.name, 80), body: <RoleDetail run={run} name={selected.name} /> };
    case "event":
      return { title: `Event ${selected.seq}`, body: <EventDetail run={run} seq={selected.seq} /> };
  }
  return { title: "Nothing here", body: <p class="soft">The record has no such entry.</p> };
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
