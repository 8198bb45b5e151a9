import type { JsonObject } from "../kernel/json.ts";
import type { StepPort } from "../kernel/step.ts";
import { cutText } from "./cut-text.ts";
import { interruptionIn, toldOf } from "./plain-value.ts";
import { visible } from "./visible-text.ts";

/** What a person is asked before a call runs. */
export interface ApprovalRequest {
  /** Stable across resume; an answer given later names it. */
  readonly id: string;
  /** Who asks. */
  readonly role: string;
  /** The question in words. Invisible and steering characters are shown, not sent; a long call is cut, and says so. */
  readonly text: string;
  readonly tool: string;
  /** All that the tool would be given. */
  readonly args: JsonObject;
}

/** Who is asked for permission: true, false, or words. "yes" and its like allow; any other word is a no, and told to the model. */
export type Approver = (request: ApprovalRequest, o: { readonly signal: AbortSignal }) => boolean | string | Promise<boolean | string>;

/** What a person said to a call. */
interface Approval {
  readonly isGiven: boolean;
  /** Why not, in the person's words; empty when there are none. */
  readonly words: string;
}

/** Most characters of a call that a person is shown in the question itself. */
const SHOWN_CALL = 8_000;
/** Most characters of a person's refusal that the model is told. */
const TOLD_WORDS = 2_000;
const YES = /^(?:y|yes|ok|okay|allow|allowed|approve|approved|true)[.!]?$/i;
const NO = /^(?:n|no|deny|denied|false)[.!]?$/i;

/** Asks for permission, as a step: what was said once holds when the run goes on. */
export async function askPermission(
  steps: StepPort,
  approve: Approver,
  { role, tool, args }: { readonly role: string; readonly tool: string; readonly args: JsonObject },
  signal: AbortSignal,
): Promise<Approval> {
  const text = `May ${visible(role)} use the tool "${tool}"?\n${cutText(visible(JSON.stringify(args, null, 2)), SHOWN_CALL)}`;
  const answer = await steps.step<unknown>(
    { kind: "human", name: "approve", request: { role, question: text, tool, args } },
    async (door) => {
      const both = AbortSignal.any([signal, door.signal]);
      try {
        return await approve({ id: door.key, role, text, tool, args }, { signal: both });
      } catch (error) {
        const interruption = interruptionIn(error);
        if (interruption !== undefined) throw interruption;
        return `no, asking for permission failed: ${toldOf(error).slice(0, TOLD_WORDS)}`;
      }
    },
  );
  return approvalIn(answer);
}

/** Nothing but a plain yes is one. */
function approvalIn(answer: unknown): Approval {
  if (answer === true) return { isGiven: true, words: "" };
  if (typeof answer !== "string") return { isGiven: false, words: "" };
  const words = answer.trim();
  if (YES.test(words)) return { isGiven: true, words: "" };
  return { isGiven: false, words: NO.test(words) ? "" : words.slice(0, TOLD_WORDS) };
}

/** What a person is asked. */
export interface HumanQuestion {
  /** Stable across resume; an answer given later names it. */
  readonly id: string;
  readonly text: string;
  /** Who asks. */
  readonly role: string;
}

/** How a person is reached. In a run without one, a question suspends the run with status `waiting`. */
export type HumanPort = (question: HumanQuestion, o: { readonly signal: AbortSignal }) => string | Promise<string>;
