import type { ActEnded, Observed, StepEnded, StepStarted } from "../../runtime/record/event.ts";
import { settledMore } from "../../runtime/record/lost-tries.ts";
import { deliveryOf, outcomesText, testsOf } from "../delivery.ts";
import { shown } from "./text.ts";

export interface PresentWork {
  readonly action: string | undefined;
  readonly step: OpenStep | undefined;
}

export interface OpenStep {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly topic: string | undefined;
  readonly try: number;
  readonly streamed: number;
  readonly news?: string | undefined;
  /** True when a try failed and the next one has not begun. */
  readonly isRetrying: boolean;
}

export type LastResult = { readonly kind: "said"; readonly text: string } | { readonly kind: "failed"; readonly message: string };

export interface RoleProgress {
  readonly name: string;
  readonly work: PresentWork | undefined;
  /** True while its activation has not ended: it continues after a stop. */
  readonly isOpen: boolean;
  readonly last: LastResult | undefined;
  readonly tokens: number;
}

export interface Progress {
  readonly roles: readonly RoleProgress[];
  readonly rounds: number;
  readonly isMidRound: boolean;
  readonly spent: number;
  readonly unpriced: number;
  readonly tokens: number;
}

export const noProgress: Progress = { roles: [], rounds: 0, isMidRound: false, spent: 0, unpriced: 0, tokens: 0 };

/**
 * The progress after one more event or notice. Notices come at once and events when they are durable: a notice that a role is idle may come
 * before the event with its messages. So notices alone decide whether a role works, and events alone decide how that ended.
 */
export function progressAfter(progress: Progress, observed: Observed): Progress {
  switch (observed.type) {
    case "run.started":
      return {
        ...progress,
        roles: observed.roles.map(({ name }) => ({ name, work: undefined, isOpen: false, last: undefined, tokens: 0 })),
      };
    case "role.active": {
      const work = { action: undefined, step: undefined };
      return withRole({ ...progress, isMidRound: true }, observed.role, (role) => ({ ...role, isOpen: true, work }));
    }
    case "role.idle":
      return withRole(progress, observed.role, (role) => ({ ...role, work: undefined }));
    case "action.started":
      return withWork(progress, observed.role, () => ({ action: observed.action, step: undefined }));
    case "step.started":
      return withWork(progress, roleOfAct(observed.act), (work) => ({ ...work, step: openStep(observed) }));
    case "model.delta":
      return withTry(progress, observed, (step) => ({ ...step, streamed: step.streamed + observed.text.length }));
    case "tool.progress":
      return withWork(progress, observed.role, (work) =>
        withStep(work, (step) => (step.key === observed.step ? { ...step, news: observed.text } : step)),
      );
    case "model.void":
      return withTry(progress, observed, (step) => ({ ...step, streamed: 0 }));
    case "step.ended":
      return stepEnded(progress, observed);
    case "act.ended":
      return ended(progress, observed.role, observed.said.length === 0 ? undefined : { kind: "said", text: saidText(observed) });
    case "act.failed":
      return ended(progress, observed.role, { kind: "failed", message: observed.error.message });
    case "run.resumed":
      return { ...progress, spent: progress.spent + observed.uncertain.reduce((sum, { hold }) => sum + hold, 0) };
    case "run.settled":
      return withSpent(progress, settledMore(observed.settles));
    case "round.ended":
      return observed.stage === undefined ? { ...progress, rounds: observed.round + 1, isMidRound: false } : progress;
    default:
      return progress;
  }
}

/** The role of an activation: its name may hold a `#` of its own. */
export function roleOfAct(act: string): string {
  return act.slice(0, act.lastIndexOf("#"));
}

function tokensOf(usage: unknown): number {
  const { inputTokens, outputTokens } = (usage ?? {}) as { readonly inputTokens?: unknown; readonly outputTokens?: unknown };
  return (typeof inputTokens === "number" ? inputTokens : 0) + (typeof outputTokens === "number" ? outputTokens : 0);
}

/** The name of a role and, where it is another word, its profile. */
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
  const headed = questions.findLast((content) => typeof content === "string" && content.startsWith("# "));
  return typeof headed === "string" ? headed.slice(2).split("\n", 1)[0]?.trim() : undefined;
}

export function saidText({ said }: ActEnded): string {
  const parts = said.map(({ message }) => {
    const delivery = deliveryOf([message]);
    if (delivery !== undefined) return `${message.causeBy} (${outcomesText(delivery)})`;
    const tests = testsOf([message]);
    if (tests === undefined) return message.causeBy;
    return `${message.causeBy} (${tests.tests === "failed" ? `${tests.failed} of ${tests.total} failed` : tests.tests})`;
  });
  return [...new Set(parts)].join(", ");
}

function withRole(progress: Progress, name: string, change: (role: RoleProgress) => RoleProgress): Progress {
  return { ...progress, roles: progress.roles.map((role) => (role.name === name ? change(role) : role)) };
}

/** A role that said nothing keeps its result from before. */
function ended(progress: Progress, name: string, last: LastResult | undefined): Progress {
  return withRole(progress, name, (role) => ({ ...role, isOpen: false, last: last ?? role.last }));
}

function withWork(progress: Progress, name: string, change: (work: PresentWork) => PresentWork): Progress {
  return withRole(progress, name, (role) => (role.work === undefined ? role : { ...role, work: change(role.work) }));
}

function withStep(work: PresentWork, change: (step: OpenStep) => OpenStep | undefined): PresentWork {
  return work.step === undefined ? work : { ...work, step: change(work.step) };
}

/** Questions may be asked in parallel: only notices of the try that is shown change it. */
function withTry(progress: Progress, notice: { role: string; step: string; try: number }, change: (step: OpenStep) => OpenStep): Progress {
  return withWork(progress, notice.role, (work) =>
    withStep(work, (step) => (step.key === notice.step && step.try === notice.try ? change(step) : step)),
  );
}

function openStep({ key, kind, name, try: attempt, request }: StepStarted): OpenStep {
  return { key, kind, name, topic: topicOf(request), try: attempt, streamed: 0, isRetrying: false };
}

function withSpent(progress: Progress, { known, unpriced }: { readonly known: number; readonly unpriced: number }): Progress {
  return { ...progress, spent: progress.spent + known, unpriced: progress.unpriced + unpriced };
}

function stepEnded(progress: Progress, { act, key, retry, cost, basis, usage, settles }: StepEnded): Progress {
  const tokens = tokensOf(usage);
  const after = (step: OpenStep): OpenStep | undefined =>
    step.key !== key ? step : retry === true ? { ...step, isRetrying: true } : undefined;
  const name = roleOfAct(act);
  const worked = withWork(progress, name, (work) => withStep(work, after));
  const counted = withRole(worked, name, (role) => ({ ...role, tokens: role.tokens + tokens }));
  const paid = withSpent(counted, { known: cost ?? 0, unpriced: cost === null && basis !== "none" ? 1 : 0 });
  return { ...withSpent(paid, settledMore(settles)), tokens: progress.tokens + tokens };
}
