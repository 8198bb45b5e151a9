import type { HumanPort } from "./approval.ts";
import { type AnySchema, type ValueOf, zodOf } from "../model/standard-schema.ts";
import type { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import type { StepDoor, StepPort, StepSpec } from "../kernel/step.ts";
import type { MessageFile } from "../message/file.ts";
import type { ImagePart } from "../model/chat-message.ts";
import type { ChatModel, ToolSpec } from "../model/chat-model.ts";
import { checkPermission, type Permission } from "./permission.ts";
import { type CheckedArguments, jsonParameters, zodParameters } from "./tool-parameters.ts";
import type { Guard } from "./guard.ts";
import type { ToolResult } from "./tool-result.ts";
import { defined, isObject } from "../kernel/value-kind.ts";
import { object, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { isZod3 } from "../model/json-schema.ts";

/** A value that is no result is its output. */
export type ToolAnswer = ToolResult | Json | void;

/** Options of the question of a tool to a model. */
export interface ToolAskOptions {
  readonly system?: string;
  readonly images?: readonly ImagePart[];
  readonly model?: ChatModel;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

/** Options of the question of a tool to a person. */
export interface ToolQuestionOptions {
  /** Likely answers. The person may answer in other words. Default: none. */
  readonly choices?: readonly string[];
}

/** The access of a tool to a person. */
export interface ToolHuman {
  /** The tool's time stops meanwhile. A tool that asks must be `idempotent`: it runs again when the answer comes later. */
  ask(question: string, o?: ToolQuestionOptions): Promise<string>;
  /** Asks without a step of its own. @internal */
  readonly answer: HumanPort;
}

/** Closed when the call has ended. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /** An idempotency key, stable across resume. */
  readonly key: string;
  /** `replay`: nothing outside a scratch folder may change. */
  readonly mode: StepDoor["mode"];
  /** Records a side effect inside the call: `step(name, request, effect)` as in an action, or with a whole {@link StepSpec}. */
  step<T>(name: string, request: unknown, effect: (door: StepDoor) => Promise<T>): Promise<T>;
  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T>;
  /** The agent's model. Each answer is a step inside the call. Undefined where the caller has none. */
  readonly model?: ChatModel | undefined;
  /**
   * Asks the agent's model, or another one, as a step inside the call.
   *
   * @throws UsageError `MODEL_MISSING` where there is none; ModelError, OutputError, ControlError
   */
  ask(prompt: string, o?: ToolAskOptions): Promise<string>;
  ask<T extends AnySchema>(prompt: string, o: ToolAskOptions & { readonly schema: T }): Promise<ValueOf<T>>;
  /** Returns the bytes of a file of a message. @throws UsageError `FILE_UNKNOWN` for a file that the run does not have */
  file(file: MessageFile): Promise<Uint8Array>;
  /** The budget that binds the call: for a run or an agent that the call starts, whose end by it does not end the run of the call. */
  readonly budget: BudgetPool;
  /** Undefined where no one can be asked. */
  readonly human?: ToolHuman;
  /** The same object for all calls of an agent: the key of state that a tool keeps between them. */
  readonly session?: object;
  /** The `deps` of the team, the environment or the agent. Never recorded. */
  readonly deps?: Deps | undefined;
  /** The `context` of the run. @throws ControlError `CONTEXT_MISSING`, which stops the run */
  readonly context: RunContext;
  /** Never part of the result. */
  readonly progress: (text: string) => void;
  readonly clock: Clock;
}

/** A stateless definition. */
export interface Tool<P = unknown> {
  /** 1 to 64 letters, digits, `_` and `-`, as providers demand. */
  readonly name: string;
  readonly description: string;
  readonly spec: ToolSpec;
  readonly parameters: z.ZodType<P> | undefined;
  /** A tool that only reads may run without permission, again, and at the same time as others. Default: "write". */
  readonly effect: "read" | "write";
  /** Milliseconds, without the waits for a person or a model. Default: 60,000. */
  readonly timeout: number;
  /** For calls that no rule of a policy fits. Default: "ask" for a tool whose `effect` is given as "write", else "allow". */
  readonly permission: Permission;
  /** A call that may have happened can run again after a crash. Default: true for tools that only read. */
  readonly idempotent: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default: false. */
  readonly again: boolean;
  /** Its answer depends on more than its arguments: a fork calls it again. Default: true for tools that only read. */
  readonly fresh: boolean;
  /** Default: false. */
  readonly ends: boolean;
  /** What ends is no answer, because another role answers. @internal */
  readonly passesOn?: boolean;
  /** Default: true. False when one call must see the effect of the call before it. */
  readonly parallel: boolean;
  /** Equal calls with equal answers are no loop, up to 20 in a row. Default: false. */
  readonly polls: boolean;
  /** Characters of one result. Default: 12,000. */
  readonly maxOutput: number;
  /** Checks of its arguments (`input`) and its results (`output`): see `guard`. Default: none. */
  readonly guards?: readonly Guard[];
  check(args: JsonObject): CheckedArguments<P>;
  execute(args: P, ctx: ToolContext): ToolAnswer | Promise<ToolAnswer>;
  /** Called before the agent of a role begins. What it returns is added to its task. @internal */
  opens?(steps: StepPort): Promise<readonly string[]>;
  /** Releases what the tool holds for one agent, after each run in which the tool ran. It has 10 seconds; its error is a warning. */
  close?(o: ToolClosing): void | Promise<void>;
}

/** The context in which a tool releases its resources. */
export interface ToolClosing {
  /** See {@link ToolContext.session}. */
  readonly session: object | undefined;
  readonly signal: AbortSignal;
}

type Settings =
  | "effect"
  | "timeout"
  | "permission"
  | "idempotent"
  | "again"
  | "fresh"
  | "ends"
  | "parallel"
  | "polls"
  | "maxOutput"
  | "guards"
  | "close";
type ToolFields = Pick<Tool, "name" | "description"> & Partial<Pick<Tool, Settings>>;

const toolOptions: Known<ToolOptions<AnySchema>> = {
  ...kinds.each(kinds.checked, "name", "description", "timeout", "permission", "maxOutput"),
  effect: kinds.oneOf("read", "write"),
  ...kinds.each(kinds.boolean, "idempotent", "again", "fresh", "ends", "parallel", "polls"),
  ...kinds.each(kinds.function, "close", "execute"),
  guards: kinds.guards,
  parameters: { says: "a schema, or a JSON Schema", fits: (value) => isObject(value) || typeof value === "function" },
};

/** A tool whose parameters are an object of zod, or of another library that implements Standard Schema. */
export interface ToolOptions<S extends AnySchema> extends ToolFields {
  readonly parameters: S;
  execute(args: ValueOf<S>, ctx: ToolContext): ToolAnswer | Promise<ToolAnswer>;
}

/** A tool whose parameters are a JSON Schema, or that has none. */
export interface PlainToolOptions extends ToolFields {
  readonly parameters?: JsonObject;
  execute(args: JsonObject, ctx: ToolContext): ToolAnswer | Promise<ToolAnswer>;
}

const TIMEOUT = 60_000;
const MAX_OUTPUT = 12_000;
const MAX_NAME = 64;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * @throws UsageError `TOOL_INVALID` for a name that providers refuse, an invalid time or limit, or parameters that are no object;
 * `SCHEMA_UNSUPPORTED` for parameters that JSON cannot carry.
 * @example
 * import { callTool, defineTool } from "troupe/agents";
 * import { z } from "zod";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   effect: "read",
 *   execute: ({ a, b }) => a + b,
 * });
 * const call = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":2,"b":3}' } } as const;
 * console.log((await callTool(call, { tools: [add] })).result.output); // 5
 */
