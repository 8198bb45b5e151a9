import { DEFAULT_TIMEOUTS, type CallTimeouts } from "../model/timeouts.ts";
import { formatUsd, type MicroUsd } from "../model/money.ts";
import type { ModelTable } from "./model-table.ts";
import { timeIn } from "./time-limits.ts";

/**
 * The settings of a file that is not the user's own: `troupe.config.yaml` of a folder, or a crew outside of the user's config folder. A folder may
 * be another person's, so its bounds count where they are lower than the user's, and what would widen them is named to the user first.
 */
export interface FolderSettings {
  /** The file, as it is shown. */
  readonly file: string;
  /** Used where neither an option nor a variable names one. */
  readonly model?: string | undefined;
  /** Ids of models by the names of roles. */
  readonly roles?: Readonly<Record<string, string>> | undefined;
  readonly budget?: MicroUsd | undefined;
  readonly rounds?: number | undefined;
  /** Time limits of all models, as texts. */
  readonly times?: TimeTexts | undefined;
  /** Time limits by model. */
  readonly models?: ModelTable | undefined;
  /** What would let more happen than the user said, in words; never the models, which {@link FolderSettings.model} has. */
  readonly widens?: readonly string[] | undefined;
}

/** Time limits of model calls as files write them. */
export type TimeTexts = { readonly [Limit in keyof CallTimeouts]: string | number | undefined };

/** The files of folders that a new run reads, the first one first, and the config files that variables of the environment came from. */
export interface FolderFiles {
  readonly folders: readonly FolderSettings[];
  readonly from: ReadonlyMap<string, string>;
}

export const NO_FOLDERS: FolderFiles = { folders: [], from: new Map() };

const LIMITS = ["firstByte", "silence", "call"] as const;

/** The lowest of a bound of the user's and those of folders. */
export function lowest<N extends number>(own: N, wished: readonly (N | undefined)[]): N {
  return wished.reduce<N>((least, one) => (one !== undefined && one < least ? one : least), own);
}

/** The time limits of a model: the user's, or the default, unless a folder's are lower. @throws UsageError `OPTION_INVALID` */
export function lowestTimes(own: CallTimeouts, id: string, folders: readonly FolderSettings[]): CallTimeouts {
  const held: { -readonly [Limit in keyof CallTimeouts]: CallTimeouts[Limit] } = { ...own };
  for (const limit of LIMITS) {
    const users = own[limit] ?? DEFAULT_TIMEOUTS[limit];
    const most = users === 0 ? Infinity : users;
    const least = lowest(
      most,
      folders.flatMap((folder) => wishedTimes(folder, id, limit)),
    );
    if (least < most) held[limit] = least;
  }
  return held;
}

function wishedTimes({ file, times, models = {} }: FolderSettings, id: string, limit: (typeof LIMITS)[number]): readonly number[] {
  const byModel = Object.hasOwn(models, id) ? models[id]?.[limit] : undefined;
  return [times?.[limit], byModel].flatMap((given) => {
    const ms = given === undefined ? 0 : timeIn(`${limit} of ${file}`, String(given));
    return ms === 0 ? [] : [ms];
  });
}

/** A bound as the user has it, and as it holds. */
export interface HeldBound<N> {
  readonly own: N;
  /** True when the user gave it. */
  readonly isGiven: boolean;
  readonly held: N;
}

/** Bounds of folders that do not hold, or that lower what the user gave, one sentence each. */
export function boundNotes(
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
