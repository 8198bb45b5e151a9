import type { z } from "zod";
import { outputSchema } from "../model/json-schema.ts";
import { readReply } from "../model/structured-output.ts";
import type { Mind } from "./net.ts";

const PROMPT =
  "Give your answer to the task once more, whole, in the form that is asked for here. Add nothing that you have not found, and leave nothing out.";

/**
 * An answer as a value of a schema: read from its text where that holds it, and else asked for once the work is done.
 *
 * @throws OutputError `OUTPUT_INVALID` when the second reply does not fit either.
 */
export async function typedAnswer<S extends z.ZodType>(mind: Mind, schema: S, text: string): Promise<z.infer<S>> {
  const read = readReply(text, schema, outputSchema(schema));
  return read.ok ? read.value : mind.read(schema, { prompt: PROMPT });
}
