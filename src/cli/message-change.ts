import type { Action } from "../role/action.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { changedMessage, type MessageChange } from "../runtime/replay/fork-copy.ts";
import { shown } from "./screen/text.ts";

/** Which message of which event, and the file with what it shall say. */
export interface WantedEdit {
  readonly seq: number;
  readonly nth: number;
  readonly file: string;
}

/** `12=file`, or `12.1=file` for the second message of event 12. @throws UsageError `OPTION_INVALID` */
export function wantedEdit(text: string): WantedEdit {
  const [, seq, nth = "0", file] = /^(\d{1,10})(?:\.(\d{1,4}))?=(.+)$/s.exec(text) ?? [];
  if (seq !== undefined && file !== undefined) return { seq: Number(seq), nth: Number(nth), file };
  throw new UsageError(
    "OPTION_INVALID",
    `Expected --edit to be the number of an event and a file, such as 12=idea.md, got "${shown(text, 80)}".`,
  );
}

/** `12`, or `12.1` for the second message of event 12. @throws UsageError `OPTION_INVALID` */
export function wantedDrop(text: string): MessageChange {
  const [, seq, nth = "0"] = /^(\d{1,10})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (seq !== undefined) return { seq: Number(seq), nth: Number(nth), drop: true };
  throw new UsageError("OPTION_INVALID", `Expected --drop to be the number of an event, such as 12, got "${shown(text, 80)}".`);
}

/**
 * What a message becomes by the text of a file. One that carries data for programs is edited as that data, in JSON; its words follow from it.
 *
 * @param event the one that tells of the message
 * @throws UsageError `FORK_CHANGE` when the event has no such message; `EDIT_INVALID` when the text is not what the message carries
 */
export function editedMessage({ seq, nth, file }: WantedEdit, text: string, event: RunEvent, actions: readonly Action[]): MessageChange {
  const { message } = changedMessage(event, { seq, nth });
  if (message.instructContent === undefined) return { seq, nth, content: text.trim() };
  const action = actions.find(({ name }) => name === message.causeBy);
  const payload = parsedJson(text, file, message);
  if (action?.output === undefined) return { seq, nth, instructContent: payload };
  const parsed = action.output.safeParse(payload);
  if (!parsed.success) throw notData(file, message, parsed.error.message);
  return { seq, nth, instructContent: parsed.data, ...(action.render === undefined ? {} : { content: action.render(parsed.data) }) };
}

function parsedJson(text: string, file: string, message: Message): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw notData(file, message, error instanceof Error ? error.message : String(error));
  }
}

function notData(file: string, { causeBy }: Message, why: string): UsageError {
  return new UsageError(
    "EDIT_INVALID",
    `Expected ${shown(file, 100)} to hold the data of a message of ${shown(causeBy, 60)}, as JSON, but ${shown(why, 500)}. See it with: troupe runs events <id> --json`,
  );
}
