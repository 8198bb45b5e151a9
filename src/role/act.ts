import type { Action } from "../action/action.ts";
import type { ActionContext, RoleContext } from "../action/context.ts";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Address } from "../message/address.ts";
import { isMessage, type Message } from "../message/message.ts";
import { ActionView, type Work } from "./action-view.ts";
import type { Said } from "./role.ts";

/** Runs one action on the whole news. What it says is remembered. */
export function act<S>(rc: RoleContext<S>, action: Action): Promise<Said> {
  return actWith(rc, action, {});
}

/**
 * Runs one action. What it says is remembered and returned.
 *
 * @throws UsageError `ACTION_RESULT` when it gives back something that is no message, text or typed output.
 */
export async function actWith<S>(rc: RoleContext<S>, action: Action, work: Work): Promise<Said> {
  const view = new ActionView(rc, action, work);
  const context = view as unknown as ActionContext;
  rc.began?.(action.name);
  const result: unknown = await action.run(context as ActionContext<never>);
  const said = toMessages(action, context, result);
  for (const message of said) rc.memory.add(message);
  return said.length === 1 ? said[0] : said.length === 0 ? undefined : said;
}

function toMessages(action: Action, ctx: ActionContext, result: unknown): readonly Message[] {
  if (result === undefined || result === null) return [];
  if (isMessageList(result, action)) return result.map((message) => reissued(action, ctx, message));
  if (isMessage(result)) return [reissued(action, ctx, result)];
  if (action.output !== undefined) return [typedMessage(action, ctx, result)];
  if (typeof result === "string") return [ctx.message(result, destination(action, ctx, undefined))];
  throw new UsageError(
    "ACTION_RESULT",
    `Expected action ${action.name} to return a string, a message or nothing, got ${typeof result}. Give it an output schema to return data.`,
  );
}

/** An empty list is a list of no messages, unless the action promises data: then it is data. */
function isMessageList(result: unknown, action: Action): result is readonly Message[] {
  return Array.isArray(result) && result.every(isMessage) && (result.length > 0 || action.output === undefined);
}

function typedMessage(action: Action, ctx: ActionContext, value: unknown): Message {
  const output = checkedOutput(action, value);
  const content = action.render?.(output) ?? canonicalJson(output);
  return ctx.message(content, { instructContent: output, ...destination(action, ctx, output) });
}

function reissued(action: Action, ctx: ActionContext, message: Message): Message {
  const issued = ctx.issue(message);
  if (action.output !== undefined && issued.causeBy === action.name) checkedOutput(action, issued.instructContent);
  return issued;
}

function checkedOutput(action: Action, value: unknown): unknown {
  const parsed = action.output?.safeParse(value);
  if (parsed === undefined || parsed.success) return parsed === undefined ? value : parsed.data;
  throw new UsageError("ACTION_RESULT", `Expected action ${action.name} to return what its output schema says: ${parsed.error.message}`, {
    cause: parsed.error,
  });
}

function destination(action: Action, ctx: ActionContext, output: unknown): { readonly sendTo?: readonly Address[] } {
  const sendTo = action.sendTo?.(ctx as ActionContext<never>, output);
  return sendTo === undefined ? {} : { sendTo };
}
