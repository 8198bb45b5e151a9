import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { ModelError } from "../../kernel/errors.ts";
import { type AgentFlags, type AgentSettings, agentSettings } from "../agent-settings.ts";
import { folderName } from "../company.ts";
import { confirmPaidRun } from "../confirm.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { ideaSource, readIdea } from "../idea.ts";
import { readersOf } from "../idea-readers.ts";
import { type ChosenModel, realModel } from "../model-choice.ts";
import { newRun } from "../new-run.ts";
import { inOutFolder, slugOf } from "../out-folder.ts";
import { boundsOf, produce } from "../production.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, type RunSettings, runSettings } from "../settings.ts";
import { withStore } from "../store.ts";

const EXAMPLE = 'Say what to do: troupe agent "List the files here and tell what they are"';

/** `troupe agent "task"`: one agent with tools works on a task, in a folder of its own or one that is named. */
export function agentCommand(host: Host, words: readonly string[], flags: Flags & AgentFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const asked = runSettings(ideaSource(words, flags.file, { isCommandNamed: true, example: EXAMPLE }), flags, host.env);
    const settings: RunSettings = { ...asked, agent: agentSettings(flags, host.cwd) };
    const task = await untilAborted(readIdea(settings.idea, readersOf(host)), session.interruptions.signal);
    return work(session, settings, task, await modelFor(settings), flags);
  });
}

async function work(session: Session, settings: RunSettings, task: string, chosen: ChosenModel, flags: Flags): Promise<ExitCode> {
  const { host, interruptions } = session;
  const sandbox = await sandboxFor(session, settings, false);
  const { out, force } = settings;
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
        tests: toolsText(settings.agent),
      });
    }
    throwIfAborted(interruptions.signal);
    return withStore(session, flags, (store) =>
      produce(session, newRun(session, { idea: task, settings, chosen, sandbox, folder, store })),
    );
  });
}

/** Its tools, and which of them run without a question. */
function toolsText({ tools, allow, mcp }: Pick<AgentSettings, "tools" | "allow" | "mcp"> = { tools: [], allow: [] }): string {
  const free = allow.length === 0 ? "" : ` except by ${allow.join(", ")}`;
  const servers = mcp === undefined ? "" : ` and those of the servers in ${mcp}`;
  return `${tools.join(", ")}${servers}; what writes or runs is asked for${free}`;
}

/** @throws ModelError `MODEL_AUTH` when none can be reached */
function modelFor(settings: RunSettings): Promise<ChosenModel> {
  const { model } = settings;
  if (model.kind === "model") return realModel(model.model, settings);
  const named = model.asked === undefined ? "no model is set" : `there is neither a key nor a base URL for ${shown(model.asked, 80)}`;
  throw new ModelError(
    "MODEL_AUTH",
    `Expected a model for the agent to think with, but ${named}. Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server such as http://127.0.0.1:11434/v1 with TROUPE_MODEL for its model.`,
  );
}
