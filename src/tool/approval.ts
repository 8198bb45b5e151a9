import type { Json, JsonObject } from "../kernel/json.ts";
import type { StepPort } from "../kernel/step.ts";
import { changedArgs, type QuestionForm } from "./question-form.ts";
import { cutText } from "./told-text.ts";
import { interruptionIn, toldOf } from "./plain-result.ts";
import { escapedText } from "../kernel/value-text.ts";

/** The question to a person before a call runs. */
export interface ApprovalRequest {
  /** Stable across resume; a later answer names it. */
  readonly id: string;
  /** The agent that asks. */
  readonly role: string;
  /** The question in words. Invisible and steering characters are escaped; a long call is cut, with a mark. */
  readonly text: string;
  readonly tool: string;
  /** All arguments. */
  readonly args: JsonObject;
  /** The form of the answer. Its `args` is the schema of the tool's parameters. */
  readonly form: QuestionForm;
}

/**
 * Answers true, false, words, or `{ args }`. "yes" and its like allow, and so does "always", by which a run allows all later calls of the tool
 * without asking; any other words deny, and the model reads them. `{ args }` allows the call with these arguments: where they do not fit the
 * tool, the question comes again, three times in all. The model is told what was called.
 */
export type Approver = (request: ApprovalRequest, o: { readonly signal: AbortSignal }) => Json | Promise<Json>;

/** The answer of a person to a call. */
interface Approval {
  readonly isGiven: boolean;
  /** The reason for a denial; may be empty. */
  readonly words: string;
  /** The arguments to call it with instead. */
  readonly args?: JsonObject;
}

/** A call that needs permission. */
interface AskedCall {
  readonly role: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** The schema of the tool's parameters. */
  readonly parameters: JsonObject;
  /** What was wrong with the arguments of the last answer. */
  readonly fault?: string | undefined;
}

/** Longest part of a call in the question. */
const SHOWN_CALL = 8_000;
/** Longest part of a refusal that the model reads. */
const TOLD_WORDS = 2_000;
/** Longest schema of parameters that a question carries. The form of a tool with a longer one takes any object; the call checks it. */
const LONGEST_SCHEMA = 16_000;
const YES = /^(?:y|yes|ok|okay|allow|allowed|approve|approved|true)[.!]?$/i;
const ALWAYS = /^always[.!]?$/i;
const NO = /^(?:n|no|deny|denied|false)[.!]?$/i;

/** True for an answer that allows this call and all later ones of its tool in the same run. */
export function isAlways(answer: string): boolean {
  return ALWAYS.test(answer.trim());
}

/** The kind and the name of the step that asks for permission. */
export const APPROVAL_STEP = { kind: "human", name: "approve" } as const;

/** Asks for permission, as a step: a resumed run has the answer. */
export async function askPermission(
  steps: StepPort,
  approve: Approver,
  { role, tool, args, parameters, fault }: AskedCall,
  signal: AbortSignal,
): Promise<Approval> {
  const call = `May ${escapedText(role)} use the tool "${tool}"?\n${cutText(escapedText(JSON.stringify(args, null, 2)), SHOWN_CALL)}`;
  const text = fault === undefined ? call : `${call}\n\nYour arguments did not fit: ${cutText(escapedText(fault), TOLD_WORDS)}`;
  const isShort = JSON.stringify(parameters).length <= LONGEST_SCHEMA;
  const form = permissionForm(tool, isShort ? parameters : undefined);
  // A tool whose schema has changed does not take the answer away.
  const shown = isShort ? { parameters } : undefined;
  const answer = await steps.step<unknown>({ ...APPROVAL_STEP, request: { role, question: text, tool, args }, shown }, async (door) => {
    const both = AbortSignal.any([signal, door.signal]);
    try {
      return await approve({ id: door.key, role, text, tool, args, form }, { signal: both });
    } catch (error) {
      const interruption = interruptionIn(error);
      if (interruption !== undefined) throw interruption;
      return `no, asking for permission failed: ${toldOf(error).slice(0, TOLD_WORDS)}`;
    }
  });
  return approvalIn(answer);
}

/** Only a plain yes allows, or arguments. */
function approvalIn(answer: unknown): Approval {
  const args = changedArgs(answer);
  if (args !== undefined) return { isGiven: true, words: "", args };
  if (answer === true) return { isGiven: true, words: "" };
  if (typeof answer !== "string") return { isGiven: false, words: "" };
  const words = answer.trim();
  if (YES.test(words) || isAlways(words)) return { isGiven: true, words: "" };
  return { isGiven: false, words: NO.test(words) ? "" : words.slice(0, TOLD_WORDS) };
}

/** A question to a person. */
export interface HumanQuestion {
  /** Stable across resume; a later answer names it. */
  readonly id: string;
  readonly text: string;
  /** The agent that asks. */
  readonly role: string;
  /** The tool that it may use or not, where that is the question. The answer "always" allows all calls of that tool in this run. */
  readonly tool?: string | undefined;
  /** All arguments of the call. The answer `{ args }` allows it with others. */
  readonly args?: JsonObject | undefined;
  /** The form of the answer. Undefined: any text. */
  readonly form?: QuestionForm | undefined;
  /** The answer to offer; it is taken when the deadline passes. */
  readonly default?: Json | undefined;
  /** Milliseconds since 1970: when the question ends without an answer. */
  readonly deadline?: number | undefined;
  /** The person or the role that the question is for. */
  readonly to?: string | undefined;
}

/**
 * Reaches a person. In a run without one, a question suspends the run with status `waiting`. The answer to a question with a form is a text,
 * as a person types it, or a JSON value that the form takes; to any other question it is a text. After an answer that does not fit, the
 * question comes again, three times in all, and its text says what was wrong; then the run waits. The signal aborts when the deadline passes.
 */
export type HumanPort = (question: HumanQuestion, o: { readonly signal: AbortSignal }) => Json | Promise<Json>;

const ANY_ARGUMENTS: JsonObject = { type: "object" };

/** The form of the question whether a tool may be used. @param parameters the schema of its parameters, where it is known */
export function permissionForm(tool: string, parameters: JsonObject = ANY_ARGUMENTS): QuestionForm {
  return {
    kind: "choices",
    args: parameters,
    choices: [
      { value: "yes", label: "Yes, this time" },
      { value: "no", label: "No" },
      { value: "always", label: `Always: ${tool}, for the rest of this run` },
    ],
    words: "what to do instead, which refuses the call",
  };
}
