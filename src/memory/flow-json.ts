import { takes } from "../kernel/argument.ts";
import { aFlow, type MessageFlow } from "./message-flow.ts";

/** Separators, control and format characters, which JSON leaves alone and readers of lines and terminals do not. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A flow as JSON text of several lines. Every character that is not seen is written as `\uXXXX`. */
export function flowJson(flow: MessageFlow): string {
  takes("flowJson", "flow", flow, aFlow);
  return JSON.stringify(flow, null, 2).replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}
