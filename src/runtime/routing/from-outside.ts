import { ROUTE_TO_ALL, UserFeedback } from "../../message/address.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message, parseMessage } from "../../message/message.ts";
import { handedOver } from "../../role/handoff.ts";
import type { HiredRoles } from "../hired-roles.ts";
import type { RunState } from "../record/run-state.ts";
import type { Directory } from "./directory.ts";

interface Place {
  readonly state: RunState;
  readonly directory: Directory;
  readonly hired: Pick<HiredRoles, "specOf" | "handsOff">;
}

/** Returns a message from outside with the cause and the recipients that it leaves open. @throws UsageError `MESSAGE_INVALID` */
export function fromOutside(given: Message, place: Place): Message {
  const said = isMessage(given) && Object.isFrozen(given) ? given : parseMessage(given);
  if (!isCauseLeftOpen(said)) return said;
  const message = place.hired.handsOff ? toHolder(said, place) : said;
  // With its fields given, the copy has a cause.
  return asFeedback(message, place) ?? createMessage(message.content, message);
}

/** After a hand-off, what a user says to nobody in particular is for the role that has the conversation. */
function toHolder(message: Message, { state, directory }: Place): Message {
  if (message.sendTo[0] !== ROUTE_TO_ALL) return message;
  const holder = state.deliveries.findLast((said) => handedOver(said) !== undefined)?.sendTo[0];
  if (holder === undefined) return message;
  // A copy of all its fields would have a cause.
  const { causeBy: _cause, ...open } = message;
  const forHolder = createMessage(message.content, { ...open, sendTo: holder });
  return directory.route(forHolder).to.length === 0 ? message : forHolder;
}

/** Returns a message that names no cause as feedback; undefined for the first message of the run, and if no recipient watches feedback. */
function asFeedback(message: Message, { state, directory, hired }: Place): Message | undefined {
  if (state.outside === 0 || !directory.isWatched(UserFeedback.name)) return undefined;
  const feedback = createMessage(message.content, { ...message, causeBy: UserFeedback });
  const { to } = directory.route(feedback);
  const isWatchedBy = (name: string): boolean => hired.specOf(name)?.watch.includes(UserFeedback.name) === true;
  return to.some(isWatchedBy) ? feedback : undefined;
}
