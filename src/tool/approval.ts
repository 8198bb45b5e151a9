import type { Json, JsonObject } from "../kernel/json.ts";
import type { StepPort } from "../kernel/step.ts";
import { changedArgs, type QuestionForm } from "./question-form.ts";
import { cutText } from "./shown-text.ts";
import { interruptionIn, wordsOfThrown } from "./plain-result.ts";
import { escapedText } from "../kernel/value-text.ts";

/** The question to a person before a call runs. */
export interface ApprovalRequest {
  /** Stable across resume; a later answer names it. */
  readonly id: string;
  readonly role: string;
  /** Invisible and steering characters are escaped; a long call is cut, with a mark. */
  readonly text: string;
  readonly tool: string;
  /** The tool's description of itself, for the person; it is not recorded with the question. */
  readonly description: string;
  readonly args: JsonObject;
  /** Its `args` is the schema of the tool's parameters. */
  readonly form: QuestionForm;
}

/**
 * Answers true, false, words, or `{ args }`. "yes" and its like allow, and so does "always", by which a run allows all later calls of the
 * tool; any other words deny, and the model reads them. `{ args }` allows the call with these arguments: where they do not fit the tool,
 * the question comes again, three times in all.
 */
export type Approver = (request: ApprovalRequest, o: { readonly signal: AbortSignal }) => Json | Promise<Json>;

interface Approval {
  readonly isGiven: boolean;
  /** The reason for a denial. */
  readonly words: string;
  readonly args?: JsonObject;
}

interface AskedCall {
  readonly role: string;
  readonly tool: string;
  readonly description: string;
  readonly args: JsonObject;
  readonly parameters: JsonObject;
  /** The fault in the arguments of the last answer. */
  readonly fault?: string | undefined;
}

const SHOWN_CALL = 8_000;
const TOLD_WORDS = 2_000;
/** A question with a longer schema takes any object; the call checks it. */
const LONGEST_SCHEMA = 16_000;
const YES = /^(?:y|yes|ok|okay|allow|allowed|approve|approved|true)[.!]?$/i;
const ALWAYS = /^always[.!]?$/i;
const NO = /^(?:n|no|deny|denied|false)[.!]?$/i;

/** True for an answer that allows this call and all later ones of its tool in the run. */
export function isAlways(answer: string): boolean {
  return ALWAYS.test(answer.trim());
}

export const APPROVAL_STEP = { kind: "human", name: "approve" } as const;

/** Asks in a step: a resumed run has the answer. */
export async function askPermission(
  steps: StepPort,
  approve: Approver,
  { role, tool, description, args, parameters, fault }: AskedCall,
  signal: AbortSignal,
): Promise<Approval> {
  const call = `May ${escapedText(role)} use the tool "${tool}"?\n${cutText(escapedText(JSON.stringify(args, null, 2)), SHOWN_CALL)}`;
  const text = fault === undefined ? call : `${call}\n\nYour arguments did not fit: ${cutText(escapedText(fault), TOLD_WORDS)}`;
  const isShort = JSON.stringify(parameters).length <= LONGEST_SCHEMA;
  const form = permissionForm(tool, isShort ? parameters : undefined);
  // Outside the address: a changed schema keeps the answer.
  const shown = isShort ? { parameters } : undefined;
  const answer = await steps.step<unknown>({ ...APPROVAL_STEP, request: { role, question: text, tool, args }, shown }, async (door) => {
    const both = AbortSignal.any([signal, door.signal]);
    try {
      return await approve({ id: door.key, role, text, tool, description, args, form }, { signal: both });
    } catch (error) {
      const interruption = interruptionIn(error);
      if (interruption !== undefined) throw interruption;
      return `no, asking for permission failed: ${wordsOfThrown(error).slice(0, TOLD_WORDS)}`;
    }
  });
  return approvalIn(answer);
}

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
  readonly role: string;
  /** The tool that it may use or not, where that is the question. "always" allows all calls of it in this run. */
  readonly tool?: string | undefined;
  /** The tool's description of itself. Undefined for a question that is read from the record. */
  readonly description?: string | undefined;
  /** Arguments of the call. The answer `{ args }` allows it with others. */
  readonly args?: JsonObject | undefined;
  /** Undefined: any text. */
  readonly form?: QuestionForm | undefined;
  /** The offered answer; it is taken when the deadline passes. */
  readonly default?: Json | undefined;
  /** Milliseconds since 1970. */
  readonly deadline?: number | undefined;
  /** The person or the role that is asked. */
  readonly to?: string | undefined;
}

/**
 * Reaches a person. In a run without one, a question suspends the run with status `waiting`. The answer is a string, as a person types it,
 * or a JSON value that the form of the question takes. After an answer that does not fit, the question comes again with what was wrong,
 * three times in all; then the run waits. The signal aborts when the deadline passes.
 */
export type HumanPort = (question: HumanQuestion, o: { readonly signal: AbortSignal }) => Json | Promise<Json>;

const ANY_ARGUMENTS: JsonObject = { type: "object" };

/** @param parameters the schema of its parameters, where it is known */
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
