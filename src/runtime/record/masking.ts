import { type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import type { Message } from "../../message/message.ts";
import type { RunStarted } from "./event.ts";
import { messageChange, type Rewriting, rewriting, withChanges } from "./rewritten-event.ts";

/*
 * Removes secrets from values before they are recorded. Each function returns the same object if it has no secret.
 */

export function maskedError(mask: Mask, error: unknown): ErrorRecord {
  return masked(mask, errorRecord(error));
}

export function maskedMessage(mask: Mask, message: Message): Message {
  return messageChange({ text: mask, value: (json) => masked(mask, json) })(message);
}

type Rules = Pick<RunStarted, "parameters" | "delivery" | "edges">;

/**
 * Returns the rules of a run with the parameters and pairs of policies masked. The schedulers of this package, which record no delivery, keep
 * theirs: they are numbers and names of roles, and a scheduler is made of them again.
 */
export function maskedRules<R extends Rules>(mask: Mask, rules: R): R {
  const { parameters, delivery, edges } = rules;
  return withChanges<Rules>(rules, {
    parameters: delivery === undefined ? parameters : masked(mask, parameters),
    edges: edges?.map((edge) => ({ ...masked(mask, edge), name: edge.name })),
  }) as R;
}

/**
 * Masks the messages of an event, the state of its roles and its description of the team. The code that creates steps and errors
 * masks them, because a role must get the recorded value. Names of roles stay, because they are addresses.
 */
export function masking(mask: Mask): Rewriting {
  const value = <T>(json: T): T => masked(mask, json);
  return rewriting({
    text: mask,
    value,
    role: (role) => withChanges(role, { traits: value(role.traits), state: value(role.state) }),
    start: (start) => withChanges(maskedRules(mask, start), { team: mask(start.team), about: start.about && value(start.about) }),
  });
}
