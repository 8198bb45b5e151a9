import type { Cost } from "../model/money.ts";
import type { UsageSum } from "../model/ledger.ts";
import type { RunEvent, RunStatus, Sent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { pendingQuestions, type PendingQuestion } from "../runtime/record/questions.ts";
import type { RoleState } from "../runtime/record/role-state.ts";
import type { DeadLetter } from "../runtime/record/run-state.ts";
import { readAbout, type RunAbout } from "./about.ts";
import { type LoadedRun, loadRun } from "./loaded-run.ts";
import { roleOfAct } from "./screen/progress.ts";

/** What one role did in a run. */
export interface RoleDetail {
  readonly name: string;
  readonly profile: string;
  /** Activations that have ended, and whether one is open. */
  readonly activations: number;
  readonly isOpen: boolean;
  /** Answers of models, and tries that were in vain. */
  readonly calls: number;
  readonly failedTries: number;
  /** Messages in its mailbox. */
  readonly waiting: number;
}

/** A message, and the event that tells of it. */
export interface SaidDetail extends Sent {
  readonly seq: number;
  /** Which of the event's messages, from 0. */
  readonly nth: number;
}

/** Everything there is to tell of a run at a glance. */
export interface RunDetail {
  readonly runId: string;
  readonly status: RunStatus | "open" | "empty";
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly about: RunAbout | undefined;
  readonly parent: { readonly runId: string; readonly at: number } | undefined;
  readonly events: number;
  readonly rounds: number;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly moved: number;
  readonly budget: number | undefined;
  readonly cost: Cost;
  /** Micro-dollars reserved by calls that have not ended. */
  readonly held: number;
  /** Micro-dollars of calls that were in flight when a process died. */
  readonly uncertain: number;
  readonly usage: UsageSum;
  readonly roles: readonly RoleDetail[];
  readonly said: readonly SaidDetail[];
  readonly deadLetters: readonly DeadLetter[];
  readonly questions: readonly PendingQuestion[];
  /** What the roles wrote. */
  readonly files: readonly string[];
  /** Why the record could not be read further; all else is what stands before. */
  readonly trouble: { readonly code: string; readonly message: string } | undefined;
}

/** Reads a run and tells what is in it, as far as its record is whole. @throws JournalError, ControlError */
export async function runDetail(journal: Journal, runId: string, signal: AbortSignal): Promise<RunDetail> {
  const calls = new Calls();
  const said: SaidDetail[] = [];
  const visit = (event: RunEvent): void => {
    calls.add(event);
    for (const [nth, sent] of saidIn(event).entries()) {
      const { message, to, dead, dropped } = sent;
      said.push({
        seq: event.seq,
        nth,
        message,
        to,
        ...(dead === undefined ? {} : { dead }),
        ...(dropped === undefined ? {} : { dropped }),
      });
    }
  };
  const run = await loadRun(journal, runId, { signal, isTolerant: true, visit });
  const { state, trouble } = run;
  return {
    runId,
    ...endOf(run),
    about: readAbout(state.about),
    parent: state.parent,
    events: state.seq,
    rounds: state.round,
    began: run.began,
    moved: run.moved,
    budget: state.budget,
    cost: state.ledger.cost(),
    held: state.ledger.held,
    uncertain: state.uncertain,
    usage: state.ledger.usage,
    roles: [...state.roles.values()].map((role) => roleDetail(role, calls)),
    said,
    deadLetters: state.dead,
    questions: pendingQuestions(state).map(({ id, role, text }) => ({ id, role, text })),
    files: run.files.paths,
    trouble: trouble === undefined ? undefined : { code: trouble.code, message: trouble.message },
  };
}

/** Counts the calls of models by role. */
class Calls {
  readonly answered = new Map<string, number>();
  readonly failed = new Map<string, number>();
  readonly #models = new Set<string>();

  add(event: RunEvent): void {
    if (event.type === "step.started" && event.kind === "model") this.#models.add(`${event.act} ${event.key}`);
    if (event.type !== "step.ended" || !this.#models.has(`${event.act} ${event.key}`)) return;
    const counts = event.ok ? this.answered : this.failed;
    const role = roleOfAct(event.act);
    counts.set(role, (counts.get(role) ?? 0) + 1);
  }
}

function roleDetail({ name, traits, n, open, waiting }: RoleState, { answered, failed }: Calls): RoleDetail {
  const { profile } = (traits["card"] ?? {}) as { readonly profile?: unknown };
  return {
    name,
    profile: typeof profile === "string" ? profile : "",
    activations: n,
    isOpen: open !== undefined,
    calls: answered.get(name) ?? 0,
    failedTries: failed.get(name) ?? 0,
    waiting,
  };
}

function endOf({ state }: LoadedRun): Pick<RunDetail, "status" | "error"> {
  const { phase, seq } = state;
  if (seq === 0) return { status: "empty", error: undefined };
  if (phase.phase === "running") return { status: "open", error: undefined };
  const { error } = phase;
  return { status: phase.status, error: error === undefined ? undefined : { code: error.code, message: error.message } };
}

function saidIn(event: RunEvent): readonly Sent[] {
  if (event.type === "message") return [event];
  return event.type === "act.ended" ? event.said : [];
}
