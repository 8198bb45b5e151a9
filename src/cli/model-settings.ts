import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { MicroUsd } from "../model/money.ts";
import type { ModelPrice } from "../model/price.ts";
import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { valueIn, type Variables } from "./host.ts";
import { setting, timeIn } from "./option-values.ts";
import type { Flags } from "./options.ts";

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
  /** Prices and limits of other models. */
  readonly others?: ModelTable;
  /** Files whose time limits hold for other models too, where they are lower. */
  readonly folders?: readonly FolderSettings[];
}

/** A model that can be reached, or none, with the name that was asked for. */
export type ModelChoice =
  | { readonly kind: "model"; readonly model: ModelSettings }
  | { readonly kind: "none"; readonly asked: string | undefined };

const time = z.union([z.number().nonnegative(), z.string()], { error: "seconds, a time such as 90s or 10m, or none" });
const dollars = z.number().nonnegative().max(1_000_000);
/** Time limits as files write them. */
export const limitsShape = { firstByte: time.optional(), silence: time.optional(), call: time.optional() };
const price = z.strictObject({ input: dollars, output: dollars, cachedInput: dollars.exactOptional() });
export const ModelTableSchema = z.record(z.string().min(1), z.strictObject({ price: price.optional(), ...limitsShape }));
export const RoleModelsSchema = z.record(z.string().min(1), z.string().min(1));
/** Prices and time limits by the ids of models. */
export type ModelTable = Readonly<z.infer<typeof ModelTableSchema>>;

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
  readonly times?: TimeTexts | undefined;
  readonly models?: ModelTable | undefined;
  /** What would let more happen than the user said, in words; never the models, which {@link FolderSettings.model} has. */
  readonly widens?: readonly string[] | undefined;
}

/** Time limits of model calls as files write them. */
export type TimeTexts = { readonly [Limit in keyof CallTimeouts]?: string | number | undefined };

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
  const held = LIMITS.map((limit) => {
    const most = (own[limit] ?? DEFAULT_TIMEOUTS[limit]) || Infinity;
    const least = lowest(
      most,
      folders.flatMap((folder) => wishedTimes(folder, id, limit)),
    );
    return [limit, least < most ? least : own[limit]] as const;
  });
  return Object.fromEntries(held.filter(([, ms]) => ms !== undefined));
}

function wishedTimes({ file, times, models = {} }: FolderSettings, id: string, limit: (typeof LIMITS)[number]): readonly number[] {
  const byModel = Object.hasOwn(models, id) ? models[id]?.[limit] : undefined;
  const given = [times?.[limit], byModel].filter((one) => one !== undefined);
  return given.map((one) => timeIn(`${limit} of ${file}`, String(one))).filter((ms) => ms > 0);
}

/** Good enough to write a small project, cheap enough to try. */
const DEFAULT_MODEL = "gpt-5-mini";

function modelTable(env: Variables): ModelTable {
  const example = '{ "model": { "price": { "input": 1, "output": 2 }, "firstByte": "90s" } }';
  return jsonIn(env, "TROUPE_MODELS", ModelTableSchema, example) ?? {};
}

function roleModels(env: Variables): Readonly<Record<string, string>> | undefined {
  return jsonIn(env, "TROUPE_ROLE_MODELS", RoleModelsSchema, '{ "Alex": "gpt-5" }');
}

function jsonIn<T>(env: Variables, name: string, schema: z.ZodType<T>, example: string): T | undefined {
  const text = valueIn(env, name);
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be JSON such as ${example}, got another form.`);
}

/** The time limits that a file or a variable sets for a model. @throws UsageError `OPTION_INVALID` */
export function limitsOf(id: string, entry: TimeTexts = {}): CallTimeouts {
  const given = LIMITS.filter((limit) => entry[limit] !== undefined);
  return Object.fromEntries(given.map((limit) => [limit, timeIn(`${limit} of ${id}`, String(entry[limit]))]));
}

/**
 * The model that options, variables and files choose, in this order: an option, a variable, the files of folders, the user's file. A key or a base
 * URL makes one reachable; a name alone does not.
 */
export function modelChoice(flags: Flags, env: Variables, files: FolderFiles = NO_FOLDERS): ModelChoice {
  const { folders, from } = files;
  const own = flags.model ?? (from.has("TROUPE_MODEL") ? undefined : valueIn(env, "TROUPE_MODEL"));
  const asked = own ?? folders.find(({ model }) => model !== undefined)?.model ?? valueIn(env, "TROUPE_MODEL");
  return reachedModel(asked, flags, env, folders);
}

/** The models of roles: a variable wins, then the files of folders, then the user's file. */
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
export function namedModels(flags: Flags, env: Variables): { readonly main: ReadonlySet<string>; readonly all: ReadonlySet<string> } {
  const main = setting("model", flags, env) ?? DEFAULT_MODEL;
  const all = new Set([main, ...Object.keys(modelTable(env)), ...Object.values(roleModels(env) ?? {})]);
  return { main: flags.price === undefined ? all : new Set([main]), all };
}

/** The model of a name, as options and environment reach it. */
export function reachedModel(
  asked: string | undefined,
  flags: Flags,
  env: Variables,
  folders: readonly FolderSettings[] = [],
): ModelChoice {
  const baseURL = flags.baseUrl ?? baseURLIn(env);
  const keyFrom = ["TROUPE_API_KEY", valueIn(env, "TROUPE_API_KEY_NAME") ?? "", "OPENAI_API_KEY"].find(
    (name) => valueIn(env, name) !== undefined,
  );
  if (baseURL === undefined && keyFrom === undefined) return { kind: "none", asked };
  const id = asked ?? DEFAULT_MODEL;
  const others = modelTable(env);
  const own = Object.hasOwn(others, id) ? others[id] : undefined;
  const [firstByte, silence, call] = (["firstByte", "silence", "callLimit"] as const).map((name) => setting(name, flags, env));
  const given = Object.fromEntries(Object.entries({ firstByte, silence, call }).filter(([, limit]) => limit !== undefined));
  const timeouts = lowestTimes({ ...limitsOf(id, own), ...given }, id, folders);
  const apiKey = keyFrom === undefined ? undefined : valueIn(env, keyFrom);
  return { kind: "model", model: { id, apiKey, keyFrom, baseURL, price: flags.price ?? own?.price, timeouts, others, folders } };
}

export function baseURLIn(env: Variables): string | undefined {
  return valueIn(env, "TROUPE_BASE_URL") ?? valueIn(env, "OPENAI_BASE_URL");
}
