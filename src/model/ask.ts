import type { z } from "zod";
import { OutputError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import { boundedRequest, callModel, type CallPolicy, type DeltaInfo } from "./call.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, ToolSpec, Usage } from "./chat-model.ts";
import { type OutputSchema, outputSchema } from "./json-schema.ts";
import { addUsage } from "./usage.ts";
import { askAgain, issueLine, type OutputIssue, promptFor, readReply, withLadder } from "./structured-output.ts";

/** One question to a model, through the door every side effect passes. */
export interface AskInput {
  readonly steps: StepPort;
  readonly model: ChatModel;
  readonly messages: readonly ChatMessage[];
  /** How calls are made: clock, retries, limits, prices, timeouts. None of it is part of the step's address. */
  readonly policy: CallPolicy;
  readonly temperature?: number | undefined;
  /** Most tokens of the reply. Default: none, and 16,384 where a price is known. */
  readonly maxTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, Json>> | undefined;
  /** Stops this question alone; the step's own signal always counts. */
  readonly signal?: AbortSignal | undefined;
  /** Text as it comes; an answer from the record comes in one piece. */
  readonly onDelta?: ((text: string, info: DeltaInfo) => void) | undefined;
}

/** A question whose answer may be calls of tools. */
export interface ChatStepInput extends AskInput {
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly toolChoice?: ChatRequest["toolChoice"] | undefined;
  /** How the reply must look on the wire, where the caller reads it itself. */
  readonly format?: ChatRequest["schema"] | undefined;
}

/** What an {@link OutputError} of code `OUTPUT_INVALID` carries. */
export interface OutputErrorData {
  /** The last reply, its first 100 000 characters. */
  readonly text: string;
  readonly issues: readonly OutputIssue[];
  /** Of all replies together. */
  readonly usage: Usage;
}

const KEPT_TEXT = 100_000;
/** Most of one issue that an error's message repeats, in characters. */
const SHOWN_ISSUE = 300;
/** How often a reply that does not fit its schema is asked for again. */
const REASKS = 1;

/**
 * One model call as one step: recorded under what decides its answer (model, messages, tools, schema, sampling), and answered from the
 * record next time. How it travels (streamed or not, which reply format) is no part of its address.
 *
 * @throws ModelError, ControlError: see {@link callModel}
 */
export function chatStep(input: ChatStepInput): Promise<ChatResponse> {
  return recordedCall(input, undefined, false);
}

/**
 * A model's answer: its text, or with `schema` the value read from it.
 *
 * A reply that does not fit is mended here if it can be, and else asked for once more in a second step that shows what is wrong.
 *
 * @throws OutputError `OUTPUT_INVALID` when the second reply does not fit either; its data keeps text, issues and usage.
 * @throws UsageError `SCHEMA_UNSUPPORTED` for a schema that JSON cannot carry.
 * @throws ModelError, ControlError: see {@link callModel}
 */
export async function askModel<S extends z.ZodType>(input: AskInput & { readonly schema: S }): Promise<z.infer<S>>;
export async function askModel(input: AskInput & { readonly schema?: undefined }): Promise<string>;
export async function askModel(input: AskInput & { readonly schema?: z.ZodType | undefined }): Promise<unknown> {
  if (input.schema === undefined) return (await recordedCall(input, undefined, false)).content;
  const output = outputSchema(input.schema);
  let messages = input.messages;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  for (let n = 0; ; n++) {
    const reply = await recordedCall({ ...input, messages }, output, n > 0);
    usage = addUsage(usage, reply.usage);
    const read = readReply(reply.content, input.schema, output);
    if (read.ok) return read.value;
    if (n === REASKS) throw outputError(input.model.id, reply.content, read.issues, usage);
    input.policy.logger?.warn(`${input.model.id}: a reply did not fit and is asked for again. ${issuesText(read.issues, 3)}`);
    messages = askAgain(messages, output, reply.content, read.issues);
  }
}

/**
 * The step records the raw answer; reading it against a schema happens outside, so that a changed reader reads old records.
 *
 * @param schemaTold whether the messages tell the schema already
 */
async function recordedCall(input: ChatStepInput, output: OutputSchema | undefined, schemaTold: boolean): Promise<ChatResponse> {
  const { model, messages, policy, steps } = input;
  if (messages.length === 0) throw new UsageError("MESSAGES_EMPTY", `Expected at least one message for ${model.id}, got none.`);
  const request = boundedRequest(model, requestOf(input), policy.prices);
  const address = { model: model.id, ...request, ...(output === undefined ? {} : { schema: output.json }) };
  let live = false;
  const reply = await steps.step({ kind: "model", name: model.id, request: address, metered: true }, (door) => {
    live = true;
    return liveCall(input, door, request, output, schemaTold);
  });
  if (!live && reply.content !== "") input.onDelta?.(reply.content, { try: 1 });
  return reply;
}

function liveCall(
  input: ChatStepInput,
  door: StepDoor,
  request: ChatRequest,
  output: OutputSchema | undefined,
  schemaTold: boolean,
): Promise<ChatResponse> {
  const signal = input.signal === undefined || input.signal === door.signal ? door.signal : AbortSignal.any([door.signal, input.signal]);
  const deps = { ...input.policy, attempts: door.attempts, signal, onDelta: input.onDelta };
  if (output === undefined) return callModel(input.model, request, deps);
  return withLadder(input.model, output, (rung) => {
    const messages = schemaTold ? request.messages : promptFor(request.messages, output, rung);
    return callModel(input.model, { ...request, messages, schema: rung.format }, deps);
  });
}

/** Everything that decides the answer. The model's own extra fields are said here, so that they are part of the address. */
function requestOf(input: ChatStepInput): ChatRequest {
  const extra = { ...input.model.extra, ...input.extra };
  return {
    messages: input.messages,
    ...(input.tools === undefined || input.tools.length === 0 ? {} : { tools: input.tools }),
    ...(input.toolChoice === undefined ? {} : { toolChoice: input.toolChoice }),
    ...(input.format === undefined ? {} : { schema: input.format }),
    ...(input.temperature === undefined ? {} : { temperature: input.temperature }),
    ...(input.maxTokens === undefined ? {} : { maxTokens: input.maxTokens }),
    ...(input.seed === undefined ? {} : { seed: input.seed }),
    ...(input.stop === undefined ? {} : { stop: input.stop }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function outputError(model: string, text: string, issues: readonly OutputIssue[], usage: Usage): OutputError {
  const data: OutputErrorData = { text: text.slice(0, KEPT_TEXT), issues, usage };
  const said = issuesText(issues, 5);
  return new OutputError(
    "OUTPUT_INVALID",
    `Expected a reply of ${model} that fits its schema, also after asking again, but: ${said}. Use another model, ask for less at once, or simplify the schema.`,
    { data },
  );
}

/** The first issues, each cut to a length at which what to do about them is still seen: their words are partly the model's. */
function issuesText(issues: readonly OutputIssue[], count: number): string {
  const lines = issues.slice(0, count).map(issueLine);
  return lines.map((line) => (line.length > SHOWN_ISSUE ? `${line.slice(0, SHOWN_ISSUE)}…` : line)).join("; ");
}
