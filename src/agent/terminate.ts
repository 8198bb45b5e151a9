import { z } from "zod";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";

const Parameters = z.object({
  status: z.enum(["success", "failure"]).describe("failure: the task cannot be done, or not as asked"),
  answer: z.string().optional().describe("the answer to the task, whole; of a failure, why it cannot be done"),
});

/** Ends the work on the task, with its answer. */
export const terminate: Tool = defineTool({
  name: "terminate",
  description: "Ends the work on the task. Call it alone, when the task is done or cannot be done; nothing is run after it.",
  parameters: Parameters,
  effect: "read",
  ends: true,
  execute: ({ status, answer }) => ({ output: `Task completed: ${status}`, data: { status, answer: answer ?? "" } }),
});
