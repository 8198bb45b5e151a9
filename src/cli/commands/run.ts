import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { folderName } from "../company.ts";
import { confirmPaidRun, refuseDoubtful } from "../confirm.ts";
import { type DemoIdea, demoIdeas, matchIdea } from "../demo-ideas.ts";
import type { ExitCode } from "../exit-code.ts";
import { canAsk, canDraw, type Host } from "../host.ts";
import { ideaSource, isOneWord, readIdea } from "../idea.ts";
import { readersOf } from "../idea-readers.ts";
import { type ChosenModel, noModel, realModel, scriptModel } from "../model-choice.ts";
import { newRun } from "../new-run.ts";
import { inOutFolder, slugOf } from "../out-folder.ts";
import { produce, testsPlan } from "../production.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, type RunSettings, runSettings } from "../settings.ts";
import { withStore } from "../store.ts";

/** `troupe run [idea]`, and `troupe "idea"`. @param isNamed whether `run` was written */
export function runCommand(host: Host, words: readonly string[], flags: Flags, isNamed: boolean): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const bundled = await demoIdeas();
    const isBundled = (text: string): boolean => matchIdea(text, bundled) !== undefined;
    const hints = { isCommandNamed: isNamed, isConfirmed: flags.yes === true, isBundled };
    const settings = runSettings(ideaSource(words, flags.file, hints), flags, host.env);
    const idea = await untilAborted(readIdea(settings.idea, readersOf(host)), session.interruptions.signal);
    const known = matchIdea(idea, bundled);
    const isDoubtful = settings.idea.kind === "words" && !isNamed && !settings.isConfirmed && isOneWord(idea) && known === undefined;
    if (isDoubtful && !canAsk(host)) refuseDoubtful(idea);
    const chosen = await modelFor(session, settings, known, bundled);
    return work(session, settings, { idea, isDoubtful, name: chosen.isScripted ? (known?.id ?? "demo") : slugOf(idea), flags }, chosen);
  });
}

interface Wish {
  readonly idea: string;
  readonly isDoubtful: boolean;
  /** Of the folder. */
  readonly name: string;
  readonly flags: Flags;
}

async function work(session: Session, settings: RunSettings, wish: Wish, chosen: ChosenModel): Promise<ExitCode> {
  const { host, interruptions } = session;
  const { idea, isDoubtful, name, flags } = wish;
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  const { out, force, rounds } = settings;
  return inOutFolder({ cwd: host.cwd, out, name, force }, async (folder) => {
    if (chosen.isPaid && !settings.isConfirmed) {
      const bounds = {
        model: chosen.text,
        budget: chosen.budget,
        bounds: `${rounds} rounds`,
        folder: folderName(host, folder),
        tests: testsPlan(settings, sandbox),
      };
      await confirmPaidRun(session, { idea, isDoubtful, ...bounds });
    }
    throwIfAborted(interruptions.signal);
    return withStore(session, flags, (store) => produce(session, newRun(session, { idea, settings, chosen, sandbox, folder, store })));
  });
}

async function modelFor(
  session: Session,
  settings: RunSettings,
  known: DemoIdea | undefined,
  bundled: readonly DemoIdea[],
): Promise<ChosenModel> {
  const { model } = settings;
  if (model.kind === "model") return realModel(model.model, settings);
  if (model.asked !== undefined || known === undefined) throw noModel(model.asked, bundled);
  const { screen } = session;
  screen.say(
    screen.style.strong(`No model is set: playing the bundled script for "${shown(known.title)}". Everything after the replies is real.`),
  );
  return scriptModel(known, settings, { isWatched: canDraw(session.host) && !session.output.isQuiet });
}
