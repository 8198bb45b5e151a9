import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { folderName, sandboxFor } from "../company.ts";
import { type DemoIdea, demoIdeas, matchIdea } from "../demo-script.ts";
import type { ExitCode } from "../errors.ts";
import { canAsk, type Host } from "../host.ts";
import { ideaSource, isOneWord, readersOf, readIdea } from "../idea.ts";
import { type ChosenModel, noModel, realModel, scriptModel } from "../model-choice.ts";
import { inOutFolder, slugOf } from "../out-folder.ts";
import { boundsOf, newRun, produce, testsPlan } from "../production.ts";
import { confirmPaidRun, doubtfulIdea } from "../prompt.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type CompanySettings, companySettings, type Flags, type RunSettings, runSettings } from "../settings.ts";
import { withStore } from "../store.ts";

/** `troupe run [idea]`, and `troupe "idea"`. @param isNamed true when `run` was typed */
export function runCommand(host: Host, words: readonly string[], flags: Flags, isNamed: boolean): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const bundled = await demoIdeas();
    const isBundled = (text: string): boolean => matchIdea(text, bundled) !== undefined;
    const source = ideaSource(words, flags.file, { isCommandNamed: isNamed, isConfirmed: flags.yes === true, isBundled });
    const settings = runSettings(flags, host.env);
    const idea = await untilAborted(readIdea(source, readersOf(host)), session.interruptions.signal);
    const known = matchIdea(idea, bundled);
    const isDoubtful = source.kind === "words" && !isNamed && !settings.isConfirmed && isOneWord(idea) && known === undefined;
    if (isDoubtful && !canAsk(host)) throw doubtfulIdea(idea);
    const chosen = await modelFor(session, settings, known, bundled);
    const name = chosen.isScripted ? (known?.id ?? "demo") : slugOf(idea);
    const isConfirmed = settings.isConfirmed || !chosen.isPaid;
    return work(session, settings, { idea, name, chosen, flags, confirmation: isConfirmed ? undefined : { isDoubtful } });
  });
}

/** `troupe demo [id]`: plays a bundled script, also where a model is set. */
export function demoCommand(host: Host, id: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const settings = companySettings(flags);
    const idea = demoOf(await demoIdeas(), id);
    const { screen } = session;
    const text = `Playing the bundled script for "${shown(idea.title)}". No model is asked; everything after the replies is real.`;
    screen.say(screen.style.strong(text));
    const chosen = scriptModel(idea, settings, session);
    return work(session, settings, { idea: idea.idea, name: idea.id, chosen, flags, confirmation: undefined });
  });
}

interface CompanyWork {
  readonly idea: string;
  /** Name of the folder. */
  readonly name: string;
  readonly chosen: ChosenModel;
  readonly flags: Flags;
  /** Undefined: nobody is asked to confirm the run. */
  readonly confirmation: { readonly isDoubtful: boolean } | undefined;
}

async function work(
  session: Session,
  settings: CompanySettings,
  { idea, name, chosen, flags, confirmation }: CompanyWork,
): Promise<ExitCode> {
  const { host, interruptions } = session;
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  const { out, force } = settings;
  return inOutFolder({ cwd: host.cwd, out, name, force }, async (folder) => {
    if (confirmation !== undefined) {
      await confirmPaidRun(session, {
        idea,
        isDoubtful: confirmation.isDoubtful,
        model: chosen.text,
        budget: chosen.budget,
        bounds: boundsOf(settings),
        folder: folderName(host, folder),
        tests: testsPlan(settings, sandbox),
      });
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
  const text = `No model is set: playing the bundled script for "${shown(known.title)}". Everything after the replies is real.`;
  screen.say(screen.style.strong(text));
  return scriptModel(known, settings, session);
}

function demoOf(ideas: readonly DemoIdea[], id: string): DemoIdea {
  const idea = ideas.find((known) => known.id === id.toLowerCase());
  if (idea !== undefined) return idea;
  const known = ideas.map((one) => `${one.id} (${one.title})`).join(", ");
  throw new UsageError("DEMO_UNKNOWN", `Expected one of the bundled ideas, ${known}, got "${shown(id, 60)}".`);
}
