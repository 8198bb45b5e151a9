import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { folderName } from "../company.ts";
import { confirmPaidRun, refuseDoubtful } from "../confirm.ts";
import { type DemoIdea, demoIdeas, matchIdea } from "../demo-ideas.ts";
import type { ExitCode } from "../exit-code.ts";
import { canAsk, canDraw, type Host } from "../host.ts";
import { type IdeaReaders, ideaSource, isOneWord, readIdea } from "../idea.ts";
import { type ChosenModel, noModel, realModel, scriptModel } from "../model-choice.ts";
import { isFolderTaken, outFolder, slugOf } from "../out-folder.ts";
import { produce, testsPlan } from "../production.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, type RunSettings, runSettings } from "../settings.ts";

/** `troupe run [idea]`, and `troupe "idea"`. @param isNamed whether `run` was written */
export function runCommand(host: Host, words: readonly string[], flags: Flags, isNamed: boolean): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const settings = runSettings(ideaSource(words, flags.file, isNamed), flags, host.env);
    const idea = await untilAborted(readIdea(settings.idea, readersOf(host)), session.interruptions.signal);
    const bundled = await demoIdeas();
    const known = matchIdea(idea, bundled);
    const isDoubtful = settings.idea.kind === "words" && !isNamed && !settings.isConfirmed && isOneWord(idea) && known === undefined;
    if (isDoubtful && !canAsk(host)) refuseDoubtful(idea);
    const chosen = await modelFor(session, settings, known, bundled);
    return work(session, settings, { idea, isDoubtful, name: chosen.isScripted ? (known?.id ?? "demo") : slugOf(idea) }, chosen);
  });
}

interface Wish {
  readonly idea: string;
  readonly isDoubtful: boolean;
  /** Of the folder. */
  readonly name: string;
}

async function work(session: Session, settings: RunSettings, wish: Wish, chosen: ChosenModel): Promise<ExitCode> {
  const { host } = session;
  const { model, budget, isScripted, secrets } = chosen;
  const sandbox = await sandboxFor(session, settings, isScripted);
  const { out, force, rounds } = settings;
  const folder = await outFolder({ cwd: host.cwd, out, name: wish.name, force, isTaken: isFolderTaken });
  if (chosen.isPaid && !settings.isConfirmed) {
    const tests = testsPlan(settings, sandbox);
    const place = folderName(host, folder);
    await confirmPaidRun(session, {
      idea: wish.idea,
      isDoubtful: wish.isDoubtful,
      model: chosen.text,
      budget,
      rounds,
      folder: place,
      tests,
    });
  }
  throwIfAborted(session.interruptions.signal);
  return produce(session, { idea: wish.idea, settings, model, modelText: chosen.text, isScripted, budget, sandbox, folder, secrets });
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

function readersOf(host: Host): IdeaReaders {
  return {
    async file(path, limit) {
      const handle = await open(resolve(host.cwd, path), "r");
      try {
        return await firstBytes(handle.createReadStream({ end: limit - 1 }), limit);
      } finally {
        await handle.close();
      }
    },
    stdin: (limit) => firstBytes(host.stdin, limit),
  };
}

/** The beginning of a stream; what comes after the limit is not read. */
async function firstBytes(stream: AsyncIterable<unknown>, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array | string);
    chunks.push(bytes);
    length += bytes.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
