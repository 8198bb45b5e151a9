import { z } from "zod";
import type { JsonObject } from "../kernel/json.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { ToolCollection } from "../tool/tool-collection.ts";

const Parameters = z.object({
  status: z.enum(["success", "failure"]).describe("failure: the task cannot be done, or not as asked"),
  answer: z.string().optional().describe("the answer to the task, whole; of a failure, why it cannot be done"),
});

const strict = defineTool({
  name: "terminate",
  description: "Ends the work on the task. Call it alone, when the task is done or cannot be done; nothing is run after it.",
  parameters: Parameters,
  effect: "read",
  ends: true,
  execute: ({ status, answer }) => ({ output: `Task completed: ${status}`, data: { status, answer: answer ?? "" } }),
});

/** Ends the work on the task, with its answer. A status in other words is read: it is a success unless it says that it is none. */
export const terminate: Tool = Object.freeze({ ...strict, check: (args: JsonObject) => strict.check(withPlainStatus(args)) }) as Tool;

/** Words for a status that carry no answer. */
const SUCCESS = /^\W*(?:success(?:ful(?:ly)?)?|succeeded|completed?|finished|done|ok(?:ay)?|yes|true)\W*$/i;
const FAILURE = /^\W*(?:fail(?:ed|ure)?|errors?|unsuccessful|aborted|impossible|no|false)\W*$/i;
/** A sentence that begins by saying that it could not be done. A failure it only tells of further on is part of an answer. */
const SAYS_FAILURE =
  /^\W*(?:(?:i|we|it|this|the task|the request)\s+)?(?:(?:am|are|is|was|were|has|have)\s+)?(?:fail(?:ed|ure)?\b|errors?\b|can(?:no|')t\b|can not\b|could ?n[o']t\b|unable\b|impossible\b|not (?:possible|done|completed)\b|unsuccessful|gave up\b|giving up\b)/i;

function withPlainStatus(args: JsonObject): JsonObject {
  const { status, answer } = args as { readonly status?: unknown; readonly answer?: unknown };
  if (typeof status !== "string" || status === "success" || status === "failure") return args;
  if (SUCCESS.test(status)) return { ...args, status: "success" };
  if (FAILURE.test(status)) return { ...args, status: "failure" };
  if (status.trim() === "") return args;
  const read = SAYS_FAILURE.test(status) ? "failure" : "success";
  return { ...args, status: read, ...(typeof answer === "string" && answer !== "" ? {} : { answer: status }) };
}

/** Somebody's tools as they are at any time, and `terminate` after them unless they have one of that name. Their own collection is left as it is. */
export class EndableTools extends ToolCollection {
  readonly #own: ToolCollection;
  #ownSpecs: readonly ToolSpec[] | undefined;
  #allSpecs: readonly ToolSpec[] = [];

  constructor(own: ToolCollection) {
    super();
    this.#own = own;
  }

  override get size(): number {
    return this.#own.size + (this.#isOwn ? 0 : 1);
  }

  override get names(): readonly string[] {
    return this.#isOwn ? this.#own.names : [...this.#own.names, terminate.name];
  }

  override get specs(): readonly ToolSpec[] {
    const { specs } = this.#own;
    if (specs === this.#ownSpecs) return this.#allSpecs;
    this.#ownSpecs = specs;
    this.#allSpecs = this.#isOwn ? specs : [...specs, terminate.spec];
    return this.#allSpecs;
  }

  override get(name: string): Tool | undefined {
    return this.#own.get(name) ?? (name === terminate.name ? terminate : undefined);
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  override find(name: string): Tool | undefined {
    return this.#own.find(name) ?? (name.toLowerCase() === terminate.name ? terminate : undefined);
  }

  override add(tools: Tool | Iterable<Tool>): void {
    // The base class adds nothing while it is built: there is no collection to pass it on to yet.
    if (#own in this) this.#own.add(tools);
  }

  override remove(name: string): boolean {
    return this.#own.remove(name);
  }

  override [Symbol.iterator](): Iterator<Tool> {
    const all = this.#isOwn ? [...this.#own] : [...this.#own, terminate];
    return all[Symbol.iterator]();
  }

  get #isOwn(): boolean {
    return this.#own.has(terminate.name);
  }
}
