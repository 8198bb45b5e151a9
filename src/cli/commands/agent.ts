import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { folderName, sandboxFor } from "../company.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { ideaSource, readersOf, readIdea } from "../idea.ts";
import { type ChosenModel, noAgentModel, realModel } from "../model-choice.ts";
import { inOutFolder, slugOf } from "../out-folder.ts";
import { boundsOf, newRun, produce } from "../production.ts";
import { confirmPaidRun } from "../prompt.ts";
import { inSession, type Session } from "../session.ts";
import { type AgentSettings, agentSettings, type Flags, type RunSettings, runSettings } from "../settings.ts";
import { withStore } from "../store.ts";

const EXAMPLE = 'Say what to do: troupe agent "List the files here and tell what they are"';

/** `troupe agent "task"`: one agent with tools works on a task, in a folder of its own or in a named one. */
export function agentCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const source = ideaSource(words, flags.file, { isCommandNamed: true, example: EXAMPLE });
    const settings = runSettings(flags, host.env);
    const agent = agentSettings(flags, host.cwd);
    const task = await untilAborted(readIdea(source, readersOf(host)), session.interruptions.signal);
    const { model } = settings;
    if (model.kind === "none") throw noAgentModel(model.asked);
    const chosen = await realModel(model.model, settings);
    return work(session, { ...settings, agent }, task, chosen, flags);
  });
}

async function work(
  session: Session,
  settings: RunSettings & { readonly agent: AgentSettings },
  task: string,
  chosen: ChosenModel,
  flags: Flags,
): Promise<ExitCode> {
  const { host, interruptions } = session;
  const sandbox = await sandboxFor(session, settings, false);
  const { out, force, agent } = settings;
  return inOutFolder({ cwd: host.cwd, out, name: slugOf(task), force }, async (folder) => {
    if (chosen.isPaid && !settings.isConfirmed) {
      await confirmPaidRun(session, {
        idea: task,
        isDoubtful: false,
        model: chosen.text,
        budget: chosen.budget,
        by: "agent",
        bounds: boundsOf(settings),
        folder: folderName(host, folder),
        tests: toolsText(agent),
      });
    }
    throwIfAborted(interruptions.signal);
    return withStore(session, flags, (store) =>
      produce(session, newRun(session, { idea: task, settings, chosen, sandbox, folder, store })),
    );
  });
}

/** The agent's tools, and those that run without a question. */
function toolsText({ tools, allow, mcp }: AgentSettings): string {
  const free = allow.length === 0 ? "" : ` except by ${allow.join(", ")}`;
  const servers = mcp === undefined ? "" : ` and those of the servers in ${mcp}`;
  return `${tools.join(", ")}${servers}; what writes or runs is asked for${free}`;
}
