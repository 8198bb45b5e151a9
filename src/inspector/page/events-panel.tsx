import type { ActEnded, RunEvent, RunStarted, Sent } from "../../runtime/record/event.ts";
import { tickAt } from "../view/lanes.ts";
import { faultsText, resumeText, schedulerText, tickText } from "../view/run-terms.ts";
import { spokenLine } from "../view/spoken.ts";
import { visibleText } from "../../kernel/value-text.ts";
import { durationText, plural } from "./amounts.ts";
import { ChooseMarked } from "./controls.tsx";
import type { OpenRun, Selection, PanelProps } from "./open-run.ts";
import { RowWindow } from "./panels/message-list.tsx";

export function EventsPanel({ run }: PanelProps) {
  const count = run.shown.value + 1;
  return (
    <RowWindow
      count={count}
      label={plural(count, "event")}
      at={run.scrubbed.value}
      rows={(first, last) => run.timeline.events(first, last).map((event) => <EventRow key={event.seq} run={run} event={event} />)}
    />
  );
}

function EventRow({ run, event }: { readonly run: OpenRun; readonly event: RunEvent }) {
  const began = run.timeline.event(0)?.time ?? event.time;
  const isSimulated = run.timeline.now.clock === "time";
  return (
    <li>
      <ChooseMarked class="event row cells" run={run} what={selectionOf(event)}>
        <span class="event-seq soft numbers">{event.seq}</span>
        <span class="tiny mono">{event.type}</span>
        <span class="event-time soft numbers">
          {isSimulated ? `t ${tickText(tickAt(run.timeline, event.seq))}` : `+${durationText(event.time - began)}`}
        </span>
        <span class="event-text">{visibleText(textOf(event).slice(0, MOST))}</span>
      </ChooseMarked>
    </li>
  );
}

function selectionOf(event: RunEvent): Selection {
  if (event.type === "message") return { kind: "message", id: event.message.id };
  if (event.type === "step.started" || event.type === "step.ended") return { kind: "step", act: event.act, key: event.key };
  if ("act" in event) return { kind: "activation", act: event.act };
  return { kind: "event", seq: event.seq };
}

const MOST = 200;

function saidWords({ message, due }: Sent): string {
  return `${spokenLine(message, MOST)}${due === undefined ? "" : ` (arrives at ${tickText(due)})`}`;
}

function faultWords({ said }: ActEnded): string {
  const faults = said.flatMap((sent) => sent.faults ?? []);
  return faults.length === 0 ? "" : `[edges: ${faultsText(faults)}] `;
}

function namesOf({ roles }: Pick<RunStarted, "roles">): string {
  return roles.map(({ name }) => name).join(", ");
}

function textOf(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return `${event.team === "" ? "The team" : event.team}, ${schedulerText(event)}: ${namesOf(event)}`;
    case "message":
      return saidWords(event);
    case "act.started":
    case "act.resumed":
      return event.act;
    case "step.started":
      return `${event.act}  ${event.kind} ${event.name}`;
    case "step.ended":
      return `${event.act}  ${event.ok ? "answered" : event.retry === true ? "failed, tried again" : "failed"}`;
    case "act.ended":
      return `${event.act}  ${faultWords(event)}${event.said.map(saidWords).join(" | ")}`;
    case "act.failed":
      return `${event.act}  ${event.error.message}`;
    case "round.ended":
      return `${event.stage === undefined ? "Round" : `Stage ${event.stage} of round`} ${event.round} ended: its messages are delivered.`;
    case "clock.advanced":
      return `The clock is at ${tickText(event.tick)}${event.role === undefined ? ": the messages that are due are delivered" : `, when ${event.role} acts`}.`;
    case "choice.made":
      return event.id === undefined ? `${event.role} ${event.fate}` : `${event.id} to ${event.role}: ${event.fate}`;
    case "role.hired":
      return namesOf(event);
    case "role.taken":
      return `${event.role}${event.back === true ? " is given back" : event.by === undefined ? "" : ` by ${event.by}`}`;
    case "role.retired":
      return event.role;
    case "run.resumed":
      return `The run was resumed${resumeText(event) === "" ? "" : `: ${resumeText(event)}`}.`;
    case "run.settled":
      return `${plural(event.settles.length, "lost call")} settled`;
    case "run.erased":
      return `${plural(event.texts, "string")} erased`;
    case "run.ended":
      return `The run ended: ${event.status}.`;
  }
}
