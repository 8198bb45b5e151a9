import { ModelError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ChatModel, ReplyFormat } from "./chat-model.ts";
import { errorData } from "./failure.ts";
import type { OutputSchema } from "./json-schema.ts";

const FORMAT_NAME = "reply";

export interface Rung {
  readonly format: ReplyFormat;
  readonly inPrompt: "nothing" | "schema" | "schema and fence";
}

const looseRungs: readonly Rung[] = deepFreeze([
  { format: { type: "json" }, inPrompt: "schema" },
  { format: { type: "text" }, inPrompt: "schema and fence" },
]);
const knownRungs = new WeakMap<OutputSchema, readonly Rung[]>();

/** Strict schema, JSON mode, plain text; a schema that no provider enforces starts at the second. Frozen, because all calls share them. */
export function rungsFor(output: OutputSchema): readonly Rung[] {
  const known = knownRungs.get(output);
  if (known !== undefined) return known;
  const { strict } = output;
  const strictRung: Rung | undefined = strict && { format: { type: "schema", name: FORMAT_NAME, schema: strict }, inPrompt: "nothing" };
  const rungs = strictRung === undefined ? looseRungs : deepFreeze([strictRung, ...looseRungs]);
  knownRungs.set(output, rungs);
  return rungs;
}

const knownFormat = new WeakMap<ChatModel, ReplyFormat["type"]>();
const order: readonly ReplyFormat["type"][] = ["schema", "json", "text"];

/**
 * Calls with the best reply format that the model's server accepts, one rung lower after each refusal, and remembers the accepted one for
 * this model. A refusal of one schema alone is not remembered.
 *
 * @throws ModelError of the last rung, or any other that `call` throws.
 */
export async function withLadder<T>(model: ChatModel, output: OutputSchema, call: (rung: Rung) => Promise<T>): Promise<T> {
  const highest = knownFormat.get(model);
  const rungs = highest === undefined ? rungsFor(output) : rungsFrom(order.indexOf(highest), output);
  let refusedForGood = false;
  for (const [index, rung] of rungs.entries()) {
    try {
      const answer = await call(rung);
      if (refusedForGood) knownFormat.set(model, rung.format.type);
      return answer;
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== "MODEL_FORMAT_UNSUPPORTED" || index === rungs.length - 1) throw error;
      if (errorData(error).schemaOnly !== true) refusedForGood = true;
    }
  }
  throw new RangeError("a ladder has at least one rung");
}

function rungsFrom(place: number, output: OutputSchema): readonly Rung[] {
  return rungsFor(output).filter(({ format }) => order.indexOf(format.type) >= place);
}

/** Adds what a rung needs to the last message of the user. */
export function promptFor(messages: readonly ChatMessage[], output: OutputSchema, rung: Rung): readonly ChatMessage[] {
  if (rung.inPrompt === "nothing") return messages;
  const form =
    rung.inPrompt === "schema" ? "one JSON object and nothing else" : "one JSON object in a ```json fenced block and nothing else";
  const words = `Answer with ${form}. It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  return [
    ...messages.slice(0, -1),
    { ...last, content: last.content === undefined || last.content === "" ? words : `${last.content}\n\n${words}` },
  ];
}
