import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type DemoIdea, demoIdeas } from "../demo-ideas.ts";
import type { ExitCode } from "../exit-code.ts";
import { canDraw, type Host } from "../host.ts";
import { scriptModel } from "../model-choice.ts";
import { newRun } from "../new-run.ts";
import { inOutFolder } from "../out-folder.ts";
import { produce } from "../production.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import { companySettings, type Flags } from "../settings.ts";
import { withStore } from "../store.ts";

/** What plays when nobody says what. */
const DEFAULT_DEMO = "2048";

/** `troupe demo [id]`: plays a bundled script, also where a model is set. */
export function demoCommand(host: Host, id: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const settings = companySettings(flags);
    const idea = chosenDemo(await demoIdeas(), id ?? DEFAULT_DEMO);
    const { screen, output, interruptions } = session;
    screen.say(
      screen.style.strong(
        `Playing the bundled script for "${shown(idea.title)}". No model is asked; everything after the replies is real.`,
      ),
    );
    const chosen = await scriptModel(idea, settings, { isWatched: canDraw(host) && !output.isQuiet });
    const sandbox = await sandboxFor(session, settings, true);
    const { out, force } = settings;
    return inOutFolder({ cwd: host.cwd, out, name: idea.id, force }, (folder) => {
      throwIfAborted(interruptions.signal);
      const parts = { idea: idea.idea, settings, chosen, sandbox, folder };
      return withStore(session, flags, (store) => produce(session, newRun(session, { ...parts, store })));
    });
  });
}

function chosenDemo(ideas: readonly DemoIdea[], id: string): DemoIdea {
  const idea = ideas.find((known) => known.id === id.toLowerCase());
  if (idea !== undefined) return idea;
  const known = ideas.map((one) => `${one.id} (${one.title})`).join(", ");
  throw new UsageError("DEMO_UNKNOWN", `Expected one of the bundled ideas, ${known}, got "${shown(id, 60)}".`);
}
