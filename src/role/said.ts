import { isMessage, type Message } from "../message/message.ts";
import type { Said } from "./role.ts";

/** The messages in what a role said. */
export function messagesOf(said: Said): readonly Message[] {
  if (said === undefined) return [];
  return isMessage(said) ? [said] : said;
}
