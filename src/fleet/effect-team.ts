import { kinds } from "../kernel/option-kinds.ts";
import { aFunction, aText, having, object, readable, takes } from "../kernel/argument.ts";
import { StepError, UsageError } from "../kernel/errors.ts";
import type { EffectCall } from "../kernel/effect.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { type Json, parsedJson } from "../kernel/json.ts";
import type { StepDoor } from "../kernel/step.ts";
import { defineAction } from "../role/action.ts";
import type { ChatRequest } from "../model/chat-model.ts";
import type { RoleContext } from "../role/context.ts";
import { defineRole } from "../role/role.ts";
import type { TeamOptions } from "../team/team-options.ts";
import { Team } from "../team/team.ts";
import { valueText } from "../kernel/value-text.ts";

/**
 * Does an effect for other processes. Its result is JSON.
 *
 * @param request the request of the step
 * @param door the signal, the key of the effect, the same when it is tried again, and steps inside it. `attempts.settle` reports a cost.
 * @param context the context of the role that does it, for example its model: `context.model.through(door)`
 */
export type ServedEffect = (request: Json, door: StepDoor, context: RoleContext) => unknown;

/** Options of {@link effectTeam}. Budget, secrets and model are those of the effect. */
export interface EffectTeamOptions extends Omit<TeamOptions, "name" | "roles" | "messageLimit"> {
  /** Milliseconds for one effect. Default 3,600,000. */
  readonly timeout?: number;
}

const MAX_REQUEST = 1_000_000;

/**
 * Returns a team that does one effect for other processes, which ask through {@link remoteEffects}. A worker serves it as any team: by
 * {@link startWorker}, or by `troupe worker` with a module that exports it.
 *
 * @param name kind and name of the step, as "tool:render"
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function effectTeam(name: string, effect: ServedEffect, options: EffectTeamOptions = {}): Team {
  takes("effectTeam", "name", name, aText);
  takes("effectTeam", "effect", effect, aFunction);
  takes("effectTeam", "options", options, kinds.object);
  if (!/^[^:]+:./.test(name)) {
    throw new UsageError("ARGUMENT_INVALID", `Expected kind and name of a step, such as "tool:render", got ${valueText(name)}.`);
  }
  const { timeout, ...team } = options;
  const Do = defineAction({
    name: "Do",
    run: async (ctx) => {
      const spec = specIn(ctx.text);
      await ctx.steps.step(spec, async (door) => (await effect(spec.request, door, ctx)) ?? null);
      return "done";
    },
  });
  const worker = defineRole({ name: "worker", actions: [Do], ...(timeout === undefined ? {} : { timeout }) });
  return new Team({ ...team, name: effectTeamName(name), roles: [worker] });
}

/**
 * Asks the model of the team of an effect: for an effect named "model:" and the id of a model. Its tries and their cost are recorded there. The
 * run that asked records its own try, and counts the cost from the usage of the answer. The answer is not streamed.
 *
 * @throws UsageError `ARGUMENT_INVALID`; StepError `EFFECT_INVALID` for a request without messages; ModelError, ControlError: those of the call
 */
export const askServedModel: ServedEffect = async (request, door, context) => {
  takes("askServedModel", "request", request, readable);
  takes("askServedModel", "door", door, having("the door of a step", "step"));
  takes("askServedModel", "context", context, object("the context of a role", { model: having("a recorded model", "through") }));
  if (!isRecord(request) || !isList(request["messages"])) {
    const text = `Expected a request with messages for the model ${context.model.id}, got ${valueText(request)}. Ask through remoteEffects.`;
    throw new StepError("EFFECT_INVALID", text);
  }
  // The rest of the request is judged by the model, as that of any caller.
  const asked = request as unknown as ChatRequest;
  return await context.model.through(door).chat(asked, { signal: door.signal, takesCut: true });
};

export function effectTeamName(name: string): string {
  return `effect ${name}`;
}

export function effectIdea({ kind, name, request, idempotent }: EffectCall): string {
  const idea = JSON.stringify({ kind, name, request, idempotent });
  if (idea.length <= MAX_REQUEST) return idea;
  const text = `Expected a request of at most ${MAX_REQUEST} characters for the effect "${name}", got ${idea.length}. Put large parts into a store and send their address.`;
  throw new StepError("EFFECT_TOO_LONG", text);
}

function specIn(idea: string): { readonly kind: string; readonly name: string; readonly request: Json; readonly idempotent: boolean } {
  const read = parsedJson(idea);
  const { kind, name, request, idempotent }: { readonly [member: string]: unknown } = isRecord(read) ? read : {};
  if (typeof kind === "string" && typeof name === "string" && request !== undefined) {
    return { kind, name, request: request as Json, idempotent: idempotent !== false };
  }
  throw new StepError(
    "EFFECT_INVALID",
    `Expected an effect with kind, name and request, got ${valueText(idea)}. Ask through remoteEffects.`,
  );
}
