import type { RunEvent, Sent } from "../../runtime/record/event.ts";
import { saidText, topicOf } from "./progress.ts";
import { column, counted, elapsed, plural, shown } from "./text.ts";

/** Cells of an event's number and of its type. */
const SEQ = 6;
const TYPE = 12;

/** An event on one line: its number, when it came, and what it tells. @param began milliseconds of the run's first event */
export function eventLine(event: RunEvent, began: number): string {
  const when = `+${elapsed(event.time - began)}`;
  return `${String(event.seq).padStart(SEQ)}  ${when.padEnd(8)}  ${column(event.type, TYPE)}  ${eventText(event)}`.trimEnd();
}

/** What an event tells, in a few words. */
function eventText(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return `${shown(event.team, 60)}, ${event.roles.length} roles, ${shown(event.scheduler, 20)}, seed ${shown(event.seed, 40)}`;
    case "message":
      return sentText(event, "outside");
    case "act.started":
      return `${shown(event.act, 80)} takes ${event.take}`;
    case "act.resumed":
      return shown(event.act, 80);
    case "step.started":
      return `${shown(event.act, 80)} ${stepText(event)}`;
    case "step.ended":
      return `${shown(event.act, 80)} ${endText(event)}`;
    case "act.ended":
      return `${shown(event.act, 80)} ${event.said.length === 0 ? "says nothing" : `says ${shown(saidText(event), 200)}`}`;
    case "act.failed":
      return `${shown(event.act, 80)} ${event.then}: ${shown(event.error.message, 200)}`;
    case "round.ended":
      return String(event.round);
    case "run.resumed":
      return event.uncertain.length === 0 ? "" : `${plural(event.uncertain.length, "step")} in flight before`;
    case "run.ended":
      return `${event.status}${event.error === undefined ? "" : `: ${shown(event.error.message, 200)}`}`;
  }
}

/** A message: who said it to whom, and how it begins. */
export function sentText({ message, to, dropped }: Sent, publisher: string = message.sentFrom): string {
  const hearers =
    dropped === true ? "nobody, for it was dropped" : to.length === 0 ? "nobody" : to.map((name) => shown(name, 40)).join(", ");
  return `${shown(publisher === "" ? "outside" : publisher, 40)} to ${hearers}, ${shown(message.causeBy, 40)}: ${shown(message.content, 80)}`;
}

function stepText({ kind, name, try: attempt, request, reused }: Extract<RunEvent, { type: "step.started" }>): string {
  const topic = topicOf(request);
  const about = topic === undefined ? "" : ` ${shown(topic, 120)}`;
  const again = attempt > 1 ? `, try ${attempt}` : "";
  return `${shown(kind, 20)} ${shown(name, 60)}${about}${again}${reused === undefined ? "" : `, answered by event ${reused} of its parent`}`;
}

function endText({ ok, retry, error, cost, basis }: Extract<RunEvent, { type: "step.ended" }>): string {
  const price = basis === "none" || cost === null ? "" : `, ${counted(cost)} micro-dollars`;
  if (ok) return `answered${price}`;
  return `${retry === true ? "tried in vain" : "failed"}: ${shown(error?.message ?? "cut short", 200)}${price}`;
}
