import type { Action } from "./action.ts";
import type { RoleContext } from "./context.ts";
import { renderForPrompt } from "../model/chat-message.ts";
import { type ReactLoop, reactLoop } from "./react-loop.ts";
import type { Role } from "./role.ts";
import { roleSpec, type RoleSpec } from "./role-spec.ts";

/** How many remembered messages the question for the next action shows. */
const HISTORY_IN_PROMPT = 50;

/** The next action of an activation by the role's mode; nothing when it is done. */
export function think<S>(role: Role<S>, rc: RoleContext<S>): Action | undefined | Promise<Action | undefined> {
  const spec = roleSpec(role as unknown as Role);
  const loop = reactLoop(rc);
  if (spec.actions.length === 0) return undefined;
  if (spec.actions.length === 1) return loop.turn === 0 ? spec.actions[0] : undefined;
  if (spec.mode === "by_order") return spec.actions[loop.turn];
  return chosenByModel(spec, rc, loop);
}

async function chosenByModel<S>(spec: RoleSpec, rc: RoleContext<S>, loop: ReactLoop): Promise<Action | undefined> {
  const index = await chooseIndex(spec, rc, loop.index);
  if (index === undefined) return undefined;
  loop.index = index;
  return spec.actions[index];
}

/** Asks the model for a place in the list of actions; -1 ends, and so does a second answer that is no place. */
async function chooseIndex<S>(spec: RoleSpec, rc: RoleContext<S>, previous: number): Promise<number | undefined> {
  const prompt = choicePrompt(spec, rc, previous);
  const first = parseChoice(await rc.ask(prompt, { recall: false }), spec.actions.length);
  if (first.kind === "action") return first.index;
  if (first.kind === "end") return undefined;
  const second = parseChoice(
    await rc.ask(`${prompt}\n\nYour last answer was no such number. ${answerRule(spec)}`, { recall: false }),
    spec.actions.length,
  );
  if (second.kind === "garbled") rc.logger.warn(`${rc.name} could not choose an action: the model gave no number twice. It stops here.`);
  return second.kind === "action" ? second.index : undefined;
}

/** What a reply to the question for the next action means. */
export type Choice = { readonly kind: "action"; readonly index: number } | { readonly kind: "end" } | { readonly kind: "garbled" };

/** Reads the first whole number of a reply, with any number of digits; `-1` ends. */
export function parseChoice(reply: string, actions: number): Choice {
  const digits = /-?\d+/.exec(reply)?.[0];
  if (digits === undefined) return { kind: "garbled" };
  const index = Number(digits);
  if (index === -1) return { kind: "end" };
  return index >= 0 && index < actions ? { kind: "action", index } : { kind: "garbled" };
}

function choicePrompt<S>(spec: RoleSpec, rc: RoleContext<S>, previous: number): string {
  const history = rc.memory.get(HISTORY_IN_PROMPT).map(renderForPrompt).join("\n\n");
  const actions = spec.actions.map(
    (action, index) => `${index}. ${action.name}${action.description === "" ? "" : `: ${action.description}`}`,
  );
  return [
    `Here is the conversation so far:\n===\n${history}\n===`,
    `Your last action: ${previous === -1 ? "none yet" : `${previous}. ${spec.actions[previous]?.name ?? ""}`}`,
    `Choose what to do next:\n${actions.join("\n")}`,
    answerRule(spec),
  ].join("\n\n");
}

function answerRule(spec: RoleSpec): string {
  return `Answer with one number from 0 to ${spec.actions.length - 1} and nothing else, or with -1 when the work is done.`;
}
