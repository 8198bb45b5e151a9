import { z } from "zod";
import { defineTool } from "../tool/define-tool.ts";
import { toolFailure, toolOutput } from "../tool/tool-result.ts";
import type { Tool } from "../tool/tool.ts";

const parameters = z.object({
  question: z.string().min(1).max(4000).describe("The question, with all a person needs to answer it."),
});

/** Asks the person behind the agent and waits for the answer; time spent waiting does not count. */
export function askHumanTool(): Tool {
  return defineTool({
    name: "ask_human",
    description: "Asks the person you work for, and waits for the answer. For what only a person can know or decide.",
    parameters,
    effect: "read",
    parallel: false,
    execute: async ({ question }, { ask }) => {
      if (ask === undefined) return toolFailure("Nobody is there to answer. Decide by what you know, and say what you assumed.");
      const answer = await ask(question);
      return toolOutput(answer.trim() === "" ? "(the person gave an empty answer)" : answer);
    },
  });
}
