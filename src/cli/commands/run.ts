import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { folderName } from "../company.ts";
import { confirmPaidRun, refuseDoubtful } from "../confirm.ts";
import { type DemoIdea, demoIdeas, matchIdea } from "../demo-ideas.ts";
import type { ExitCode } from "../exit-code.ts";
import { canAsk, canDraw, type Host } from "../host.ts";
import { type IdeaReaders, ideaSource, isOneWord, readIdea } from "../idea.ts";
import { type ChosenModel, noModel, realModel, scriptModel } from "../model-choice.ts";
import { inOutFolder, slugOf } from "../out-folder.ts";
import { produce, testsPlan } from "../production.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, type RunSettings, runSettings } from "../settings.ts";

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
  const { host, interruptions } = session;
  const { model, budget, isScripted, secrets } = chosen;
  const { idea, isDoubtful, name } = wish;
  const sandbox = await sandboxFor(session, settings, isScripted);
  const { out, force, rounds } = settings;
  return inOutFolder({ cwd: host.cwd, out, name, force }, async (folder) => {
    if (chosen.isPaid && !settings.isConfirmed) {
      const bounds = { model: chosen.text, budget, rounds, folder: folderName(host, folder), tests: testsPlan(settings, sandbox) };
      await confirmPaidRun(session, { idea, isDoubtful, ...bounds });
    }
    throwIfAborted(interruptions.signal);
    return produce(session, { idea, settings, model, modelText: chosen.text, isScripted, budget, sandbox, folder, secrets });
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

function readersOf(host: Host): IdeaReaders {
  return {
    async file(path, limit) {
      const place = resolve(host.cwd, path);
      await refuseUnlikeFile(place, path);
      const handle = await open(place, "r");
      try {
        return await firstBytes(handle.createReadStream({ end: limit - 1 }), limit);
      } finally {
        await handle.close();
      }
    },
    stdin: (limit) => firstBytes(host.stdin, limit),
  };
}

/** Opening a pipe waits for somebody to write into it, and a device may never end. A folder is told of when it is read. */
async function refuseUnlikeFile(place: string, path: string): Promise<void> {
  const stats = await stat(place);
  if (stats.isFile() || stats.isDirectory()) return;
  const file = shown(path, 200);
  throw new UsageError(
    "IDEA_UNREADABLE",
    `Expected to read the idea from a regular file, but "${file}" is a pipe, a device or a socket. Read it as input: troupe - < ${file}`,
  );
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
