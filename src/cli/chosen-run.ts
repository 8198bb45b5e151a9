import { AbortedError, UsageError } from "../kernel/errors.ts";
import { formatUsd, type MicroUsd } from "../model/money.ts";
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
  /** Bounds of folders that are not those of the run, or are lower than the user's. */
  readonly notes: readonly string[];
  readonly widens: readonly string[];
}

export async function chosenRun(session: Session, flags: Flags): Promise<ChosenRun> {
  const { host, screen } = session;
  const { notes, widens, ...chosen } = await wishedRun(session, flags);
  for (const note of notes) screen.say(screen.style.warn(shown(note)));
  if (widens.length === 0) return chosen;
  if (!canAsk(host)) {
    const texts = widens.map((text) => shown(text, 300)).join("; ");
    const advice =
      "Name the models under models in ~/.config/troupe/config.yaml, or put the crew's file into that folder. At a terminal you are asked";
    throw new UsageError("FOLDER_ASKS", `Expected a run within your own settings, but a folder asks for more: ${texts}. ${advice}.`);
  }
  screen.print([screen.style.strong("This folder asks for more than you said:"), ...widens.map((text) => `  ${shown(text, 300)}`)]);
  if (!(await agrees(session, "Allow it for this run?"))) throw new AbortedError("it was not allowed, and nothing was started");
  return chosen;
}

export async function wishedRun(session: Session, given: Flags): Promise<WishedRun> {
  const { host, settingsFrom: from, folder } = session;
  const { flags, crew, asks, models } = await chosenCrew(session, given);
  const folders = [asks, folder].filter((one) => one !== undefined);
  const own = runSettings(flags, host.env, { folders, from });
  const settings = crew === undefined ? own : { ...own, crew, models: { ...own.models, ...models } };
  const named = namedModels(flags, host.env);
  const company = companySettings(flags, host.env);
  const main = settings.model.kind === "model" && !named.main.has(settings.model.model.id) ? [settings.model.model.id] : [];
  const users = new Set([...named.all, ...Object.values(models)]);
  const others = Object.values(settings.models ?? {}).filter((id) => !users.has(id));
  return {
    settings,
    crew,
    notes: boundNotes(folders, {
      budget: { own: company.budget, isGiven: company.isBudgetExplicit, held: settings.budget },
      rounds: {
        own: company.rounds,
        isGiven: setting("rounds", flags, host.env) !== undefined,
        held: settings.rounds,
      },
    }),
    widens: [
      ...new Set([...main, ...others].map((id) => `${fileOf(id, folders)}: the model ${id}`)),
      ...folders.flatMap(({ file, widens = [] }) => widens.map((text) => `${file}: ${text}`)),
    ],
  };
}

function fileOf(id: string, folders: readonly FolderSettings[]): string {
  return folders.find(({ model, roles = {} }) => model === id || Object.values(roles).includes(id))?.file ?? "";
}

interface HeldBound<N> {
  readonly own: N;
  /** True when the user gave it. */
  readonly isGiven: boolean;
  readonly held: N;
}

/** Bounds of folders that do not hold, or that lower what the user gave, one sentence each. */
function boundNotes(
  folders: readonly FolderSettings[],
  bounds: { readonly budget: HeldBound<MicroUsd>; readonly rounds: HeldBound<number> },
): readonly string[] {
  return folders.flatMap(({ file, budget, rounds }) => [
    ...noteOf(file, budget, bounds.budget, (amount) => `a budget of ${formatUsd(amount)}`),
    ...noteOf(file, rounds, bounds.rounds, (count) => `${count} rounds`),
  ]);
}

function noteOf<N extends number>(
  file: string,
  wished: N | undefined,
  { own, isGiven, held }: HeldBound<N>,
  text: (value: N) => string,
): readonly string[] {
  if (wished === undefined) return [];
  if (wished > own) return [`${file} asks for ${text(wished)}, but a folder raises no bound: it stays at ${text(held)}.`];
  return isGiven && wished < own && wished === held ? [`${file} lowers your bound to ${text(held)}.`] : [];
}
