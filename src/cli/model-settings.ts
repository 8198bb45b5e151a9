import type { ModelPrice } from "../model/price.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import { type FolderFiles, type FolderSettings, lowestTimes, NO_FOLDERS } from "./folder-settings.ts";
import { limitsOf, type ModelTable, modelTable, roleModels } from "./model-table.ts";
import { nonEmpty, priceFrom } from "./option-values.ts";
import { type TimeFlags, timeLimits } from "./time-limits.ts";
import { valueIn, type Variables } from "./variables.ts";

/** The options that choose the model, as texts. */
export interface ModelFlags extends TimeFlags {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly price?: string;
}

/** The model that is asked, and how it is reached. */
export interface ModelSettings {
  readonly id: string;
  readonly apiKey: string | undefined;
  /** Name of the variable the key came from: names may be shown, keys never. */
  readonly keyFrom: string | undefined;
  readonly baseURL: string | undefined;
  readonly price: ModelPrice | undefined;
  /** The time limits that the user set. */
  readonly timeouts: CallTimeouts;
  /** Prices and limits of other models, where any are set. */
  readonly others?: ModelTable;
  /** Files whose time limits hold for other models too, where they are lower. */
  readonly folders?: readonly FolderSettings[];
}

/** A model that can be reached, or none, with the name that was asked for. */
export type ModelChoice =
  | { readonly kind: "model"; readonly model: ModelSettings }
  | { readonly kind: "none"; readonly asked: string | undefined };

/** Good enough to write a small project, cheap enough to try. */
const DEFAULT_MODEL = "gpt-5-mini";
const KEY_VARIABLES = ["TROUPE_API_KEY", "OPENAI_API_KEY"] as const;
const URL_VARIABLES = ["TROUPE_BASE_URL", "OPENAI_BASE_URL"] as const;

/**
 * The model that options, variables and files choose, in this order: an option, a variable, the files of folders, the user's file. A key or a base
 * URL makes one reachable; a name alone does not.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function modelChoice(flags: ModelFlags, env: Variables, files: FolderFiles = NO_FOLDERS): ModelChoice {
  const { folders } = files;
  const asked = ownModel(flags, env, files) ?? folders.find(({ model }) => model !== undefined)?.model ?? valueIn(env, "TROUPE_MODEL");
  return reachedModel(asked, flags, env, folders);
}

/** The model that an option or a variable names: no file of a folder replaces it. */
function ownModel(flags: ModelFlags, env: Variables, { from }: FolderFiles): string | undefined {
  return askedModel(flags) ?? (from.has("TROUPE_MODEL") ? undefined : valueIn(env, "TROUPE_MODEL"));
}

/** The models of roles: a variable wins, then the files of folders, then the user's file. @throws UsageError `OPTION_INVALID` */
export function modelsOfRoles(env: Variables, { folders, from }: FolderFiles): Readonly<Record<string, string>> | undefined {
  const own = roleModels(env);
  const wished = folders.toReversed().map(({ roles }) => roles);
  const all = from.has("TROUPE_ROLE_MODELS") ? [own, ...wished] : [...wished, own];
  return all.every((roles) => roles === undefined) ? undefined : Object.fromEntries(all.flatMap((roles) => Object.entries(roles ?? {})));
}

/**
 * The models that the user named, by option, variable or own file: those a folder may choose among. A price that an option gives is that of one
 * model.
 */
export function namedModels(flags: ModelFlags, env: Variables): { readonly main: ReadonlySet<string>; readonly all: ReadonlySet<string> } {
  const main = askedModel(flags) ?? valueIn(env, "TROUPE_MODEL") ?? DEFAULT_MODEL;
  const all = new Set([main, ...Object.keys(modelTable(env)), ...Object.values(roleModels(env) ?? {})]);
  return { main: flags.price === undefined ? all : new Set([main]), all };
}

export function askedModel(flags: ModelFlags): string | undefined {
  return nonEmpty("--model", flags.model, "the name of a model");
}

/** The model of a name, as options and environment reach it. @throws UsageError `OPTION_INVALID` */
export function reachedModel(
  asked: string | undefined,
  flags: ModelFlags,
  env: Variables,
  folders: readonly FolderSettings[] = [],
): ModelChoice {
  const baseURL = nonEmpty("--base-url", flags.baseUrl, "a URL") ?? baseURLIn(env);
  const key = firstOf(env, keyVariables(env));
  const given = flags.price === undefined ? undefined : priceFrom(flags.price);
  if (baseURL === undefined && key === undefined) return { kind: "none", asked };
  const id = asked ?? DEFAULT_MODEL;
  const table = modelTable(env);
  const own = Object.hasOwn(table, id) ? table[id] : undefined;
  const price = given ?? own?.price;
  const timeouts = lowestTimes({ ...limitsOf(id, own), ...timeLimits(flags, env) }, id, folders);
  const others = { ...(Object.keys(table).length === 0 ? {} : { others: table }), ...(folders.length === 0 ? {} : { folders }) };
  return { kind: "model", model: { id, apiKey: key?.value, keyFrom: key?.name, baseURL, price, timeouts, ...others } };
}

/** The variables that may hold the key: one of this command, one that a setting names, and the provider's own. */
function keyVariables(env: Variables): readonly string[] {
  const named = valueIn(env, "TROUPE_API_KEY_NAME");
  return [KEY_VARIABLES[0], ...(named === undefined ? [] : [named]), KEY_VARIABLES[1]];
}

/** The base URL that the environment names. */
export function baseURLIn(env: Variables): string | undefined {
  return firstOf(env, URL_VARIABLES)?.value;
}

function firstOf(env: Variables, names: readonly string[]): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = valueIn(env, name);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}
