import type { Role } from "../role/role.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentRoleParts } from "./agent-role.ts";
import type { CompanySettings } from "./settings.ts";

/** What the company calls itself: a part of what its models are told. */
export const COMPANY = "software company";

/** Whoever works in a run. */
export interface Crew {
  /** What they call themselves together: a part of what their models are told. */
  readonly name: string;
  readonly roles: readonly Role[];
}

/** Who works: the company, or one agent. */
export function workerOf({ agent }: Pick<CompanySettings, "agent">): "company" | "agent" {
  return agent === undefined ? "company" : "agent";
}

/** What they work with. */
export interface CrewParts {
  readonly settings: Pick<CompanySettings, "codeReview" | "runTests" | "agent">;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** What an agent has besides: tools of servers, and whom its plan is told. */
  readonly agentParts?: Pick<AgentRoleParts, "more" | "tell">;
}

/** The software company, or the one agent that `troupe agent` hires. */
export async function crewOf({ settings, workspace, sandbox, agentParts = {} }: CrewParts): Promise<Crew> {
  const { agent, codeReview, runTests } = settings;
  if (agent !== undefined) {
    const { agentRole } = await import("./agent-role.ts");
    return { name: "", roles: [agentRole(agent, { workspace, sandbox, ...agentParts })] };
  }
  const { softwareCompany } = await import("../../roles/index.ts");
  return { name: COMPANY, roles: softwareCompany({ workspace, sandbox, codeReview, runTests }) };
}
