import { z } from "zod";
import { ControlError, JournalError, QueueFullError, type TroupeError, UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import { shownText } from "../kernel/value-text.ts";
import type { CommandOptions, Journal } from "../runtime/record/journal.ts";
import { maskedError } from "../runtime/record/masking.ts";
import { errorFrom } from "../runtime/run-failure.ts";
import type { RunCommand } from "./commands.ts";

/*
 * Commands and the answers to them as JSON, which two processes exchange through a journal. Both sides check what came: the
 * other process may be of another version, and a journal may be written by others.
 */

/** Most characters of a name or a reason in a command. */
const MOST = 10_000;

const text = z.string().max(MOST);

const command: z.ZodType<RunCommand> = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("publish"), message: z.unknown() }),
  z.strictObject({ do: z.literal("hire"), role: text, name: text }),
  z.strictObject({ do: z.literal("retire"), name: text }),
  z.strictObject({ do: z.literal("answer"), question: text, answer: z.unknown() }),
  z.strictObject({ do: z.literal("stop"), reason: text }),
  z.strictObject({ do: z.literal("pause") }),
  z.strictObject({ do: z.literal("proceed") }),
]);

const record = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  data: z.unknown().optional(),
  retryable: z.literal(true).exactOptional(),
});

const outcome = z.union([z.strictObject({ value: z.unknown() }), z.strictObject({ error: record })]);

/**
 * Gives a command to the owner of a run, and returns its answer.
 *
 * @throws JournalError `RUN_UNOWNED`, `RUN_OWNED` for an owner that takes none, `ANSWER_INVALID` for an answer that is none; the error of the
 * owner, as it was thrown there; TimeoutError; ControlError when the signal aborts
 */
export async function giveCommand(
  journal: Pick<Journal, "command">,
  runId: string,
  given: RunCommand,
  o: CommandOptions = {},
): Promise<unknown> {
  if (journal.command === undefined) throw takesNone(runId);
  const answer = outcome.safeParse(await journal.command(runId, jsonRoundTrip(given) as Json, o));
  if (!answer.success) {
    const came = shownText(z.prettifyError(answer.error), 500);
    throw new JournalError(
      "ANSWER_INVALID",
      `Expected the answer of run ${runId}'s owner, got something else: ${came}. Is it of another version?`,
    );
  }
  if ("error" in answer.data) throw thrownAgain(answer.data.error);
  return answer.data.value;
}

/** Does a command that came as JSON, and returns its outcome as JSON. It never rejects. */
export async function obeyed(given: Json, mask: Mask, obey: (command: RunCommand) => Promise<unknown>): Promise<Json> {
  try {
    const parsed = command.safeParse(given);
    if (!parsed.success) throw unknownCommand(z.prettifyError(parsed.error));
    return jsonRoundTrip({ value: (await obey(parsed.data)) ?? null }) as Json;
  } catch (error) {
    return jsonRoundTrip({ error: maskedError(mask, error) }) as unknown as Json;
  }
}

function thrownAgain(given: z.infer<typeof record>): TroupeError {
  const { name, code, message, data } = given;
  if (name === "JournalError") return new JournalError(code, message, { data });
  if (name === "QueueFullError") return new QueueFullError(0, code, message, data);
  if (["ControlError", "AbortedError", "MovedError"].includes(name)) return new ControlError(code, message, { data });
  return errorFrom(given);
}

function unknownCommand(issues: string): UsageError {
  return new UsageError(
    "COMMAND_INVALID",
    `Expected a command for a run, got something else: ${shownText(issues, 500)}. Is it of another version?`,
  );
}

function takesNone(runId: string): JournalError {
  return new JournalError(
    "RUN_OWNED",
    `Expected a journal through which the owner of run ${runId} can be told something, but it has no command. Wait for the run.`,
  );
}
