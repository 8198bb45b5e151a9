import { isObject } from "../kernel/value-kind.ts";
import { HOW_TO_MAKE_AN_ACTION, isAction } from "./action.ts";
import {
  address,
  callable,
  definitionsPart,
  type Kind,
  listPart,
  misfitIn,
  misfitText,
  modelPart,
  optional,
  type Part,
  part,
  schemaPart,
  text,
} from "./part.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import type { RoleAgentOptions } from "./agent-mode.ts";
import { isFailurePolicy } from "./failure-policy.ts";
import type { ReactMode, Role } from "./role.ts";

/** Refuses a value that is no role. */
export function assertIsRole(given: unknown): asserts given is Role {
  if (isRole(given)) return;
  const todo = isClass(given)
    ? `Make one: new ${given.name}().`
    : "Make it by defineRole, or by new of a subclass of Role; under another name it is hired by hire(role, { name }).";
  throw new UsageError("ROLE_INVALID", `Expected a role, got ${valueText(given)}. ${todo}`);
}

/** Refuses a value that is no list of roles. */
export function rolesIn(given: unknown): Iterable<unknown> {
  if (isObject(given) && Symbol.iterator in given) return given as Iterable<unknown>;
  throw new UsageError("ROLE_INVALID", `Expected roles to be a list of roles, got ${valueText(given)}. Write [role].`);
}

/** Refuses a role with an invalid part. */
export function assertRoleParts(role: Role): void {
  const misfit = misfitIn(role, roleParts);
  if (misfit !== undefined) throw new UsageError("ROLE_INVALID", misfitText(misfit, `role ${role.name}`));
  checkKnownOptions(`agent of role ${JSON.stringify(role.name)}`, role.agent, agentOptions);
}

function isRole(given: unknown): given is Role {
  return isObject(given) && "observe" in given && "think" in given && "act" in given && "react" in given;
}

function isClass(given: unknown): given is { readonly name: string } {
  return typeof given === "function" && typeof given.name === "string" && given.name !== "";
}

const action: Kind = { fits: isAction, expected: "an action", todo: HOW_TO_MAKE_AN_ACTION };
const cause: Kind = { ...address, todo: "Name the action that causes the message." };
const count: Kind = { fits: isCount, expected: "a whole number of 1 or more", todo: "Leave it out for the default." };
const modes: readonly ReactMode[] = ["by_cause", "by_order", "react", "plan_and_act", "agent"];

const reactionParts: readonly Part[] = [
  { name: "on", misfit: (on) => (Array.isArray(on) ? listPart("on", cause) : part("on", cause)).misfit(on) },
  optional(listPart("needs", cause)),
  part("do", action),
];

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
  recent: kinds.count,
  task: kinds.function,
};

const roleParts: readonly Part[] = [
  ...["profile", "goal", "constraints", "description"].map((name) => part(name, { ...text, todo: "It is told to models and people." })),
  listPart("actions", action),
  definitionsPart("reactions", { fits: isObject, expected: "{ on, do }", todo: "Write { on: cause, do: action }." }, reactionParts),
  listPart("addresses", { ...text, todo: 'Write addresses: ["name"].' }),
  ...["observe", "think", "act", "react"].map((name) => part(name, { ...callable, todo: `Write ${name}: (rc) => ... .` })),
  ...[
    listPart("watch", { ...address, todo: "Write watch: [WriteDraft]." }),
    part("planTasks", { ...callable, todo: "Write planTasks: (rc) => [{ id, instruction }]." }),
    part("step", { ...callable, todo: "Write step: (state, message, out) => ({ ...state })." }),
    part("steps", { ...callable, todo: "Write steps: (state, messages, out) => ({ ...state })." }),
    schemaPart("state"),
    modelPart,
    part("reactMode", {
      fits: (mode) => modes.includes(mode as ReactMode),
      expected: modes.join(", "),
      todo: "Leave it out for the default.",
    }),
    part("maxReactLoop", count),
    part("memoryLimit", count),
    part("budgetShare", { fits: isShare, expected: "a number above 0 and at most 1", todo: "Write 0.85 to leave 15 % to others." }),
    part("onFailure", { fits: isFailurePolicy, expected: '"stop", "skip" or retry(n)', todo: "Leave it out for the team's." }),
  ].map(optional),
  part("timeout", { fits: isDuration, expected: "a number of milliseconds above 0", todo: "Leave it out for the default." }),
];

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1;
}

function isShare(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value <= 1;
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}
