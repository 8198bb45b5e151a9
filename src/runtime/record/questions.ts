import { roleOf, type RunState } from "./run-state.ts";
import type { RunEvent } from "./event.ts";
import { stepId } from "../steps/step-requests.ts";

/** A question to a person that waits for an answer. */
export interface PendingQuestion {
  /** Identifies the question in an answer. */
  readonly id: string;
  /** The role that asks. */
  readonly role: string;
  readonly text: string;
  /** The tool that the role may use or not, where that is the question: yes, no or always answers it. */
  readonly tool?: string;
}

/** A question and the try of its step. */
export interface RecordedQuestion extends PendingQuestion {
  readonly act: string;
  readonly key: string;
  readonly try: number;
}

/** Returns the questions that wait for an answer, in the hire order of the asking roles. */
export function pendingQuestions(state: RunState): readonly RecordedQuestion[] {
  const asking = [...state.open].map((name) => roleOf(state, name)).sort((a, b) => a.index - b.index);
  return asking.flatMap((role) =>
    [...(role.open?.steps.values() ?? [])]
      .filter(({ started, outcome }) => started.kind === "human" && outcome === undefined)
      .map(({ started }) => questionOf(state.runId, started)),
  );
}

/** Returns a question without its place in the record. */
export function plainQuestion({ id, role, text, tool }: PendingQuestion): PendingQuestion {
  return { id, role, text, ...(tool === undefined ? {} : { tool }) };
}

/** True for an event that asks a question whose id begins with `id`. */
export function asks(event: RunEvent, id: string): boolean {
  return id !== "" && event.type === "step.started" && event.kind === "human" && stepId(event.runId, event.act, event.key).startsWith(id);
}

type StepEvent = Extract<RunEvent, { readonly type: "step.started" }>;

function questionOf(runId: string, { act, key, request, try: nth }: Pick<StepEvent, "act" | "key" | "request" | "try">): RecordedQuestion {
  const { role, question, tool } = request as { readonly role: string; readonly question: string; readonly tool?: unknown };
  const asked = typeof tool === "string" ? { tool } : {};
  return { id: stepId(runId, act, key), role, text: question, ...asked, act, key, try: nth };
}
