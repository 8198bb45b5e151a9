import { edgeText, faultCountsText, schedulerOf, tickText } from "../../inspector/view/run-terms.ts";
import { defined, isRecord } from "../../kernel/value-kind.ts";
import { formatCost, formatUsd, type MicroUsd } from "../../model/money.ts";
import type { RunEvent, Sent, StepEnded } from "../../runtime/record/event.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import { pendingQuestions, plainQuestion } from "../../runtime/record/questions.ts";
import { roleNameIn, type RoleState } from "../../runtime/record/role-state.ts";
import { type DeadLetter, isFinished } from "../../runtime/record/run-state.ts";
import { productName } from "../delivery.ts";
import { readAbout, type RunAbout } from "../about.ts";
import { folderName } from "../host.ts";
import type { Flags } from "../options.ts";
import { nextSteps } from "../report.ts";
import {
  counted,
  elapsed,
  type Fact,
  factLines,
  momentText,
  plural,
  shown,
  type Style,
  tableLines,
  type TextStyle,
  tokensText,
} from "../screen/text.ts";
import { questionRows } from "../screen/question.ts";
import { failureRows, projectText } from "../screen/summary.ts";
import { printResult, resultStyle, type Session } from "../session.ts";
import type { Store } from "../store.ts";
import { type LoadedRun, loadRun, shortIdIn, withRun } from "../stored-run.ts";
import { talkLines } from "../screen/talk.ts";
import { sentText } from "./runs-events.ts";

type RunDetail = Awaited<ReturnType<typeof runDetail>>;
const LISTED = 40;
const MOST_ENTRIES = 1_000;

export function runsShow(session: Session, flags: Flags, id: string): Promise<void> {
  return withRun(session, flags, id, async (store, runId) => {
    const run = await runDetail(store.journal, runId, session.interruptions.signal);
    const short = await shortIdIn(store.journal, runId);
    await printResult(session, { type: "run", ...run, store: store.path }, (o) => [
      ...(session.output.isTalk ? conversation(run, o) : []),
      ...factLines(factsOf(session, run, store, short), o),
      ...roleTable(run.roles, o),
      ...toolTable(run.tools, o),
      ...taskTable(run, o),
      ...noteLines(run, o.style),
      ...(session.output.isTalk ? [] : saidLines(run, o.style)),
      ...deadLines(run.deadLetters, o.style),
    ]);
  });
}

async function runDetail(journal: Journal, runId: string, signal: AbortSignal) {
  const calls = new CallCount();
  const said: (Sent & { readonly seq: number; readonly nth: number })[] = [];
  const visit = (event: RunEvent): void => {
    calls.add(event);
    const sent = event.type === "message" ? [event] : event.type === "act.ended" ? event.said : [];
    for (const [nth, { message, to, dead, dropped, due, faults }] of sent.entries()) {
      said.push({ seq: event.seq, nth, message, to, ...defined({ dead, dropped, due, faults }) });
    }
  };
  const run = await loadRun(journal, runId, { signal, visit });
  const { state } = run;
  return {
    runId,
    ...endOf(run),
    about: readAbout(state.about),
    parent: state.parent,
    events: state.seq,
    rounds: state.round,
    activations: state.activations,
    scheduler: schedulerOf(state),
    clock: state.clock,
    tick: state.tick,
    delayed: state.delayed.size,
    edges: state.edges,
    faults: state.faults,
    began: run.began,
    moved: run.moved,
    budget: state.budget,
    cost: state.ledger.cost(),
    // Micro-dollars reserved by calls that have not ended, and of calls that were in flight when a process died.
    held: state.ledger.held,
    uncertain: state.uncertain,
    usage: state.ledger.usage,
    roles: [...state.roles.values()].map((role) => roleDetail(role, calls)),
    tools: calls.tools(),
    tasks: [...state.board.tasks()].slice(0, MOST_ENTRIES),
    notes: state.board.recentNotes(),
    said,
    deadLetters: state.dead,
    failures: [...state.failures.values()],
    questions: pendingQuestions(state).map(plainQuestion),
    files: run.files.paths,
  };
}

