import { defineRole, type Role } from "../role/role.ts";
import type { MachineOptions } from "../tools/machine.ts";
import { MANUS_PROMPT, manusTools } from "../tools/manus.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** The one role of `troupe agent`: an agent with the tools that were named. What runs or writes is asked for, unless it was allowed. */
export function agentRole({ tools, allow, steps }: AgentSettings, ports: MachineOptions): Role {
  return defineRole({
    name: "Agent",
    reactMode: "agent",
    maxReactLoop: steps,
    tools: manusTools(ports).filter(({ name }) => tools.includes(name)),
    agent: {
      systemPrompt: MANUS_PROMPT,
      permissions: { rules: allow.map((tool) => ({ tool, decide: "allow" as const })) },
    },
  });
}
