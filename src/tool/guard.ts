import { takes } from "../kernel/argument.ts";
import { StepError, UsageError } from "../kernel/errors.ts";
import { type Json, type JsonObject, jsonRoundTrip } from "../kernel/json.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isObject } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { WholeCallOptions } from "./call-options.ts";
import { toolEndIn } from "./plain-result.ts";
import { resultText } from "./tool-result.ts";
import { runTool } from "./run-tool.ts";
import { cutText } from "./shown-text.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";

/** The subject of a judgement, and the means of a guard. */
export interface GuardContext extends Pick<ToolContext, "signal" | "ask" | "step" | "human" | "deps" | "context" | "clock"> {
  /** The task, the answer, the arguments of the call as JSON, or the result of the tool. */
  readonly text: string;
  /** The answer as a value, where the role has a schema for it. */
  readonly value?: unknown;
  /** The call, for `on: "call"`, and for a tool of its own. */
  readonly call?: { readonly tool: string; readonly args: JsonObject };
  readonly role: string;
}

/** Nothing: it may pass. A string: why it may not. `{ rewrite }`: it passes as this instead: a string, or a value or arguments that fit the schema. */
export type GuardVerdict = string | { readonly rewrite: Json } | void | undefined;

/** Options of {@link guard}. */
export interface GuardOptions {
  readonly name: string;
  /** The subject: the task, the answer, or each call of a tool before it is made. A tool's own guard judges its arguments (`input`) or its result. */
  readonly on: "input" | "output" | "call";
  readonly check: (ctx: GuardContext) => GuardVerdict | Promise<GuardVerdict>;
  /** After a refusal. `stop`: fails with `GUARD_REFUSED`. `ask`: a person decides. `retry`: the model answers again, twice at most. Default `stop`. */
  readonly then?: "stop" | "ask" | "retry";
  /** Judges the input while the model works: what comes of it counts, and tools run, only if the guard lets it pass. Default false: before. */
  readonly beside?: boolean;
  /** Milliseconds of one check, without waiting for models and people. Default 60,000. */
  readonly timeout?: number;
}

const guardOptions: Known<GuardOptions> = {
  name: kinds.text,
  on: kinds.oneOf("input", "output", "call"),
  check: kinds.function,
  then: kinds.oneOf("stop", "ask", "retry"),
  beside: kinds.boolean,
  timeout: kinds.size,
};

/** A check of the input, the output or the calls of a role, an action, a tool, an agent or a team. Made by {@link guard}. */
export interface Guard extends Required<Pick<GuardOptions, "name" | "on" | "then" | "beside">> {
  /** Its check in the form of a tool, which has the limits of one. @internal */
  readonly tool: Tool;
}

const TIMEOUT = 60_000;
const MAX_REWRITE = 1_000_000;
const SHOWN = 2_000;

/**
 * Makes a check for the option `guards` of a role, an action, a tool, an agent or a team. Each verdict is recorded, so a resumed run does not check again. A check
 * that throws or takes too long lets nothing pass (`GUARD_FAILED`).
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { Agent, guard } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const polite = guard({ name: "polite", on: "output", then: "retry", check: ({ text }) => (text.includes("please") ? undefined : 'It lacks a "please".') });
 * const agent = new Agent({ name: "guide", model: scriptedModel(["Go left.", "Go left, please."]), guards: [polite] });
 * console.log((await agent.run("Where?").result).answer); // Go left, please.
 */
export function guard(options: GuardOptions): Guard {
  takes("guard", "options", options, kinds.options(guardOptions, "name", "on", "check"));
  const { name, on, check, then = "stop", beside = false, timeout = TIMEOUT } = options;
  if (then === "retry" && on === "input") throw invalid(name, 'then: "stop" or "ask" for an input, which no model can write again', then);
  if (beside && on !== "input") throw invalid(name, 'on: "input" with beside, because only an input has work beside it', on);
  const tool = defineTool({
    name: "guard",
    description: name,
    timeout,
    maxOutput: MAX_REWRITE,
    effect: "read",
    execute: async (given, ctx) => {
      const subject = given as unknown as GuardSubject;
      const verdict = await check(contextOf(subject, ctx));
      const isRight =
        verdict === undefined ||
        typeof verdict === "string" ||
        (isObject(verdict) && "rewrite" in verdict && verdict.rewrite !== undefined);
      if (!isRight)
        throw new UsageError("GUARD_INVALID", `Expected the check to return nothing, a reason or { rewrite }, got ${valueText(verdict)}.`);
      if (typeof verdict !== "string") return { output: "judged", data: jsonRoundTrip((verdict ?? null) as Json) };
      if (verdict === "" || then !== "ask") return { output: "judged", data: verdict };
      return { output: "judged", data: (await isAllowed(name, subject, verdict, ctx)) ? null : verdict };
    },
  });
  return Object.freeze({ name, on, then, beside, tool: tool as Tool });
}