function roleDetail({ name, traits, n, open, waiting, isHired }: RoleState, { answered, failed }: CallCount) {
  const { profile } = (traits["card"] ?? {}) as { readonly profile?: unknown };
  return {
    name,
    profile: typeof profile === "string" ? profile : "",
    activations: n,
    isOpen: open !== undefined,
    isRetired: !isHired,
    calls: answered.get(name) ?? 0,
    failedTries: failed.get(name) ?? 0,
    waiting,
  };
}

function endOf({ state }: LoadedRun) {
  const { phase, seq } = state;
  const none = { error: undefined, isTold: false };
  if (seq === 0) return { status: "empty", ...none } as const;
  if (phase.phase === "running") return { status: "open", ...none } as const;
  const { status, error } = phase;
  if (status === "finished" && !isFinished(state)) return { status: "open", error: undefined, isTold: true } as const;
  return { status, error: error && { code: error.code, message: error.message }, isTold: false };
}

function factsOf(session: Session, run: RunDetail, store: Store, short: string): readonly Fact[] {
  const { about, status, questions, budget, parent, files, usage } = run;
  const name = productName(run.said.map(({ message }) => message));
  const isOurs = about !== undefined && status !== "empty";
  const result = { status: status === "open" || status === "empty" ? "stopped" : status, questions } as const;
  const next = isOurs ? nextSteps(result, { short, store, budget, isForced: false }) : { answers: [] };
  return [
    ["Run", shown(run.runId, 200)],
    ["Idea", about && shown(about.idea, 300)],
    ["Status", statusText(run)],
    ["Fork", parent && `of ${shown(parent.runId, 200)} at event ${parent.at}`],
    ["Model", about && modelText(about)],
    [
      "Project",
      about && `${projectText({ name, out: about.out }, folderName(session.host, about.out))} (${plural(files.length, "file")} written)`,
    ],
    [
      "Began",
      `${momentText(run.began)} UTC, ${plural(run.events, "event")} in ${elapsed(run.moved - run.began)}, ${run.clock === "rounds" ? plural(run.rounds, "round") : plural(run.activations, "activation")}`,
    ],
    ["Order", shown(run.scheduler, 200)],
    ["Time", run.clock === "time" ? tickText(run.tick) : undefined],
    ["Delayed", run.delayed === 0 ? undefined : `${plural(run.delayed, "message")} not due yet`],
    ["Edges", run.edges.length === 0 ? undefined : shown(run.edges.map(edgeText).join("; "), 500)],
    ["Faults", run.edges.length === 0 ? undefined : faultCountsText(run.faults)],
    ["Cost", costText(run)],
    ["Tokens", tokensText(usage)],
    ...failureRows(run.failures, resultStyle(session).style),
    ...questionRows(questions.map((question, nth) => ({ ...question, answer: next.answers[nth] }))),
    ["Go on", next.goOn],
  ];
}

function statusText({ status, error, isTold, questions }: RunDetail): string {
  if (isTold) return "open: it was told something after it had finished";
  const isAsked = questions.some(({ wait }) => wait === undefined);
  if (status === "waiting" && questions.length > 0) return isAsked ? "waiting: a person must answer" : "waiting: for a time or a signal";
  if (status === "open") return "open: it is under way, or its process died";
  return `${status}${error === undefined ? "" : `: ${shown(error.message, 500)} (${shown(error.code, 60)})`}`;
}

function modelText({ model, demo }: RunAbout): string {
  const from = demo === undefined ? "" : `, from the script of ${shown(demo, 60)}`;
  return `${shown(model.id, 100)}${model.baseURL === undefined ? "" : ` at ${shown(model.baseURL, 200)}`}${from}`;
}

