import { isRecord } from "../kernel/value-kind.ts";
import { z } from "zod";
import { type ErrorRecord, UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { ChatResponse } from "../model/chat-model.ts";
import type { RunEvent } from "../runtime/record/event.ts";

/** What came of a recorded call. */
export type RecordedAnswer = { readonly ok: true; readonly response: ChatResponse } | { readonly ok: false; readonly error: ErrorRecord };

/** A call of a model as a run recorded it. */
export interface RecordedCall {
  /** The activation that asked: `role#n~attempt`. */
  readonly act: string;
  /** Id of the model. */
  readonly model: string;
  /** What was asked, without secrets. A schema stands as it was asked for, however it went over the wire. */
  readonly request: JsonObject;
  /** Undefined: the run stopped before it came. */
  readonly answer: RecordedAnswer | undefined;
  /** Micro-dollars of all its tries; null when the price of one is unknown. */
  readonly cost: number | null;
  /** Why tries failed on the way: all of a call that failed, else those that were paid for. Of the last process that asked. */
  readonly failed: readonly ErrorRecord[];
}

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().exactOptional(),
  estimated: z.boolean().exactOptional(),
});

const ResponseSchema: z.ZodType<ChatResponse> = z.object({
  content: z.string(),
  toolCalls: z.array(
    z.object({
      id: z.string(),
      type: z.literal("function"),
      function: z.object({ name: z.string(), arguments: z.string() }),
      extra: z.record(z.string(), z.json() as z.ZodType<Json>).exactOptional(),
    }),
  ),
  finishReason: z.enum(["stop", "length", "tool_calls", "content_filter"]),
  usage: usage.exactOptional(),
  refusal: z.string().exactOptional(),
});

/** A call that is being read, with all of its tries that failed. */
interface Reading extends RecordedCall {
  readonly tries: readonly FailedTry[];
}

interface FailedTry {
  readonly error: ErrorRecord;
  readonly isPaid: boolean;
}

/**
 * The calls of models in a run, in the order they were asked. Tries that failed on the way to an answer are no calls of their own.
 *
 * @throws UsageError `CASSETTE_INVALID` for an answer that no model gives
 */
export function recordedCalls(events: Iterable<RunEvent>): readonly RecordedCall[] {
  const calls = new Map<string, Reading>();
  for (const event of events) {
    if (event.type === "run.resumed") forgetTries(calls);
    if (event.type === "step.started" && event.kind === "model") {
      const { act, name, request } = event;
      const key = `${act} ${event.key}`;
      if (!calls.has(key))
        calls.set(key, { act, model: name, request: asObject(request), answer: undefined, cost: 0, failed: [], tries: [] });
    }
    if (event.type !== "step.ended") continue;
    const call = calls.get(`${event.act} ${event.key}`);
    if (call === undefined) continue;
    const cost = event.cost === null || call.cost === null ? null : call.cost + event.cost;
    const tries = [...call.tries, ...failedTry(event)];
    calls.set(`${event.act} ${event.key}`, { ...call, cost, tries, answer: event.retry === true ? undefined : answerOf(event) });
  }
  return [...calls.values()].map(({ tries, ...call }) => ({ ...call, failed: failedOf(call, tries) }));
}

/** Who goes on tries anew, and may try as often as before. */
function forgetTries(calls: Map<string, Reading>): void {
  for (const [key, call] of calls) if (call.answer === undefined) calls.set(key, { ...call, tries: [] });
}

/** A try that was cut off is none: it did not fail by itself. */
function failedTry(event: StepEnd): readonly FailedTry[] {
  const { retry, error, cost } = event;
  if (retry !== true || error?.name !== "ModelError") return [];
  return [{ error, isPaid: cost !== 0 || event.usage !== undefined }];
}

function failedOf({ answer }: Pick<RecordedCall, "answer">, tries: readonly FailedTry[]): readonly ErrorRecord[] {
  return tries.filter(({ isPaid }) => isPaid || answer?.ok === false).map(({ error }) => error);
}

type StepEnd = Extract<RunEvent, { readonly type: "step.ended" }>;

function answerOf(event: StepEnd): RecordedAnswer {
  if (!event.ok) return { ok: false, error: event.error ?? { name: "StepError", code: "ERROR", message: "It failed." } };
  const parsed = ResponseSchema.safeParse(event.value);
  if (parsed.success) return { ok: true, response: parsed.data };
  throw new UsageError(
    "CASSETTE_INVALID",
    `Expected the answer of a model at event ${event.seq} of run ${event.runId}, got something else: ${z.prettifyError(parsed.error).slice(0, 300)}. Record the run again.`,
  );
}

function asObject(request: Json): JsonObject {
  return isRecord(request) ? (request as JsonObject) : {};
}