function invalid(name: string, expected: string, got: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected the guard ${JSON.stringify(name)} to have ${expected}, got ${JSON.stringify(got)}.`);
}

interface GuardSubject extends Pick<GuardContext, "text" | "value" | "call" | "role"> {
  readonly on: Guard["on"];
}

function contextOf({ text, value, call, role }: GuardSubject, ctx: ToolContext): GuardContext {
  const own = { text, role, ...(value === undefined ? {} : { value }), ...(call === undefined ? {} : { call }) };
  // The context of a run may be missing, and is read only by a check that needs it.
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(ctx)) as GuardContext;
}

async function isAllowed(name: string, { on, text, role }: GuardSubject, why: string, { human }: ToolContext): Promise<boolean> {
  if (human === undefined) return false;
  const question = `The guard "${name}" refuses the ${on} of ${role}: ${why}\n${cutText(text, SHOWN)}\nMay it pass?`;
  return /^y(es)?$/i.test((await human.ask(question, { choices: ["yes", "no"] })).trim());
}

/** The outcome: it passes unchanged, as something else, or not. */
export type Judged =
  | { readonly kind: "passes" }
  | { readonly kind: "rewritten"; readonly value: Json; readonly by: Guard }
  | { readonly kind: "refused"; readonly why: string; readonly by: Guard };

/** The place of the judgement: where its steps are recorded, and what a check may use. */
export type GuardPlace = Pick<WholeCallOptions, "steps" | "clock" | "signal" | "ask" | "model" | "deps" | "context"> & {
  readonly role: string;
};

/** The subjects that guards judge. */
export interface Judging extends Pick<GuardContext, "value" | "call"> {
  readonly on: Guard["on"];
  readonly text: string;
}

/**
 * Judges in the order of the guards, until one refuses; a rewrite is judged by the guards after it.
 *
 * @throws StepError `GUARD_FAILED` for a check that throws or hangs; ControlError
 */
export async function judge(guards: readonly Guard[], { on, text, value, call }: Judging, place: GuardPlace): Promise<Judged> {
  let judged: Judged = { kind: "passes" };
  for (const each of guards) {
    if (each.on !== on) continue;
    const now: Json | undefined = judged.kind === "rewritten" ? judged.value : undefined;
    const subject: GuardSubject = {
      on,
      role: place.role,
      ...presentSubject({ text, value, ...(call === undefined ? {} : { call }) }, now),
    };
    const verdict = await verdictOf(each, subject, place);
    if (typeof verdict === "string" && verdict !== "") return { kind: "refused", why: verdict, by: each };
    if (isObject(verdict)) judged = { kind: "rewritten", value: (verdict as unknown as { readonly rewrite: Json }).rewrite, by: each };
  }
  return judged;
}

function presentSubject({ text, value, call }: Omit<Judging, "on">, now: Json | undefined): Omit<Judging, "on"> {
  if (now === undefined) return { text, ...(value === undefined ? {} : { value }), ...(call === undefined ? {} : { call }) };
  const written = typeof now === "string" ? now : JSON.stringify(now);
  if (call !== undefined) return { text: written, call: { ...call, args: now as JsonObject } };
  return { text: written, ...(value === undefined ? {} : { value: now }) };
}

async function verdictOf({ name, tool }: Guard, subject: GuardSubject, { steps, ...reach }: GuardPlace): Promise<Json | undefined> {
  const spec = { kind: "step", name: `guard ${name}`, request: subject };
  const answered = await steps.step<unknown>(spec, (door) => runTool(tool, subject, door, { ...reach, progress: () => undefined }));
  const { outcome, result } = toolEndIn(answered, tool);
  // A verdict that is too long is left out of the result, and null is one that lets pass.
  if (outcome === "ok" && result.data !== undefined) return result.data;
  throw new StepError(
    "GUARD_FAILED",
    `Expected the guard "${name}" to judge the ${subject.on} of ${subject.role}, but it did not: ${resultText(result)}`,
  );
}

export function refusedBy({ name }: Guard, { on, role }: { readonly on: Guard["on"]; readonly role: string }, why: string): StepError {
  return new StepError("GUARD_REFUSED", `The guard "${name}" refuses the ${on} of ${role}: ${why}`);
}

export function unfit({ name }: Pick<Guard, "name">, what: string, why: string): StepError {
  return new StepError("GUARD_FAILED", `Expected the guard "${name}" to rewrite ${what} into what its schema takes, but: ${why}`);
}

/** Answers of a model after refusals, besides its first one. */
export const GUARD_RETRIES = 2;