function costText({ about, cost, budget, held, uncertain }: RunDetail): string {
  if (about?.demo !== undefined) return `nothing, for the replies are a script; a model would have cost ${formatCost(cost)}`;
  const parts = [
    `${formatCost(cost)}${budget === undefined ? "" : ` of ${formatUsd(budget)}`}`,
    ...(uncertain === 0 ? [] : [`${formatUsd(uncertain)} of it uncertain: for calls that were in flight when the process died`]),
    ...(held === 0 ? [] : [`${formatUsd(held)} held for calls that have not ended`]),
  ];
  return parts.join("; ");
}

function roleTable(roles: readonly ReturnType<typeof roleDetail>[], { style }: TextStyle): readonly string[] {
  if (roles.length === 0) return [];
  const rows = roles.map((role) => [
    shown(role.name, 40),
    `${shown(role.profile === role.name ? "" : role.profile, 40)}${role.isRetired ? " (retired)" : ""}`.trim(),
    `${counted(role.activations)}${role.isOpen ? " +1 open" : ""}`,
    `${counted(role.calls)}${role.failedTries === 0 ? "" : ` (${counted(role.failedTries)} failed)`}`,
    role.waiting === 0 ? "" : counted(role.waiting),
  ]);
  return ["", ...tableLines(["ROLE", "PROFILE", "ACTED", "CALLS", "MAIL"], rows, { style, width: Infinity })];
}

function toolTable(tools: readonly ReturnType<CallCount["tools"]>[number][], { style }: TextStyle): readonly string[] {
  if (tools.length === 0) return [];
  const rows = tools.map(({ role, tool, calls, failed, cost }) => [
    shown(role, 40),
    shown(tool, 60),
    counted(calls),
    failed === 0 ? "" : counted(failed),
    cost.known === 0 && cost.unpriced === 0 ? "" : formatCost({ known: cost.known as MicroUsd, unpriced: cost.unpriced }),
  ]);
  return ["", ...tableLines(["ROLE", "TOOL", "CALLS", "FAILED", "COST"], rows, { style, width: Infinity })];
}

function taskTable({ tasks }: RunDetail, { style }: TextStyle): readonly string[] {
  if (tasks.length === 0) return [];
  const sorted = tasks.toSorted((one, other) => Number(one.state.kind === "done") - Number(other.state.kind === "done"));
  const rows = sorted.slice(0, LISTED).map(({ id, title, owner = "", state }) => {
    const why = "reason" in state ? state.reason : "result" in state ? state.result : undefined;
    return [shown(id, 40), state.kind, shown(owner, 40), shown(title, 60), shown(why ?? "", 80)];
  });
  const more = tasks.length > LISTED ? [style.faint(`  and ${plural(tasks.length - LISTED, "task")} more`)] : [];
  return ["", ...tableLines(["TASK", "STATE", "OWNER", "TITLE", "SAID"], rows, { style, width: Infinity }), ...more];
}

function noteLines({ notes }: RunDetail, style: Style): readonly string[] {
  if (notes.length === 0) return [];
  const lines = notes.slice(0, LISTED).map(({ name, version, by, text }) => {
    return `  ${shown(name, 64)}, version ${version} by ${shown(by, 40)}: ${shown(text, 200)}`;
  });
  return ["", style.faint("  NOTES"), ...lines];
}

function saidLines({ said }: RunDetail, style: Style): readonly string[] {
  if (said.length === 0) return [];
  const lines = said.slice(-LISTED).map((one) => `${`${one.seq}${one.nth === 0 ? "" : `.${one.nth}`}`.padStart(6)}  ${sentText(one)}`);
  const more = said.length > LISTED ? [style.faint(`        and ${plural(said.length - LISTED, "message")} before`)] : [];
  return ["", style.faint(" EVENT  SAID"), ...more, ...lines];
}

function conversation({ said, roles }: RunDetail, { style, width }: TextStyle): readonly string[] {
  const profiles = new Map(roles.map(({ name, profile }) => [name, profile]));
  return [...said.flatMap((sent) => talkLines(sent, { style, width, profiles })), ""];
}

