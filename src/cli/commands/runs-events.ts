import { flowGraphviz, flowMermaid } from "../../inspector/flow-drawing.ts";
import { type MessageFlow, messageFlow } from "../../inspector/message-flow.ts";
import { edgeText, faultsText, resumeText, schedulerText, tickText } from "../../inspector/view/run-terms.ts";
import type {
  ActEnded,
  EdgeFault,
  RunEvent,
  RunResumed,
  RunStarted,
  Sent,
  SettledTry,
  StepEnded,
  StepStarted,
} from "../../runtime/record/event.ts";
import { runInfo } from "../../runtime/record/journal.ts";
import { settledMore } from "../../runtime/record/lost-tries.ts";
import type { Flags } from "../options.ts";
import { escapedJson } from "../output.ts";
import { column, counted, elapsed, plural, shown } from "../screen/text.ts";
import { saidText, topicOf } from "../screen/progress.ts";
import { printLines, printResult, type Session } from "../session.ts";
import { eventAt, eventsOf, withRun } from "../stored-run.ts";

const SEQ = 6;
const TYPE = 14;

export async function runsEvents(session: Session, flags: Flags, id: string): Promise<void> {
  const { from = 0, type } = flags;
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const info = await runInfo(journal, runId);
    const began = (await eventAt(journal, info, 0))?.time;
    await printLines(session, eventLines(journal.read(runId, from), { isJson: session.output.isJson, began, type }));
  });
}

/** The lines of events. @param o.began milliseconds of the run's first event; default: of the first one here */
export async function* eventLines(
  events: AsyncIterable<RunEvent>,
  o: { readonly isJson: boolean; readonly began?: number | undefined; readonly type?: string | undefined },
): AsyncIterable<string> {
  let { began } = o;
  for await (const event of events) {
    began ??= event.time;
    if (o.type !== undefined && event.type !== o.type) continue;
    yield o.isJson ? escapedJson(JSON.stringify(event)) : eventLine(event, began);
  }
}

export function eventLine(event: RunEvent, began: number): string {
  const when = `+${elapsed(event.time - began)}`;
  return `${String(event.seq).padStart(SEQ)}  ${when.padEnd(8)}  ${column(event.type, TYPE)}  ${eventText(event)}`.trimEnd();
}

function eventText(event: RunEvent): string {
  switch (event.type) {
    case "run.started":
      return startedText(event);
    case "message":
      return sentText(event, "outside");
    case "act.started":
      return `${shown(event.act, 80)} takes ${event.take}`;
    case "act.resumed":
      return shown(event.act, 80);
    case "step.started":
      return `${shown(event.act, 80)} ${startText(event)}`;
    case "step.ended":
      return `${shown(event.act, 80)} ${endText(event)}`;
    case "act.ended":
      return `${shown(event.act, 80)} ${event.said.length === 0 ? "says nothing" : `says ${shown(saidText(event), 200)}${wayText(event)}`}`;
    case "act.failed":
      return `${shown(event.act, 80)} ${event.then}: ${shown(event.error.message, 200)}`;
    case "round.ended":
      return event.stage === undefined ? String(event.round) : `${event.round}, stage ${event.stage}`;
    case "clock.advanced":
      return `${tickText(event.tick)}${event.role === undefined ? "" : `, ${shown(event.role, 60)} acts`}`;
    case "choice.made":
      return `${event.id === undefined ? "" : `${shown(event.id, 80)} to `}${shown(event.role, 40)} ${event.fate}`;
    case "role.hired":
      return event.roles.map(({ name }) => shown(name, 40)).join(", ");
    case "role.taken":
      return `${shown(event.role, 80)}${event.back === true ? " given back" : event.by === undefined ? "" : ` by ${shown(event.by, 80)}`}`;
    case "role.retired":
      return shown(event.role, 80);
    case "run.resumed":
      return resumedText(event);
    case "run.settled":
      return `${plural(event.settles.length, "lost call")}${settledText(event.settles)}`;
    case "run.ended":
      return `${event.status}${event.error === undefined ? "" : `: ${shown(event.error.message, 200)}`}`;
    case "run.erased":
      return plural(event.texts, "text");
  }
}

