import type { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { ChatModel, ToolSpec } from "../model/chat-model.ts";
import type { Permission } from "./permission.ts";
import type { CheckedArguments } from "./tool-parameters.ts";
import type { ToolResult } from "./tool-result.ts";

/** What a tool may give back; a value that is no result is its output. */
export type ToolAnswer = ToolResult | Json | void;

/** What a call of a tool is given besides its arguments. Closed when the call has ended. */
export interface ToolContext {
  /** Aborts when the run stops or the tool's time is up. */
  readonly signal: AbortSignal;
  /** Names the call among all runs, stable across resume: an idempotency key. */
  readonly key: string;
  /** `replay`: nothing outside a scratch place may change. */
  readonly mode: StepDoor["mode"];
  /** Side effects inside the call that are recorded on their own. */
  readonly step: StepPort["step"];
  /** Asks a person. The tool's time stands still meanwhile. A tool that asks must be `idempotent`: it runs again when the answer comes later. */
  readonly ask?: (question: string) => Promise<string>;
  readonly model?: ChatModel | undefined;
  /** The session of the agent that calls, the same object for all its calls: what a tool keeps between calls it keeps by this. */
  readonly session?: object;
  /** The `deps` of the team, the environment or the agent; undefined where none were given. Never recorded. */
  readonly deps?: Deps | undefined;
  /** Tells how far it is. Never part of the result. */
  readonly progress: (text: string) => void;
  readonly clock: Clock;
}

/** Something that can be done. A stateless definition. */
export interface Tool<P = unknown> {
  readonly name: string;
  readonly description: string;
  /** As a model is told of it. */
  readonly spec: ToolSpec;
  /** Undefined where only a JSON Schema is known. */
  readonly parameters: z.ZodType<P> | undefined;
  /** What it does to the world: a tool that only looks may run without asking, again, and beside others. */
  readonly effect: "read" | "write";
  /** Milliseconds. */
  readonly timeout: number;
  readonly permission: Permission;
  /** Whether a call that may have happened can simply run again after a crash. */
  readonly idempotent: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. */
  readonly again: boolean;
  /** Its answer depends on more than its arguments: a fork calls it anew, and takes no answer from the run it came from. */
  readonly fresh: boolean;
  /** A call that succeeds ends the agent's run. */
  readonly ends: boolean;
  /** Whether calls of one batch may run side by side with others. */
  readonly parallel: boolean;
  /** It asks how far something is: that its call and its answer repeat is no loop, up to 20 times in a row. */
  readonly polls: boolean;
  /** Characters of one result; what is left out is told in its place. */
  readonly maxOutput: number;
  check(args: JsonObject): CheckedArguments<P>;
  execute(args: P, ctx: ToolContext): ToolAnswer | Promise<ToolAnswer>;
  /**
   * Lets go of what the tool holds for one agent. Called once for each run of an agent in which the tool ran, when that run is over: it
   * finished, failed or was stopped. It has 10 seconds; what it throws is told as a warning and changes no result.
   */
  close?(o: ToolClosing): void | Promise<void>;
}

/** What a tool is given to let go of what it holds. */
export interface ToolClosing {
  /** The session whose run is over: the object that its calls had as {@link ToolContext.session}. */
  readonly session: object | undefined;
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
}