function deadLines(dead: readonly DeadLetter[], style: Style): readonly string[] {
  if (dead.length === 0) return [];
  const lines = dead.slice(0, LISTED).map(({ message, reason }) => {
    return `  ${shown(message.causeBy, 60)} of ${shown(message.sentFrom, 60)}: ${whyDead(reason)}`;
  });
  const more = dead.length > LISTED ? [`  and ${dead.length - LISTED} more`] : [];
  return ["", style.warn(plural(dead.length, "dead letter")), ...lines, ...more];
}

function whyDead(reason: DeadLetter["reason"]): string {
  switch (reason.kind) {
    case "failed":
      return `${shown(reason.role, 60)} failed: ${shown(reason.error.message, 200)}`;
    case "retired":
      return `${shown(reason.role, 60)} was retired before it read this`;
    case "crashed":
      return `${shown(reason.role, 60)} crashed before it read this`;
    case "no such address":
      return `nobody is ${shown(reason.address, 60)}`;
  }
}

/** Calls of a tool, the micro-dollars of them and of what ran inside them, and how many of those had no known price. */
const noUse = (role: string, tool: string) => ({ role, tool, calls: 0, failed: 0, known: 0, unpriced: 0 });

type Sum = ReturnType<typeof noUse>;

/**
 * Counts the calls of models and tools in the events of a run, in their order. It owns the sums, and what each step belongs to.
 *
 * CallCount.C1 (`#models`) only the ends of model steps count as calls of a model. CallCount.C2 (`#steps`) a step inside the call of a tool
 * adds its cost to that tool and is no call, unless it is the call of a tool itself. CallCount.C3 (`#end`) a call of a tool is counted once,
 * at the end of its last try. The costs of all its tries count.
 */
export class CallCount {
  readonly answered = new Map<string, number>();
  readonly failed = new Map<string, number>();
  readonly #models = new Set<string>();
  readonly #sums = new Map<string, Sum>();
  readonly #steps = new Map<string, { readonly sum: Sum; readonly isCall: boolean }>();

  add(event: RunEvent): void {
    if (event.type === "step.ended") return this.#end(event);
    if (event.type !== "step.started") return;
    const step = `${event.act} ${event.key}`;
    if (event.kind === "model") this.#models.add(step);
    const isCall = event.kind === "tool";
    const within = event.in === undefined ? undefined : this.#steps.get(`${event.act} ${event.in}`)?.sum;
    const sum = isCall ? this.#sumOf(roleNameIn(event.act), event.name) : within;
    if (sum !== undefined) this.#steps.set(step, { sum, isCall });
  }

  tools() {
    return [...this.#sums.values()].map(({ known, unpriced, ...rest }) => ({ ...rest, cost: { known, unpriced } }));
  }

  #end(event: StepEnded): void {
    const step = `${event.act} ${event.key}`;
    if (this.#models.has(step)) {
      const counts = event.ok ? this.answered : this.failed;
      counts.set(roleNameIn(event.act), (counts.get(roleNameIn(event.act)) ?? 0) + 1);
    }
    const found = this.#steps.get(step);
    if (found === undefined) return;
    const { sum, isCall } = found;
    for (const one of [event, ...(event.settles ?? [])]) sum.known += one.cost ?? 0;
    if (event.cost === null && event.basis !== "none") sum.unpriced += 1;
    if (!isCall || event.retry === true) return;
    sum.calls += 1;
    const outcome = isRecord(event.value) ? event.value["outcome"] : undefined;
    if (!event.ok || (outcome !== undefined && outcome !== "ok")) sum.failed += 1;
  }

  #sumOf(role: string, tool: string): Sum {
    const key = JSON.stringify([role, tool]);
    const sum = this.#sums.get(key) ?? noUse(role, tool);
    this.#sums.set(key, sum);
    return sum;
  }
}