function wayText({ said }: ActEnded): string {
  const faults = said.flatMap((sent) => sent.faults ?? []);
  return faults.length === 0 ? "" : `, on the way: ${shown(faultsText(faults), 120)}`;
}

function startedText(event: RunStarted): string {
  const edges = event.edges === undefined ? "" : `, edges: ${shown(event.edges.map(edgeText).join("; "), 200)}`;
  const parts = [
    shown(event.team, 60),
    plural(event.roles.length, "role"),
    shown(schedulerText(event), 120),
    `seed ${shown(event.seed, 40)}`,
  ];
  return `${parts.join(", ")}${edges}`;
}

function recipientText(name: string, fault: EdgeFault | undefined): string {
  if (fault === undefined) return shown(name, 40);
  const { arrives } = fault;
  const first = arrives[0];
  const said = [
    ...(first === undefined ? ["lost"] : []),
    ...(first?.due === undefined ? [] : [`at ${tickText(first.due)}`]),
    ...(arrives.some(({ reads }) => reads !== undefined) ? ["rewritten"] : []),
    ...(arrives.length > 1 ? [`${arrives.length} times`] : []),
  ];
  return `${shown(name, 40)}${said.length === 0 ? "" : ` (${said.join(", ")})`}`;
}

export function sentText({ message, to, dropped, due, faults = [] }: Sent, publisher: string = message.sentFrom): string {
  const named = new Map(faults.map((fault) => [fault.to, fault]));
  const reached = to.length === 0 ? "nobody" : to.map((name) => recipientText(name, named.get(name))).join(", ");
  const recipients = dropped === true ? "nobody, for it was dropped" : `${reached}${due === undefined ? "" : ` at ${tickText(due)}`}`;
  const from = shown(publisher === "" ? "outside" : publisher, 40);
  return `${from} to ${recipients}, ${shown(message.causeBy, 40)}: ${shown(message.content, 80)}`;
}

function startText({ kind, name, try: attempt, request, reused }: StepStarted): string {
  const topic = topicOf(request);
  const about = topic === undefined ? "" : ` ${shown(topic, 120)}`;
  const again = attempt > 1 ? `, try ${attempt}` : "";
  return `${shown(kind, 20)} ${shown(name, 60)}${about}${again}${reused === undefined ? "" : `, answered by event ${reused} of its parent`}`;
}

function resumedText(event: RunResumed): string {
  const { uncertain } = event;
  const steps = uncertain.length === 0 ? [] : [`${plural(uncertain.length, "step")} in flight before`];
  return [resumeText(event), ...steps].filter((part) => part !== "").join(", ");
}

function settledText(settles: readonly SettledTry[]): string {
  const kept = settles.reduce((sum, { hold }) => sum + hold, 0);
  return ` settled at ${counted(kept + settledMore(settles).known)} of ${counted(kept)} micro-dollars`;
}

function endText({ ok, retry, error, cost, basis, settles }: StepEnded): string {
  const price = basis === "none" || cost === null ? "" : `, ${counted(cost)} micro-dollars`;
  if (settles !== undefined) return `answered${price}, ${plural(settles.length, "lost try", "lost tries")}${settledText(settles)}`;
  if (ok) return `answered${price}`;
  return `${retry === true ? "failed, to be tried again" : "failed"}: ${shown(error?.message ?? "cut short", 200)}${price}`;
}

const FORMATS = { mermaid: flowMermaid, dot: flowGraphviz } satisfies Record<NonNullable<Flags["format"]>, (flow: MessageFlow) => string>;

export function runsFlow(session: Session, flags: Flags, id: string): Promise<void> {
  const format = flags.format ?? "mermaid";
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const flow = messageFlow(await eventsOf(journal, runId, session.interruptions.signal));
    await printResult(session, { type: "flow", runId, ...flow }, () => FORMATS[format](flow).split("\n"));
  });
}
