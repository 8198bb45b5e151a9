import { z } from "zod";
import type { JsonObject } from "../kernel/json.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";

const NAME = "terminate";

let made: Tool | undefined;

/** Returns the tool `terminate`, always the same one. Made when it is first needed: its JSON Schema costs a program that imports agents milliseconds. */
export function terminateTool(): Tool {
  return (made ??= newTool());
}

/** A status in other words is a success unless it reports a failure. */
function newTool(): Tool {
  const strict = defineTool({
    name: NAME,
    description: "Ends the work on the task. Call it alone, when the task is done or cannot be done; nothing is run after it.",
    parameters: z.object({
      status: z.enum(["success", "failure"]).describe("failure: the task cannot be done, or not as asked"),
      answer: z.string().optional().describe("the answer to the task, whole; of a failure, why it cannot be done"),
    }),
    effect: "read",
    ends: true,
    execute: ({ status, answer }) => ({ output: `Task completed: ${status}`, data: { status, answer: answer ?? "" } }),
  });
  return Object.freeze({ ...strict, check: (args: JsonObject) => strict.check(withPlainStatus(args)) }) as Tool;
}

/** Words for a status, without an answer. */
const SUCCESS = /^\W*(?:success(?:ful(?:ly)?)?|succeeded|completed?|finished|done|ok(?:ay)?|yes|true)\W*$/i;
const FAILURE = /^\W*(?:fail(?:ed|ure)?|errors?|unsuccessful|aborted|impossible|no|false)\W*$/i;
/** A failure further on in a sentence is part of an answer. */
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

/** A view of a collection, with `terminate` at the end unless it has a tool of that name. Changes pass through. */
export class EndableTools extends ToolCollection {
  readonly #own: ToolCollection;

  constructor(own: ToolCollection) {
    super();
    this.#own = own;
  }

  protected override get all(): ReadonlyMap<string, Tool> {
    const own = [...this.#own].map((tool): [string, Tool] => [tool.name, tool]);
    return new Map(this.#own.has(NAME) ? own : [...own, [NAME, terminateTool()]]);
  }

  override add(tools: Tool | Iterable<Tool>): void {
    // The base class adds an empty list before `#own` exists.
    if (#own in this) this.#own.add(tools);
  }

  override remove(name: string): boolean {
    return this.#own.remove(name);
  }
}
