import { type Action, isAction, noAction } from "./action.ts";
import type { ActionContext, RoleContext } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import { isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Address } from "../message/address.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message } from "../message/message.ts";
import { ActionView, isSameJson, type Work } from "./action-view.ts";
import type { Said } from "./role.ts";

/** Runs one action on the whole news or, where one action follows another, on the messages of that one. Its messages are remembered. */
export function act<S>(rc: RoleContext<S>, action: Action): Said | Promise<Said> {
  const news = handed.get(rc.news);
  return actWith(rc, action, news === undefined ? {} : { news });
}

/** The input of the next action by the news that it replaces. A context that a role passes on by hand has the same news. */
const handed = new WeakMap<readonly Message[], readonly Message[]>();

/** Lets the next action of an activation work on these messages instead of its news. */
export function handOn(news: readonly Message[], messages: readonly Message[]): void {
  handed.set(news, messages);
}

/**
 * Runs one action. Its messages are remembered and returned.
 *
 * @throws UsageError `ACTION_INVALID` for a value that is no action; `ACTION_RESULT` for a result that is no message, text or typed output.
 */
export function actWith<S>(rc: RoleContext<S>, action: Action, work: Work): Said | Promise<Said> {
  if (!isAction(action)) throw noAction(action, `act of role ${rc.name}`);
  const view = new ActionView(rc, action, work);
  rc.began?.(action.name);
  const broke = (error: unknown): never => {
    rc.broke?.(action.name, error);
    throw error;
  };
  let result: unknown;
  try {
    result = action.run(view as unknown as ActionContext<never>);
  } catch (error) {
    return broke(error);
  }
  return isThenable(result)
    ? Promise.resolve(result).then((came) => remembered(rc, action, view, came), broke)
    : remembered(rc, action, view, result);
}

function remembered<S>(rc: RoleContext<S>, action: Action, view: View, result: unknown): Said {
  if (result === undefined || result === null) return undefined;
  if (isMessageList(result, action)) {
    const said = result.map((message) => reissued(rc, action, view, message));
    for (const message of said) rc.memory.add(message);
    return said.length > 1 ? said : said[0];
  }
  const message = isMessage(result) ? reissued(rc, action, view, result) : newMessage(action, view, result);
  rc.memory.add(message);
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

/** True for a list of messages. An empty list counts as one, unless the action promises data: then it is data. */
function isMessageList(result: unknown, action: Action): result is readonly Message[] {
  return Array.isArray(result) && result.every(isMessage) && (result.length > 0 || action.output === undefined);
}

function typedMessage(action: Action, view: View, value: unknown): Message {
  const output = view.isAnswer(value) ? value : checkedOutput(action, value);
  assertHandedOn(action, output);
  const content = action.render?.(output) ?? canonicalJson(output);
  return view.message(content, { instructContent: output, ...destination(action, view, output) });
}

/**
 * Issues a message of an action under the activation's name, with the payload of its action's schema: the same object when nothing changes.
 */
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

/** A transform of the schema may make a Date. Its type would promise a Date to readers of the message, and they would get a text. */
function assertHandedOn({ name }: Action, output: unknown): void {
  const at = dateIn(output, "$", 0);
  if (at === undefined) return;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected what action ${name} says to be JSON, got a Date at ${at}, which its readers would get as a text. Say z.iso.datetime() in its output schema, and make a Date of the text where you need one.`,
  );
}

/** Real data is not this deep; a deeper value or a cycle is refused where its text is made. */
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

/**
 * Returns the messages in the result of a role, or in its news.
 *
 * @throws UsageError `ACTION_RESULT` for a value that is no message, no list of messages and not undefined.
 */
export function messagesOf(said: Said, role: string): readonly Message[] {
  if (said === undefined || said === null) return [];
  if (isMessage(said)) return [said];
  if (Array.isArray(said) && said.every(isMessage)) return said;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected role ${role} to give back messages or nothing, got ${valueText(said)}. Make a message of it: rc.message(text).`,
  );
}

/** Returns the messages of the inbox that the role does not remember yet. A message to itself is news although the role remembers it. */
export function observe<S>(rc: RoleContext<S>): readonly Message[] {
  const first = rc.inbox[0];
  if (first !== undefined && rc.inbox.length === 1) return !rc.memory.has(first) || isOwn(rc, first) ? rc.inbox : nothing;
  const news = rc.memory.findNews(rc.inbox);
  if (news.length === rc.inbox.length) return rc.inbox;
  const unknown = new Set(news);
  return rc.inbox.filter((message) => unknown.has(message) || isOwn(rc, message));
}

const nothing: readonly Message[] = Object.freeze([]);

function isOwn<S>(rc: RoleContext<S>, message: Message): boolean {
  return message.sentFrom === rc.name;
}
