import { AbortedError, UsageError } from "../kernel/errors.ts";
import { formatUsd } from "../model/money.ts";
import { chosenCrew } from "./crew-file.ts";
import { canAsk } from "./host.ts";
import { type FolderSettings, namedModels } from "./model-settings.ts";
import { setting } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { agrees } from "./prompt.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { companySettings, type FileCrew, type ModuleCrew, type RunSettings, runSettings } from "./settings.ts";

export interface ChosenRun {
  readonly settings: RunSettings;
  readonly crew: FileCrew | ModuleCrew | undefined;
}

interface WishedRun extends ChosenRun {
  /** Bounds of folders that do not hold, or that are lower than the user's. */
  readonly notes: readonly string[];
  readonly widens: readonly string[];
}

export async function chosenRun(session: Session, flags: Flags): Promise<ChosenRun> {
  const { host, screen } = session;
  const { notes, widens, ...chosen } = await wishedRun(session, flags);
  for (const note of notes) screen.say(screen.style.warn(shown(note)));
  if (widens.length === 0) return chosen;
  if (!canAsk(host)) {
    const wishes = widens.map((text) => shown(text, 300)).join("; ");
    const advice =
      "Name the models under models in ~/.config/troupe/config.yaml, or put the crew's file into that folder. At a terminal you are asked";
    throw new UsageError("FOLDER_ASKS", `Expected a run within your own settings, but a folder asks for more: ${wishes}. ${advice}.`);
  }
  screen.print([screen.style.strong("This folder asks for more than you said:"), ...widens.map((text) => `  ${shown(text, 300)}`)]);
  if (!(await agrees(session, "Allow it for this run?"))) throw new AbortedError("it was not allowed, and nothing was started");
  return chosen;
}

export async function wishedRun({ host, settingsFrom: from, folder }: Session, given: Flags): Promise<WishedRun> {
  const { flags, crew, asks, models } = await chosenCrew({ host, settingsFrom: from }, given);
  const folders = [asks, folder].filter((one) => one !== undefined);
  const own = runSettings(flags, host.env, { folders, from });
  const settings = crew === undefined ? own : { ...own, crew, models: { ...own.models, ...models } };
  const named = namedModels(flags, host.env);
  const main = settings.model.kind === "model" && !named.main.has(settings.model.model.id) ? [settings.model.model.id] : [];
  const users = new Set([...named.all, ...Object.values(models)]);
  const others = Object.values(settings.models ?? {}).filter((id) => !users.has(id));
  const company = companySettings(flags, host.env);
  const isLimited = setting("rounds", flags, host.env) !== undefined;
  return {
    settings,
    crew,
    notes: folders.flatMap(({ file, budget, rounds }) => [
      ...boundNote(file, [budget, company.budget, settings.budget], company.isBudgetExplicit, (usd) => `a budget of ${formatUsd(usd)}`),
      ...boundNote(file, [rounds, company.rounds, settings.rounds], isLimited, (count) => `${count} rounds`),
    ]),
    widens: [
      ...new Set([...main, ...others].map((id) => `${fileOf(id, folders)}: the model ${id}`)),
      ...folders.flatMap(({ file, widens = [] }) => widens.map((text) => `${file}: ${text}`)),
    ],
  };
}

function fileOf(id: string, folders: readonly FolderSettings[]): string {
  return folders.find(({ model, roles = {} }) => model === id || Object.values(roles).includes(id))?.file ?? "";
}

function boundNote<N extends number>(
  file: string,
  [wished, own, held]: readonly [wished: N | undefined, own: N, held: N],
  isGiven: boolean,
  text: (value: N) => string,
): readonly string[] {
  if (wished === undefined) return [];
  if (wished > own) return [`${file} asks for ${text(wished)}, but a folder raises no bound: it stays at ${text(held)}.`];
  return isGiven && wished < own && wished === held ? [`${file} lowers your bound to ${text(held)}.`] : [];
}