export function defineTool<S extends AnySchema>(options: ToolOptions<S>): Tool<ValueOf<S>>;
export function defineTool(options: PlainToolOptions): Tool<JsonObject>;
export function defineTool(options: ToolOptions<AnySchema> | PlainToolOptions): Tool {
  takes("defineTool", "options", options, object("an object with name, description and execute"));
  checkFields(options);
  checkKnownOptions(`defineTool ${JSON.stringify(options.name)}`, options, toolOptions);
  const { name, description, effect = "write", parameters: given, execute: _, close, ...settings } = options;
  const parameters = zodOf(given) as z.ZodType | JsonObject | undefined;
  const { json, check } = isZod(parameters) ? zodParameters(name, parameters) : jsonParameters(name, parameters);
  const reads = effect === "read";
  const asks = options.effect !== undefined && !reads;
  const byDefault = { timeout: TIMEOUT, permission: asks ? "ask" : "allow", again: false, ends: false, parallel: true } as const;
  return Object.freeze({
    ...{ ...byDefault, idempotent: reads, fresh: reads, polls: false, maxOutput: MAX_OUTPUT, ...defined(settings) },
    ...{ name, description, effect, check },
    spec: Object.freeze({ name, description, parameters: json }),
    parameters: isZod(parameters) ? parameters : undefined,
    execute: (args: unknown, ctx: ToolContext) => options.execute(args as JsonObject, ctx),
    ...(close === undefined ? {} : { close: (o: ToolClosing) => options.close?.(o) }),
  });
}

/** Also for schemas of another copy of zod, and of zod 3, which is refused by name. */
function isZod(parameters: unknown): parameters is z.ZodType {
  return (isObject(parameters) && "_zod" in parameters) || isZod3(parameters);
}

function checkFields({ name, description, timeout = TIMEOUT, maxOutput = MAX_OUTPUT, permission = "ask" }: ToolFields): void {
  if (typeof name !== "string" || !NAME.test(name) || name === "__proto__") {
    throw invalid("a tool's name of 1 to 64 letters, digits, _ and -", valueText(name));
  }
  if (typeof description !== "string") throw invalid(`a description of the tool "${name}"`, valueText(description));
  if (!Number.isFinite(timeout) || timeout <= 0) {
    throw invalid(`a time limit of the tool "${name}" in milliseconds, more than 0 and finite`, String(timeout));
  }
  if (!Number.isSafeInteger(maxOutput) || maxOutput < 1) {
    throw invalid(`the most characters of the tool "${name}" as a whole number of 1 or more`, String(maxOutput));
  }
  checkPermission(permission, `the tool "${name}"`);
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("TOOL_INVALID", `Expected ${expected}, got ${got}.`);
}

/** Returns a string as the name of a tool. */
export function toolName(given: string): string {
  return given.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, MAX_NAME);
}
