import type { ActEnded, ActFailed, Observed, StepEnded, StepStarted } from "../../runtime/record/event.ts";
import { settledMore } from "../../runtime/record/lost-tries.ts";
import { roleNameIn } from "../../runtime/record/role-state.ts";
import { deliveryOf, outcomesText, testsOf } from "../delivery.ts";
import { shown } from "./text.ts";

export interface OpenStep {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly topic: string | undefined;
  /** The id of the task of a product that it belongs to, if it names one. */
  readonly task: string | undefined;
  readonly try: number;
  streamed: number;
  news?: string;
  isRetrying: boolean;
}

export interface RoleProgress {
  readonly name: string;
  work: { readonly action: string | undefined; step: OpenStep | undefined } | undefined;
  /** True while its activation has not ended: it continues after a stop. */
  isOpen: boolean;
  last: { readonly kind: "said" | "failed"; readonly text: string } | undefined;
  tokens: number;
}

/** Notices come at once and events when they are durable: notices alone decide whether a role works, and events alone how that ended. */
export class Progress {
  readonly roles = new Map<string, RoleProgress>();
  /** True once a step belonged to a task: the product is made in parts. */
  hasTasks = false;
  rounds = 0;
  isMidRound = false;
  spent = 0;
  unpriced = 0;
  tokens = 0;

  add(observed: Observed): void {
    const role = this.roles.get("role" in observed ? (observed.role ?? "") : "act" in observed ? roleNameIn(observed.act) : "");
    const { work } = role ?? {};
    switch (observed.type) {
      case "run.started":
        for (const { name } of observed.roles) this.roles.set(name, { name, work: undefined, isOpen: false, last: undefined, tokens: 0 });
        break;
      case "role.active":
        this.isMidRound = true;
        if (role !== undefined) Object.assign(role, { isOpen: true, work: { action: undefined, step: undefined } });
        break;
      case "role.idle":
        if (role !== undefined) role.work = undefined;
        break;
      case "action.started":
        if (role !== undefined && work !== undefined) role.work = { action: observed.action, step: undefined };
        break;
      case "step.started":
        if (taskOf(observed) !== undefined) this.hasTasks = true;
        if (work !== undefined) work.step = openStep(observed);
        break;
      case "step.ended":
        this.#stepEnded(role, observed);
        break;
      case "act.ended":
      case "act.failed":
        if (role !== undefined) Object.assign(role, { isOpen: false, last: lastOf(observed) ?? role.last });
        break;
      case "run.resumed":
        this.spent += observed.uncertain.reduce((sum, { hold }) => sum + hold, 0);
        break;
      case "run.settled":
        this.#pay(settledMore(observed.settles));
        break;
      case "round.ended":
        if (observed.stage === undefined) Object.assign(this, { rounds: observed.round + 1, isMidRound: false });
        break;
      default:
        if (work?.step !== undefined) stepNews(work.step, observed);
    }
  }

  #pay({ known, unpriced }: { readonly known: number; readonly unpriced: number }): void {
    this.spent += known;
    this.unpriced += unpriced;
  }

  #stepEnded(role: RoleProgress | undefined, { key, retry, cost, basis, usage, settles }: StepEnded): void {
    const tokens = tokensOf(usage);
    this.tokens += tokens;
    this.#pay({ known: cost ?? 0, unpriced: cost === null && basis !== "none" ? 1 : 0 });
    this.#pay(settledMore(settles));
    if (role === undefined) return;
    role.tokens += tokens;
    const { work } = role;
    if (work?.step?.key !== key) return;
    if (retry === true) work.step.isRetrying = true;
    else work.step = undefined;
  }
}

/** Questions may be asked in parallel: only notices of the try that is shown change it. */
function stepNews(step: OpenStep, observed: Observed): void {
  if (observed.type === "tool.progress" && step.key === observed.step) step.news = observed.text;
  if (observed.type !== "model.delta" && observed.type !== "model.void") return;
  if (step.key !== observed.step || step.try !== observed.try) return;
  step.streamed = observed.type === "model.void" ? 0 : step.streamed + observed.text.length;
}

/** A role that said nothing keeps its result from before. */
function lastOf(event: ActEnded | ActFailed): RoleProgress["last"] {
  if (event.type === "act.failed") return { kind: "failed", text: event.error.message };
  return event.said.length === 0 ? undefined : { kind: "said", text: saidText(event) };
}

function tokensOf(usage: unknown): number {
  const { inputTokens, outputTokens } = (usage ?? {}) as { readonly inputTokens?: unknown; readonly outputTokens?: unknown };
  return (typeof inputTokens === "number" ? inputTokens : 0) + (typeof outputTokens === "number" ? outputTokens : 0);
}

export function nameText(name: string, profiles: ReadonlyMap<string, string>): string {
  const profile = profiles.get(name) ?? "";
  return profile === "" || profile === name ? shown(name, 60) : `${shown(name, 60)}, ${shown(profile, 60)}`;
}

export function topicOf(request: unknown): string | undefined {
  const { path, messages } = (request ?? {}) as { readonly path?: unknown; readonly messages?: unknown };
  if (typeof path === "string") return path;
  const questions: unknown[] = Array.isArray(messages)
    ? messages.map((message) => (message as { readonly content?: unknown } | null)?.content)
    : [];
  const topics = questions.flatMap((content) => (typeof content === "string" ? (TOPIC.exec(content)?.[1]?.trim() ?? []) : []));
  return topics.at(-1);
}

/** The step in which a company checks its product, or a part of it. */
export const CHECKS = "verify project";

function taskOf({ name, request }: StepStarted): string | undefined {
  const { task } = (request ?? {}) as { readonly task?: unknown };
  return name === CHECKS && typeof task === "string" && task !== "" ? task : undefined;
}

/** The heading of a question, which in a company follows the role: what all roles read comes first. */
const TOPIC = /(?:^|\n## Your role\n[^\n]*\n\n)# ([^\n]*)/;

export function saidText({ said }: ActEnded): string {
  const parts = said.map(({ message }) => {
    const delivery = deliveryOf([message]);
    const outcomes = delivery && outcomesText(delivery);
    if (outcomes !== undefined) return outcomes === "" ? message.causeBy : `${message.causeBy} (${outcomes})`;
    const tests = testsOf([message]);
    if (tests === undefined) return message.causeBy;
    return `${message.causeBy} (${tests.tests === "failed" ? `${tests.failed} of ${tests.total} failed` : tests.tests})`;
  });
  const speech = said.find(({ message }) => message.speech !== undefined)?.message.speech;
  return `${[...new Set(parts)].join(", ")}${speech === undefined ? "" : `: ${speech}`}`;
}

function openStep(started: StepStarted): OpenStep {
  const { key, kind, name, request, try: attempt } = started;
  return { key, kind, name, topic: topicOf(request), task: taskOf(started), try: attempt, streamed: 0, isRetrying: false };
}
