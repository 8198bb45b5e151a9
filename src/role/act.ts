import { type Action, isAction, noAction } from "./action.ts";
import type { ActionContext, RoleContext } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import { isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Address } from "../message/address.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message } from "../message/message.ts";
import { ActionView, isSameJson, type Work } from "./action-view.ts";
import { handedOn } from "./react-loop.ts";
import type { Said } from "./role.ts";

/** Runs one action on the whole news or, where one action follows the other, on what the one before said. What it says is remembered. */
export function act<S>(rc: RoleContext<S>, action: Action): Said | Promise<Said> {
  const news = handedOn(rc.news);
  return actWith(rc, action, news === undefined ? {} : { news });
}

/**
 * Runs one action. What it says is remembered and returned.
 *
 * @throws UsageError `ACTION_INVALID` when it is no action; `ACTION_RESULT` when it gives back something that is no message, text or typed output.
 */
export function actWith<S>(rc: RoleContext<S>, action: Action, work: Work): Said | Promise<Said> {
  if (!isAction(action)) throw noAction(action, `act of role ${rc.name}`);
  return performed(rc, action, work);
}

/** The same of what is known to be an action. */
export function performed<S>(rc: RoleContext<S>, action: Action, work: Work): Said | Promise<Said> {
  const view = new ActionView(rc, action, work);
  rc.began?.(action.name);
  let result: unknown;
  try {
    result = action.run(view as unknown as ActionContext<never>);
  } catch (error) {
    rc.broke?.(action.name, error);
    throw error;
  }
  return isThenable(result) ? rememberedLater(rc, action, view, result) : remembered(rc, action, view, result);
}

/**
 * A function of its own: a closure would make room for what it knows whenever something is performed, and most of that waits for nothing.
 * By `then`, not by `await`, which passes by the `then` that somebody gave to a promise.
 */
function rememberedLater<S>(rc: RoleContext<S>, action: Action, view: View, result: PromiseLike<unknown>): Promise<Said> {
  return Promise.resolve(result).then(
    (came) => remembered(rc, action, view, came),
    (error: unknown) => {
      rc.broke?.(action.name, error);
      throw error;
    },
  );
}

function remembered<S>(rc: RoleContext<S>, action: Action, view: View, result: unknown): Said {
  if (result === undefined || result === null) return undefined;
  if (action.output === undefined && rc.keeps?.(result) === true) return result as Message;
  if (!isMessageList(result, action))
    return kept(rc, isMessage(result) ? reissued(rc, action, view, result) : newMessage(action, view, result));
  const said = result.map((message) => reissued(rc, action, view, message));
  for (let place = 0; place < said.length; place += 1) kept(rc, said[place] as Message);
  return said.length > 1 ? said : said[0];
}

function kept<S>(rc: RoleContext<S>, message: Message): Message {
  if (rc.keeps?.(message) !== true) rc.memory.add(message);
  return message;
}

type View = Pick<ActionView<readonly Address[]>, "message" | "isAnswer" | "isAnswered">;

function newMessage(action: Action, view: View, result: unknown): Message {
  if (action.output !== undefined) return typedMessage(action, view, result);
  if (typeof result === "string") return view.message(result, destination(action, view, undefined));
  throw new UsageError(
    "ACTION_RESULT",
    `Expected action ${action.name} to return a string, a message or nothing, got ${valueText(result)}. Give it an output schema to return data.`,
  );
}

/** An empty list is a list of no messages, unless the action promises data: then it is data. */
function isMessageList(result: unknown, action: Action): result is readonly Message[] {
  return Array.isArray(result) && result.every(isMessage) && (result.length > 0 || action.output === undefined);
}

function typedMessage(action: Action, view: View, value: unknown): Message {
  const output = view.isAnswer(value) ? value : checkedOutput(action, value);
  assertHandedOn(action, output);
  const content = action.render?.(output) ?? canonicalJson(output);
  return view.message(content, { instructContent: output, ...destination(action, view, output) });
}

/** Under the activation's name, and with the payload its action's schema makes of it: the same object when there is nothing to change. */
function reissued<S>(rc: RoleContext<S>, action: Action, view: View, message: Message): Message {
  const { name } = action;
  if (action.output === undefined) return rc.issue(message, name);
  const cause = isCauseLeftOpen(message) ? name : message.causeBy;
  if (cause !== name || view.isAnswered(message.instructContent)) return rc.issue(message, name);
  const output = checkedOutput(action, message.instructContent);
  if (isSameJson(output, message.instructContent)) return rc.issue(message, name);
  return rc.issue(createMessage(message.content, { ...message, causeBy: cause, instructContent: output }), name);
}

function checkedOutput(action: Action, value: unknown): unknown {
  const parsed = action.output?.safeParse(value);
  if (parsed === undefined || parsed.success) return parsed === undefined ? value : parsed.data;
  throw new UsageError("ACTION_RESULT", `Expected action ${action.name} to return what its output schema says: ${parsed.error.message}`, {
    cause: parsed.error,
  });
}

/** A transform of the schema may make a Date. Its type would promise one to those who read the message, and they would get a text. */
function assertHandedOn({ name }: Action, output: unknown): void {
  const at = dateIn(output, "$", 0);
  if (at === undefined) return;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected what action ${name} says to be JSON, got a Date at ${at}, which its readers would get as a text. Say z.iso.datetime() in its output schema, and make a Date of the text where you need one.`,
  );
}

/** Nobody's data is as deep; what is, or is a cycle, is refused where its text is made. */
const DEEPEST = 100;

function dateIn(value: unknown, at: string, depth: number): string | undefined {
  if (value instanceof Date) return at;
  if (typeof value !== "object" || value === null || depth === DEEPEST) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = dateIn(member, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function destination(action: Action, view: View, output: unknown): { readonly sendTo?: readonly Address[] } {
  const sendTo = action.sendTo?.(view as unknown as ActionContext<never>, output);
  return sendTo === undefined ? {} : { sendTo };
}
