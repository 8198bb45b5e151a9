import { useSignal } from "@preact/signals";
import type { RunEvent } from "../../runtime/record/event.ts";
import type { PanelProps } from "./panel.ts";
import type { Selection } from "./open-run.ts";

/** Pixels: the height of a row, as the style sheet has it. */
const ROW = 28;
/** Rows above and below the visible ones, so that a fast scroll shows no gap. */
const SPARE = 10;

/** All events as rows. Only the visible rows are in the document. */
export function EventsPanel({ run }: PanelProps) {
  const top = useSignal(0);
  const height = useSignal(600);
  const count = run.shown.value + 1;
  const first = Math.max(0, Math.floor(top.value / ROW) - SPARE);
  const last = Math.min(count, Math.ceil((top.value + height.value) / ROW) + SPARE);
  const rows = run.events.slice(first, last);
  return (
    <div
      class="events"
      tabIndex={0}
      role="region"
      aria-label={`${count} events`}
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
        height.value = currentTarget.clientHeight;
      }}
    >
      <div class="events-space" style={{ height: `${count * ROW}px` }}>
        <ol class="events-rows" start={first} style={{ transform: `translateY(${first * ROW}px)` }}>
          {rows.map((event) => (
            <li key={event.seq}>
              <button
                type="button"
                class="event"
                aria-pressed={run.selection.value?.kind === "event" && run.selection.value.seq === event.seq}
                onClick={() => {
                  run.selection.value = selectionOf(event);
                }}
              >
                <span class="event-seq">{event.seq}</span>
                <span class="event-type">{event.type}</span>
                <span class="event-text">{textOf(event)}</span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function selectionOf(event: RunEvent): Selection {
  if (event.type === "message") return { kind: "message", id: event.message.id };
  if (event.type === "step.started" || event.type === "step.ended") return { kind: "step", act: event.act, key: event.key };
  if ("act" in event) return { kind: "activation", act: event.act };
  return { kind: "event", seq: event.seq };
}

/** Characters of a text in a row. */
const MOST = 200;

function textOf(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return `${event.team}: ${event.roles.map(({ name }) => name).join(", ")}`;
    case "message":
      return event.message.content.slice(0, MOST);
    case "act.started":
    case "act.resumed":
      return event.act;
    case "step.started":
    case "step.ended":
      return `${event.act} ${event.type === "step.started" ? `${event.kind} ${event.name}` : event.ok ? "answered" : "failed"}`;
    case "act.ended":
      return `${event.act} ${event.said.map(({ message }) => message.content.slice(0, MOST)).join(" | ")}`.slice(0, MOST);
    case "act.failed":
      return `${event.act} ${event.error.message}`.slice(0, MOST);
    case "round.ended":
      return `round ${event.round}`;
    case "run.resumed":
      return event.hired === true ? "hired" : "resumed";
    case "run.ended":
      return event.status;
  }
}
