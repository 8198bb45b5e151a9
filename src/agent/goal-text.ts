import type { AgentMemory } from "./agent-memory.ts";

/** The goal in words. */
export async function goalText(memory: AgentMemory): Promise<string> {
  const goal = await memory.goal();
  return goal.map((message) => message.content ?? "").join("\n\n");
}
