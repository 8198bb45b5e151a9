import { aFunction, aText, numberWith, type Shape } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isObject } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { HOW_TO_MAKE_AN_ACTION, isAction } from "./action.ts";
import type { RoleAgentOptions } from "./agent-mode.ts";
import { isFailurePolicy } from "./failure-policy.ts";
import { anAddress, aSchema, checkParts, list, type Parts, withAdvice } from "./part.ts";
import type { Reaction } from "./reaction.ts";
import type { ReactMode, Role } from "./role.ts";

/** Refuses a value that is no role. */
export function assertIsRole(given: unknown): asserts given is Role {
  if (isRole(given)) return;
  const todo = isClass(given)
    ? `Make one: new ${given.name}().`
    : 'Make it by defineRole, or by new of a subclass of Role; an agent in a team is a role with reactMode: "agent"; under another name it is hired by hire(role, { name }).';
  throw new UsageError("ROLE_INVALID", `Expected a role, got ${valueText(given)}. ${todo}`);
}

/** Refuses a value that is no list of roles. */
export function rolesIn(given: unknown): Iterable<unknown> {
  if (isObject(given) && Symbol.iterator in given) return given as Iterable<unknown>;
  throw new UsageError("ROLE_INVALID", `Expected roles to be a list of roles, got ${valueText(given)}. Write [role].`);
}

/** Refuses a role with an invalid part. */
export function assertRoleParts(role: Role): void {
  const check = { code: "ROLE_INVALID", owner: `role ${role.name}`, required };
  checkParts(check, role, roleParts);
  for (const [index, reaction] of role.reactions.entries())
    checkParts({ ...check, at: `reactions[${index}].`, required: ["on", "do"] }, reaction, reactionParts(reaction));
  checkKnownOptions(`agent of role ${JSON.stringify(role.name)}`, role.agent, agentOptions);
}

function isRole(given: unknown): given is Role {
  return isObject(given) && "observe" in given && "think" in given && "act" in given && "react" in given;
}

function isClass(given: unknown): given is { readonly name: string } {
  return typeof given === "function" && typeof given.name === "string" && given.name !== "";
}

const anAction: Shape = { says: "an action", fits: isAction };
const modes: readonly ReactMode[] = ["by_cause", "by_order", "react", "plan_and_act", "agent"];
const size = withAdvice(kinds.size, "Leave it out for the default.");

function reactionParts({ on }: Reaction): Parts {
  const todo = "Name the action that causes the message.";
  return {
    on: Array.isArray(on) ? list(anAddress, todo) : withAdvice(anAddress, todo),
    needs: list(anAddress, todo),
    do: withAdvice(anAction, HOW_TO_MAKE_AN_ACTION),
  };
}

const agentOptions: Known<RoleAgentOptions> = {
  net: kinds.object,
  toolChoice: kinds.checked,
  nextStepPrompt: kinds.text,
  permissions: kinds.object,
  parallelTools: kinds.size,
  maxObserve: kinds.checked,
  loops: kinds.checked,
  compaction: kinds.checked,
  terminate: kinds.boolean,
  systemPrompt: kinds.text,
  keepCalls: kinds.boolean,
  recent: kinds.count,
  task: kinds.function,
};

const told = withAdvice(aText, "Models and people read it.");
const required = [
  ...["profile", "goal", "constraints", "description", "actions", "reactions", "addresses", "timeout"],
  ...["observe", "think", "act", "react"],
];

const roleParts: Parts = {
  ...kinds.each(told, "profile", "goal", "constraints", "description"),
  actions: list(anAction, HOW_TO_MAKE_AN_ACTION),
  reactions: list({ says: "{ on, do }", fits: isObject }, "Write { on: cause, do: action }."),
  addresses: list(aText, 'Write addresses: ["name"].'),
  ...kinds.each(withAdvice(aFunction, "Write it as a function of rc."), "observe", "think", "act", "react"),
  watch: list(anAddress, "Write watch: [WriteDraft]."),
  planTasks: withAdvice(aFunction, "Write planTasks: (rc) => [{ id, instruction }]."),
  step: withAdvice(aFunction, "Write step: (state, message, out) => ({ ...state })."),
  steps: withAdvice(aFunction, "Write steps: (state, messages, out) => ({ ...state })."),
  acts: withAdvice(kinds.oneOf("each round"), "Leave it out for a role that acts when it has mail."),
  state: aSchema,
  model: kinds.model,
  guards: kinds.guards,
  reactMode: withAdvice(kinds.oneOf(...modes), "Leave it out for the default."),
  maxReactLoop: size,
  memoryLimit: size,
  budgetShare: withAdvice(
    numberWith("a number above 0 and at most 1", (value) => value > 0 && value <= 1),
    "Write 0.85 to leave 15 % to others.",
  ),
  onFailure: withAdvice({ says: '"stop", "skip" or retry(n)', fits: isFailurePolicy }, "Leave it out for the team's."),
  timeout: withAdvice(
    numberWith("a number of milliseconds above 0", (value) => value > 0),
    "Leave it out for the default.",
  ),
};
