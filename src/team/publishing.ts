import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import { defined, isRecord } from "../kernel/value-kind.ts";
import { ROUTE_TO_ALL, UserRequirement } from "../message/address.ts";
import { withData } from "../message/file.ts";
import {
  createMessage,
  isCauseLeftOpen,
  isMessage,
  type Message,
  parseMessage,
  type Receipt,
  serializeMessage,
} from "../message/message.ts";
import type { Environment } from "../runtime/environment.ts";
import { agentMode } from "../role/react.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import { DEFAULT_MESSAGE_LIMIT } from "../runtime/environment-options.ts";
import type { Sent } from "../runtime/record/event.ts";
import { maskedMessage } from "../runtime/record/rewritten-event.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { admitSignal, isAwaited } from "../runtime/record/signals.ts";
import { unwatchedCauses } from "./crew.ts";

/** The result of publishing a message from outside into a run: it is recorded. */
export interface RunReceipt extends Receipt {
  /** True if it waits for a resume: the run is at rest, and a recipient has not read the message, or a role waits for the signal. */
  readonly waits: boolean;
}

export function openingMessage(idea: string | Message, now: number): Message {
  const said = checkedNews(idea);
  return typeof said === "string" ? createMessage(said, { id: "user#1", causeBy: UserRequirement, timestamp: now }) : said;
}

export type RunCommand =
  | { readonly do: "publish"; readonly message: unknown }
  | { readonly do: "hire"; readonly role: string; readonly name: string }
  | { readonly do: "retire"; readonly name: string }
  | { readonly do: "take"; readonly name: string; readonly by?: string; readonly back?: true }
  | { readonly do: "answer"; readonly question: string; readonly answer: unknown }
  | { readonly do: "stop"; readonly reason: string }
  | { readonly do: "pause" }
  | { readonly do: "proceed" };

export interface ChangedRun {
  readonly mask: Mask;
  readonly isOver: () => boolean;
}

export interface RunChange<T> {
  /** Resolves when the change is recorded. It records synchronously, because later the run may have ended. */
  make(environment: Environment, run: ChangedRun): Promise<T>;
  command(mask: Mask): RunCommand;
  result(answer: unknown): T;
}

export function checkedNews(given: Message | string): Message | string {
  if (typeof given === "string") return given;
  return isMessage(given) && Object.isFrozen(given) ? given : parseMessage(given);
}

/** Publishes a message from outside. A message with a known id is not published again, so a caller without a receipt can repeat the call. */
export function publishOnce(environment: Environment, given: Message | string, mask: Mask): Receipt {
  const { state } = environment;
  const message = checkedNews(given);
  const { content } = typeof message === "string" ? { content: message } : message;
  assertSize(state, content);
  if (typeof message === "string") return environment.publishMessage(message);
  const known = state.fromOutside.get(message.id);
  if (known === undefined) {
    admitSignal(state, message);
    return environment.publishMessage(message);
  }
  assertSame(known, message, mask);
  return { message: known.message, recipients: known.to };
}

export function publishing(given: Message | string): RunChange<RunReceipt> {
  return {
    async make(environment, { mask, isOver }) {
      const receipt = publishOnce(environment, given, mask);
      await environment.log.durable();
      return { ...receipt, waits: isOver() && isUnread(environment.state, receipt) };
    },
    command: (mask) => ({ do: "publish", message: messageIn(given, mask) }),
    result: receiptIn,
  };
}

function messageIn(given: Message | string, mask: Mask): unknown {
  if (typeof given === "string") return mask(given);
  const { causeBy, files, ...others } = serializeMessage(maskedMessage(mask, given));
  const wire = files === undefined ? others : { ...others, files: withData(files) };
  return isCauseLeftOpen(given) ? wire : { ...wire, causeBy };
}

export async function hiring(role: Role, name: string): Promise<RunChange<void>> {
  if (roleSpec(role).mode === "agent") await agentMode();
  return {
    async make(environment) {
      environment.engine.team.hire(role, name);
      await environment.log.durable();
    },
    command: () => ({ do: "hire", role: role.name, name }),
    result: () => undefined,
  };
}

export function retiring(name: string): RunChange<void> {
  takes("retire", "name", name, aText);
  return {
    async make(environment) {
      const before = unwatchedCauses(environment.team, []);
      environment.engine.team.retire(name);
      for (const { role, cause, warning } of unwatchedCauses(environment.team, []))
        if (!before.some((known) => known.role === role && known.cause === cause)) environment.warn(warning);
      await environment.log.durable();
    },
    command: () => ({ do: "retire", name }),
    result: () => undefined,
  };
}

export function taking(name: string, { by, back }: { readonly by?: string; readonly back?: true }): RunChange<void> {
  takes(back === true ? "giveBackRole" : "takeRole", "name", name, aText);
  const o = defined({ by, back });
  if (by?.trim() === "") throw new UsageError("OPTION_INVALID", "Expected the name of a person in `by`, got none. Leave it out.");
  return {
    async make(environment) {
      environment.engine.team.take(name, o);
      await environment.log.durable();
    },
    command: () => ({ do: "take", name, ...o }),
    result: () => undefined,
  };
}

function receiptIn(answer: unknown): RunReceipt {
  const { message, recipients, waits } = isRecord(answer) ? answer : {};
  const names = Array.isArray(recipients) ? recipients.filter((name) => typeof name === "string") : [];
  return { message: parseMessage(message), recipients: names, waits: waits === true };
}

function isUnread(state: RunState, { message, recipients }: Receipt): boolean {
  const { roles, pending } = state;
  const { id } = message;
  return (
    isAwaited(state, message) ||
    pending.some(({ sent }) => sent.message.id === id) ||
    recipients.some((name) => roles.get(name)?.mailbox.has(id) === true)
  );
}

function assertSize({ bounds: { messageLimit = DEFAULT_MESSAGE_LIMIT } }: RunState, content: string): void {
  if (content.length <= messageLimit) return;
  const expected = `Expected a message of at most ${messageLimit} characters from outside`;
  throw new UsageError("MESSAGE_TOO_LONG", `${expected}, got ${content.length}. Write long content to a file, and name the file.`);
}

function assertSame({ message: before }: Sent, message: Message, mask: Mask): void {
  // The run itself chooses the cause, and after a hand-off the recipient, of words to nobody in particular.
  const { causeBy, sendTo } = before;
  const isForAll = message.sendTo[0] === ROUTE_TO_ALL;
  const meant = isCauseLeftOpen(message) ? { ...message, causeBy, ...(isForAll ? { sendTo } : {}) } : message;
  if (isSameMessage(before, meant, mask)) return;
  const expected = `Expected an id of its own for another message, got "${message.id}", which a message of this run has`;
  throw new UsageError("MESSAGE_KNOWN", `${expected}. Leave the id out to get a new one.`);
}

/** True for messages that differ at most in id, time and secrets: a program may recreate a message, and the record has no secrets. */
export function isSameMessage(one: Message, other: Message, mask: Mask): boolean {
  return one === other || wordsOf(one, mask) === wordsOf(other, mask);
}

function wordsOf(message: Message, mask: Mask): string {
  const { id: _id, timestamp: _timestamp, ...words } = maskedMessage(mask, message);
  return canonicalJson(words);
}
