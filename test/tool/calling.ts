import { directSteps } from "../../src/kernel/step.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import type { CallToolOptions } from "../../src/tool/call-options.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";

/** A call as a model writes it. Text is sent as it is, other arguments as JSON. */
export function call(name: string, args: unknown = {}, id = "call_1"): ToolCall {
  return { id, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } };
}

/** The context of calls outside a run: no record, a clock that stands still, everything allowed unless said otherwise. */
export function calling(tools: Iterable<Tool>, more: Partial<CallToolOptions> = {}): CallToolOptions {
  const signal = more.signal ?? new AbortController().signal;
  return {
    tools: tools instanceof ToolCollection ? tools : new ToolCollection(tools),
    steps: directSteps(signal),
    clock: simulatedClock(),
    policy: { default: "allow" },
    ...more,
    signal,
  };
}
