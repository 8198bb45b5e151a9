import { useSignal } from "@preact/signals";
import type { RunEvent } from "../../runtime/record/event.ts";
import { visibleText } from "../../kernel/value-text.ts";
import { durationText, plural } from "./amounts.ts";
import type { OpenRun, Selection } from "./open-run.ts";
import type { PanelProps } from "./panel.ts";

/** Pixels: the height of a row, as the style sheet has it. */
const ROW = 28;
/** Rows above and below the visible ones, so that a fast scroll shows no gap. */
const SPARE = 10;
/** Pixels: browsers draw no element that is much higher. */
const HIGHEST = 10_000_000;

/** All events as rows. Only the visible rows are in the document. */
export function EventsPanel({ run }: PanelProps) {
  const top = useSignal(0);
  const height = useSignal(800);
  const count = run.shown.value + 1;
  const space = Math.min(count * ROW, HIGHEST);
  // Beyond the highest element a pixel of the scroll bar stands for more than a pixel of rows.
  const reach = Math.max(1, space - height.value);
  const start = ((count * ROW - height.value) * Math.min(top.value, reach)) / reach;
  const first = Math.max(0, Math.floor(Math.max(0, start) / ROW) - SPARE);
  const last = Math.min(count, Math.ceil((Math.max(0, start) + height.value) / ROW) + SPARE) - 1;
  return (
    <div
      class="events"
      tabIndex={0}
      role="region"
      aria-label={plural(count, "event")}
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
        height.value = currentTarget.clientHeight;
      }}
    >
      <div class="events-space" style={{ height: `${space}px` }}>
        <ol start={first} style={{ transform: `translateY(${first * ROW - Math.max(0, start) + top.value}px)` }}>
          {run.timeline.events(first, last).map((event) => (
            <EventRow key={event.seq} run={run} event={event} />
          ))}
        </ol>
      </div>
    </div>
  );
}

function EventRow({ run, event }: { readonly run: OpenRun; readonly event: RunEvent }) {
  const chosen = selectionOf(event);
  const began = run.timeline.event(0)?.time ?? event.time;
  return (
    <li>
      <button
        type="button"
        class="event"
        aria-pressed={isSame(run.selection.value, chosen)}
        onClick={() => {
          run.selection.value = chosen;
        }}
      >
        <span class="event-seq">{event.seq}</span>
        <span class="event-type">{event.type}</span>
        <span class="event-time">+{durationText(event.time - began)}</span>
        <span class="event-text">{visibleText(textOf(event))}</span>
      </button>
    </li>
  );
}

function selectionOf(event: RunEvent): Selection {
  if (event.type === "message") return { kind: "message", id: event.message.id };
  if (event.type === "step.started" || event.type === "step.ended") return { kind: "step", act: event.act, key: event.key };
  if ("act" in event) return { kind: "activation", act: event.act };
  return { kind: "event", seq: event.seq };
}

function isSame(a: Selection | undefined, b: Selection): boolean {
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

/** Characters of a text in a row. */
const MOST = 200;

function textOf(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return `${event.team === "" ? "The team" : event.team}: ${event.roles.map(({ name }) => name).join(", ")}`.slice(0, MOST);
    case "message":
      return event.message.content.slice(0, MOST);
    case "act.started":
    case "act.resumed":
      return event.act;
    case "step.started":
      return `${event.act}  ${event.kind} ${event.name}`;
    case "step.ended":
      return `${event.act}  ${event.ok ? "answered" : event.retry === true ? "failed, tried again" : "failed"}`;
    case "act.ended":
      return `${event.act}  ${event.said.map(({ message }) => message.content.slice(0, MOST)).join(" | ")}`.slice(0, MOST);
    case "act.failed":
      return `${event.act}  ${event.error.message}`.slice(0, MOST);
    case "round.ended":
      return `Round ${event.round} ended: its messages are delivered.`;
    case "role.hired":
      return event.roles
        .map(({ name }) => name)
        .join(", ")
        .slice(0, MOST);
    case "role.retired":
      return event.role;
    case "run.resumed":
      return "The run was resumed.";
    case "run.ended":
      return `The run ended: ${event.status}.`;
  }
}
