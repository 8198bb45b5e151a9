import { parseEvent } from "../runtime/record/parse-event.ts";
import { aReadableJournal, type Journal } from "../runtime/record/journal.ts";
import { aText, listOf, object, type Shape, takes } from "../kernel/argument.ts";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { type ErrorRecord, JournalError, TroupeError, UsageError } from "../kernel/errors.ts";
import { canonicalJson, deepFreeze, parsedJson, type Json, type JsonObject } from "../kernel/json.ts";
import { thrownText } from "../kernel/value-text.ts";
import { fold } from "../runtime/record/apply.ts";
import { EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { memoryJournal } from "../runtime/record/memory-journal.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { ChatResponse } from "../model/chat-model.ts";

/** A run in a file, for tests to play. Frozen. */
export interface Cassette {
  readonly troupe: "cassette";
  readonly v: typeof EVENT_VERSION;
  readonly runId: string;
  readonly events: readonly RunEvent[];
}

/** Largest file, in bytes: a cassette is held in memory whole. */
const MAX_FILE = 64 * 1024 * 1024;

const CassetteSchema = z.strictObject({
  troupe: z.literal("cassette"),
  v: z.int(),
  runId: z.string().min(1),
  events: z.array(z.unknown()),
});

/**
 * Writes a run of a journal into one JSON file for a repository: the same run gives the same file, whole or not at all. A journal keeps no
 * known secrets; look at a cassette before you publish it all the same. Record a run with a real model and a fixed `seed`, because prompts
 * may depend on random numbers, and play it by {@link cassetteModel} in a team with the same seed.
 *
 * @throws JournalError `RUN_UNKNOWN`, and for a run that is damaged
 * @throws UsageError `CASSETTE_FILE` when it cannot be written, `CASSETTE_LARGE`
 */
export async function saveCassette(journal: Journal, runId: string, path: string): Promise<Cassette> {
  takes("saveCassette", "journal", journal, aReadableJournal);
  takes("saveCassette", "runId", runId, aText);
  takes("saveCassette", "path", path, aText);
  const events: unknown[] = [];
  let size = 0;
  for await (const event of journal.read(runId, 0)) {
    const line = canonicalJson(event);
    size += line.length;
    checkSize(path, size);
    events.push(JSON.parse(line));
  }
  const text = `${JSON.stringify({ troupe: "cassette", v: EVENT_VERSION, runId, events }, null, 2)}\n`;
  checkSize(path, Buffer.byteLength(text));
  const cassette = cassetteOf(path, JSON.parse(text));
  await writeWhole(path, text);
  return cassette;
}

/**
 * Reads a cassette of {@link saveCassette}.
 *
 * @throws UsageError `CASSETTE_FILE`, `CASSETTE_INVALID`, `CASSETTE_LARGE`
 * @throws JournalError `EVENT_NEWER`, `EVENT_INVALID`, and for events that contradict each other
 */
export async function readCassette(path: string): Promise<Cassette> {
  takes("readCassette", "path", path, aText);
  const text = await onDisk("read", path, async () => {
    checkSize(path, (await stat(path)).size);
    return readFile(path, "utf8");
  });
  const json = parsedJson(text);
  if (json === undefined) throw invalid(path, "a file that is no JSON");
  return cassetteOf(path, json);
}

/** A journal in memory with the run of a cassette, for `team.replay(cassette.runId)`, a fork or an inspection. A replay makes no call. */
export async function cassetteJournal(cassette: Cassette): Promise<Journal> {
  takes("cassetteJournal", "cassette", cassette, aCassette);
  const { runId, events } = cassette;
  const journal = memoryJournal();
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  await journal.append(runId, epoch, 0, events);
  await journal.release(runId, epoch);
  return journal;
}

/** The checked part of a cassette. @internal */
export const aCassette: Shape = object("a cassette that readCassette or saveCassette gave", {
  runId: aText,
  events: listOf(object("an event")),
});

function cassetteOf(path: string, json: unknown): Cassette {
  const parsed = CassetteSchema.safeParse(json);
  if (!parsed.success) throw invalid(path, `one that does not fit: ${z.prettifyError(parsed.error).slice(0, 500)}`);
  const { v, runId } = parsed.data;
  if (v > EVENT_VERSION) {
    throw new JournalError(
      "EVENT_NEWER",
      `Expected a cassette of version ${EVENT_VERSION} or older in ${path}, got version ${v}. Update this program to play it.`,
    );
  }
  const events = parsed.data.events.map(parseEvent);
  if (events[0]?.type !== "run.started") throw invalid(path, "no run");
  const state = fold(events);
  if (state.runId !== runId) throw invalid(path, `the events of run ${state.runId} under the name of ${runId}`);
  return deepFreeze({ troupe: "cassette", v: EVENT_VERSION, runId, events });
}

/** Beside its place first, so that a file under its name is never half of one. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await onDisk("write", path, async () => {
    await mkdir(dirname(path), { recursive: true });
    try {
      await writeFile(draft, text, { flag: "wx" });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  });
}

async function onDisk<T>(what: "read" | "write", path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (TroupeError.isInstance(error)) throw error;
    const advice = what === "read" ? "Record it first: see saveCassette." : "Look at the folder and its rights.";
    throw new UsageError("CASSETTE_FILE", `Expected to ${what} the cassette ${path}, got: ${thrownText(error)}. ${advice}`, {
      cause: error,
    });
  }
}

function checkSize(path: string, bytes: number): void {
  if (bytes <= MAX_FILE) return;
  throw new UsageError(
    "CASSETTE_LARGE",
    `Expected a cassette of at most ${MAX_FILE} bytes, got ${bytes} or more for ${path}. Record a shorter run, or keep it in a journal on disk.`,
  );
}

function invalid(path: string, came: string): UsageError {
  return new UsageError("CASSETTE_INVALID", `Expected a cassette in ${path}, got ${came}. Record it again: see saveCassette.`);
}

export type RecordedAnswer = { readonly ok: true; readonly response: ChatResponse } | { readonly ok: false; readonly error: ErrorRecord };

export interface RecordedCall {
  /** The activation that asked: `role#n~attempt`. */
  readonly act: string;
  readonly model: string;
  /** The request, without secrets. A schema is as it was requested, however it went over the wire. */
  readonly request: JsonObject;
  /** Undefined: the run stopped before it came. */
  readonly answer: RecordedAnswer | undefined;
  /** Micro-dollars of all its tries; null when the price of one is unknown. */
  readonly cost: number | null;
  /** The failures of tries on the way: all of a call that failed, else those that were paid for. Of the last process that asked. */
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
  reasoning: z
    .object({ text: z.string().exactOptional(), parts: z.record(z.string(), z.json() as z.ZodType<Json>).exactOptional() })
    .exactOptional(),
});

interface Reading extends RecordedCall {
  readonly tries: readonly FailedTry[];
}

interface FailedTry {
  readonly error: ErrorRecord;
  readonly isPaid: boolean;
}

/** Returns the calls of models in order, without the failed tries on the way to an answer. @throws UsageError `CASSETTE_INVALID` */
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
  return [...calls.values()].map(({ tries, ...call }) => {
    const failed = tries.filter(({ isPaid }) => isPaid || call.answer?.ok === false).map(({ error }) => error);
    return { ...call, failed };
  });
}

/** A resumed run retries from the first try. */
function forgetTries(calls: Map<string, Reading>): void {
  for (const [key, call] of calls) if (call.answer === undefined) calls.set(key, { ...call, tries: [] });
}

/** A try that was cut off is none: it did not fail by itself. */
function failedTry(event: StepEnd): readonly FailedTry[] {
  const { retry, error, cost } = event;
  if (retry !== true || error?.name !== "ModelError") return [];
  return [{ error, isPaid: cost !== 0 || event.usage !== undefined }];
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
