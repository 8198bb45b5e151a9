import { canonicalJson, type Json } from "../kernel/json.ts";
import { UsageError } from "../kernel/errors.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { StepPort } from "../kernel/step.ts";
import { type Guard, GUARD_RETRIES, type GuardPlace, judge, type Judged, refusedBy, unfit } from "../tool/guard.ts";
import type { Action } from "./action.ts";
import type { RoleContext } from "./context.ts";

/** The guards of an action of a role: those of the team, of the role and of the action. */
export function guardsOf<S>(rc: RoleContext<S>, action: Pick<Action, "guards"> | undefined): readonly Guard[] {
  const ofTeam = rc.given?.guards ?? none;
  const ofRole = rc.spec?.role.guards ?? none;
  const ofAction = action?.guards ?? none;
  if (ofTeam.length + ofRole.length + ofAction.length === 0) return none;
  return [...ofTeam, ...ofRole, ...ofAction];
}

const none: readonly Guard[] = Object.freeze([]);

interface GuardedWork<S> {
  readonly rc: RoleContext<S>;
  readonly action: Action;
  readonly guards: readonly Guard[];
  /** Runs the action on an input. */
  readonly run: (text: string) => Promise<readonly Message[]>;
}

/**
 * Runs an action between its guards. A refused answer is asked for again, with the reason at the end of the input.
 *
 * @throws StepError `GUARD_REFUSED`, `GUARD_FAILED`; ControlError
 */
export async function guardedAct<S>(work: GuardedWork<S>, given: string): Promise<readonly Message[]> {
  const { rc, guards } = work;
  const place = placeOf(rc);
  const input = await judgedInput(
    guards.filter(({ beside }) => !beside),
    given,
    place,
  );
  const beside = judgedInput(
    guards.filter((guard) => guard.beside),
    given,
    place,
    "beside",
  );
  // Its error counts where it is awaited.
  beside.catch(() => undefined);
  for (let refusals = 0, text = input; ; refusals += 1) {
    const said = await work.run(text);
    await beside;
    const judged = await judgedSaid(work, said, place);
    if (Array.isArray(judged)) return judged as readonly Message[];
    const { by, why } = judged as Extract<Judged, { readonly kind: "refused" }>;
    if (by.then !== "retry" || refusals === GUARD_RETRIES) throw refusedBy(by, { on: "output", role: rc.name }, why);
    rc.logger.warn(`The guard "${by.name}" refuses the answer of ${rc.name}: ${why}`);
    text = `${input}\n\nYour last answer was refused: ${why} Answer again, whole.`;
  }
}

async function judgedInput(guards: readonly Guard[], text: string, place: GuardPlace, when?: "beside"): Promise<string> {
  const judged = await judge(guards, { on: "input", text }, place);
  if (judged.kind === "refused") throw refusedBy(judged.by, { on: "input", role: place.role }, judged.why);
  if (judged.kind === "passes") return text;
  if (typeof judged.value === "string" && when === undefined) return judged.value;
  throw unfit(
    judged.by,
    "the input",
    when === undefined ? "it is no string." : "a guard beside the model cannot rewrite what the model reads.",
  );
}

/** Returns the messages as they may pass, or the first refusal. */
async function judgedSaid<S>(
  { rc, action, guards }: GuardedWork<S>,
  said: readonly Message[],
  place: GuardPlace,
): Promise<readonly Message[] | Judged> {
  const passed: Message[] = [];
  for (const message of said) {
    const { content: text, instructContent } = message;
    const value = instructContent === undefined ? {} : { value: instructContent };
    const judged = await judge(guards, { on: "output", text, ...value }, place);
    if (judged.kind === "refused") return judged;
    passed.push(judged.kind === "passes" ? message : rc.issue(rewritten(action, message, judged.value, judged.by), action.name));
  }
  return passed;
}

function rewritten({ output, render, speech }: Action, message: Message, value: Json, by: Guard): Message {
  if (output === undefined)
    return createMessage(typeof value === "string" ? value : canonicalJson(value), { ...message, speech: undefined });
  const read = output.safeParse(value);
  if (!read.success) throw unfit(by, "the answer", read.error.message);
  return createMessage(render?.(read.data) ?? canonicalJson(read.data), {
    ...message,
    instructContent: read.data,
    speech: speech?.(read.data),
  });
}

function placeOf<S>(rc: RoleContext<S>): GuardPlace {
  const { steps, clock, signal, name, given } = rc;
  const ask: GuardPlace["ask"] = ({ id, text, form }, o) => rc.human.answer({ id, text, form }, o.signal);
  return { steps, clock, signal, role: name, ask, model: modelIn(rc), deps: given?.deps, context: given?.context };
}

/** Undefined for a role that has no model. */
export function modelIn<S>(rc: Pick<RoleContext<S>, "model">): ((steps: StepPort) => ChatModel) | undefined {
  try {
    const { model } = rc;
    return (steps) => model.through(steps);
  } catch (error) {
    if (error instanceof UsageError && error.code === "MODEL_MISSING") return undefined;
    throw error;
  }
}
