type AgentMode = typeof import("./agent-mode.ts");

let loaded: Promise<AgentMode> | undefined;

/**
 * Mode `agent`, which is a quarter of all that a company could need and which most companies do not: it is loaded with the first role that
 * works by it. An environment that has one waits for it before it runs, so that no activation is later than another because of it.
 */
export function agentMode(): Promise<AgentMode> {
  return (loaded ??= import("./agent-mode.ts").catch((error: unknown) => {
    // What failed to load now may load the next time.
    loaded = undefined;
    throw error;
  }));
}
