import { z } from "zod";
import { ControlError, JournalError, QueueFullError, type TroupeError, UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import { shownText } from "../kernel/value-text.ts";
import type { CommandOptions, Journal } from "../runtime/record/journal.ts";
import { maskedError } from "../runtime/record/rewritten-event.ts";
import { errorFrom } from "../runtime/run-failure.ts";
import type { RunCommand } from "../team/publishing.ts";

/*
 * Commands and their answers as JSON, which two processes exchange through a journal. Both sides check what came: the other process may
 * have another version, and others may write the journal.
 */

const MOST = 10_000;

const text = z.string().max(MOST);

const commandSchema: z.ZodType<RunCommand> = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("publish"), message: z.unknown() }),
  z.strictObject({ do: z.literal("hire"), role: text, name: text }),
  z.strictObject({ do: z.literal("retire"), name: text }),
  z.strictObject({ do: z.literal("answer"), question: text, answer: z.unknown() }),
  z.strictObject({ do: z.literal("stop"), reason: text }),
  z.strictObject({ do: z.literal("pause") }),
  z.strictObject({ do: z.literal("proceed") }),
]);

const errorSchema = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  data: z.unknown().optional(),
  retryable: z.literal(true).exactOptional(),
});

const answerSchema = z.union([z.strictObject({ value: z.unknown() }), z.strictObject({ error: errorSchema })]);

/**
 * Gives a command to the owner of a run, and returns its answer.
 *
 * @throws JournalError `RUN_UNOWNED`, `RUN_OWNED` for a journal without commands, `ANSWER_INVALID`; the error of the owner; TimeoutError;
 * ControlError when the signal aborts
 */
export async function giveCommand(
  journal: Pick<Journal, "command">,
  runId: string,
  given: RunCommand,
  o: CommandOptions = {},
): Promise<unknown> {
  if (journal.command === undefined) {
    const expected = `Expected a journal that passes commands to the owner of run ${runId}, but it has no command`;
    throw new JournalError("RUN_OWNED", `${expected}. Wait for the run.`);
  }
  const answer = answerSchema.safeParse(await journal.command(runId, jsonRoundTrip(given) as Json, o));
  if (!answer.success) {
    const came = shownText(z.prettifyError(answer.error), 500);
    const expected = `Expected the answer of run ${runId}'s owner, got something else: ${came}`;
    throw new JournalError("ANSWER_INVALID", `${expected}. Is it of another version?`);
  }
  if ("error" in answer.data) throw errorOf(answer.data.error);
  return answer.data.value;
}

export async function executed(given: Json, mask: Mask, execute: (command: RunCommand) => Promise<unknown>): Promise<Json> {
  try {
    const command = commandSchema.safeParse(given);
    if (!command.success) {
      const came = shownText(z.prettifyError(command.error), 500);
      throw new UsageError("COMMAND_INVALID", `Expected a command for a run, got something else: ${came}. Is it of another version?`);
    }
    return jsonRoundTrip({ value: (await execute(command.data)) ?? null }) as Json;
  } catch (error) {
    return jsonRoundTrip({ error: maskedError(mask, error) }) as unknown as Json;
  }
}

function errorOf(given: z.infer<typeof errorSchema>): TroupeError {
  const { name, code, message, data } = given;
  if (name === "JournalError") return new JournalError(code, message, { data });
  if (name === "QueueFullError") return new QueueFullError(0, code, message, data);
  if (["ControlError", "AbortedError", "MovedError"].includes(name)) return new ControlError(code, message, { data });
  return errorFrom(given);
}
