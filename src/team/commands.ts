import { JournalError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { isCauseLeftOpen, type Message, serializeMessage } from "../message/message.ts";
import { maskedMessage } from "../runtime/record/masking.ts";

/** A command that a process gives to the owner of a run in another one. */
export type RunCommand =
  | { readonly do: "publish"; readonly message: unknown }
  | { readonly do: "hire"; readonly role: string; readonly name: string }
  | { readonly do: "retire"; readonly name: string }
  | { readonly do: "answer"; readonly question: string; readonly answer: unknown }
  | { readonly do: "stop"; readonly reason: string }
  | { readonly do: "pause" }
  | { readonly do: "proceed" };

/** Returns a message from outside as a command carries it, without secrets. A cause that is left open stays open. */
export function messageIn(given: Message | string, mask: Mask): unknown {
  if (typeof given === "string") return mask(given);
  const { causeBy, ...wire } = serializeMessage(maskedMessage(mask, given));
  return isCauseLeftOpen(given) ? wire : { ...wire, causeBy };
}

/** True for the refusal of a claim because another owner has the run. */
export function isOwned(error: unknown): boolean {
  return error instanceof JournalError && error.code === "RUN_OWNED";
}

/** True for the refusal of a command because nobody owns the run. */
export function isUnowned(error: unknown): boolean {
  return error instanceof JournalError && error.code === "RUN_UNOWNED";
}
