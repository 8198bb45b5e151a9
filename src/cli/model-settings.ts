import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Dialect } from "../model/dialect.ts";
import type { MicroUsd } from "../model/money.ts";
import type { ModelPrice } from "../model/price.ts";
import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { secretsIn, valueIn, type Variables } from "./host.ts";
import { setting, timeIn } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { isProviderModel, providerKey } from "./provider-model.ts";

export interface ModelSettings {
  readonly id: string;
  /** That of an OpenAI-compatible server; packages of providers read their own. */
  readonly apiKey: string | undefined;
  /** The variable that holds the key: names may be shown, keys never. */
  readonly keyFrom: string | undefined;
  readonly baseURL: string | undefined;
  readonly price: ModelPrice | undefined;
  readonly timeouts: CallTimeouts;
  /** Default: learnt. */
  readonly dialect?: Dialect | undefined;
  readonly others?: ModelTable;
  readonly secrets?: readonly string[];
  /** Files whose time limits hold for other models too, where they are lower. */
  readonly folders?: readonly FolderSettings[];
}

export type ModelChoice =
  | { readonly kind: "model"; readonly model: ModelSettings }
  | { readonly kind: "none"; readonly asked: string | undefined };

const time = z.union([z.number().nonnegative(), z.string()], { error: "seconds, a time such as 90s or 10m, or none" });
const dollars = z.number().nonnegative().max(1_000_000);
export const limitsShape = { firstByte: time.optional(), silence: time.optional(), call: time.optional() };
const price = z.strictObject({ input: dollars, output: dollars, cachedInput: dollars.exactOptional() });
export const ModelTableSchema = z.record(z.string().min(1), z.strictObject({ price: price.optional(), ...limitsShape }));
export const RoleModelsSchema = z.record(z.string().min(1), z.string().min(1));
export type ModelTable = Readonly<z.infer<typeof ModelTableSchema>>;

/** The file may be another person's: its bounds hold where they are lower than the user's, who must agree to what would widen them. */
export interface FolderSettings {
  readonly file: string;
  readonly model?: string | undefined;
  readonly roles?: Readonly<Record<string, string>> | undefined;
  readonly budget?: MicroUsd | undefined;
  readonly rounds?: number | undefined;
  readonly times?: TimeTexts | undefined;
  readonly models?: ModelTable | undefined;
  /** The settings that would allow more than the user said, in words, without the models. */
  readonly widens?: readonly string[] | undefined;
}

export type TimeTexts = { readonly [Limit in keyof CallTimeouts]?: string | number | undefined };

export interface FolderFiles {
  readonly folders: readonly FolderSettings[];
  readonly from: ReadonlyMap<string, string>;
}

export const NO_FOLDERS: FolderFiles = { folders: [], from: new Map() };

const LIMITS = ["firstByte", "silence", "call"] as const;
/** Good enough to write a small project, cheap enough to try. */
const DEFAULT_MODEL = "gpt-5-mini";

/** The time limits of a model: the user's, or the default, unless a folder's are lower. */
export function lowestTimes(own: CallTimeouts, id: string, folders: readonly FolderSettings[]): CallTimeouts {
  const held = LIMITS.map((limit) => {
    const highest = (own[limit] ?? DEFAULT_TIMEOUTS[limit]) || Infinity;
    const wished = folders.flatMap(({ file, times, models = {} }) =>
      [times?.[limit], ownValue(models, id)?.[limit]]
        .filter((one) => one !== undefined)
        .map((one) => timeIn(`${limit} of ${file}`, String(one)))
        .filter((ms) => ms > 0),
    );
    const lowest = Math.min(highest, ...wished);
    return [limit, lowest < highest ? lowest : own[limit]] as const;
  });
  return Object.fromEntries(held.filter(([, ms]) => ms !== undefined));
}

export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function jsonIn<T>(env: Variables, name: string, schema: z.ZodType<T>, example: string): T | undefined {
  const text = valueIn(env, name);
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be JSON such as ${example}, got another form.`);
}

function modelTable(env: Variables): ModelTable {
  const example = '{ "model": { "price": { "input": 1, "output": 2 }, "firstByte": "90s" } }';
  return jsonIn(env, "TROUPE_MODELS", ModelTableSchema, example) ?? {};
}

function roleModels(env: Variables): Readonly<Record<string, string>> | undefined {
  return jsonIn(env, "TROUPE_ROLE_MODELS", RoleModelsSchema, '{ "Alex": "gpt-5" }');
}

export function limitsOf(id: string, entry: TimeTexts = {}): CallTimeouts {
  const given = LIMITS.filter((limit) => entry[limit] !== undefined);
  return Object.fromEntries(given.map((limit) => [limit, timeIn(`${limit} of ${id}`, String(entry[limit]))]));
}

/** The model that an option, a variable, the files of folders or the user's file choose, in this order. */
export function modelChoice(flags: Flags, env: Variables, { folders, from }: FolderFiles = NO_FOLDERS): ModelChoice {
  const own = flags.model ?? (from.has("TROUPE_MODEL") ? undefined : valueIn(env, "TROUPE_MODEL"));
  const asked = own ?? folders.find(({ model }) => model !== undefined)?.model ?? valueIn(env, "TROUPE_MODEL");
  return reachedModel(asked, flags.baseUrl ?? baseURLIn(env), flags, env, folders);
}

export function modelsOfRoles(env: Variables, { folders, from }: FolderFiles): Readonly<Record<string, string>> | undefined {
  const own = roleModels(env);
  const wished = folders.toReversed().map(({ roles }) => roles);
  const all = from.has("TROUPE_ROLE_MODELS") ? [own, ...wished] : [...wished, own];
  return all.every((roles) => roles === undefined) ? undefined : Object.fromEntries(all.flatMap((roles) => Object.entries(roles ?? {})));
}

/** The models that the user named by option, variable or own file, which a folder may choose. The price of an option is that of one model. */
export function namedModels(flags: Flags, env: Variables): { readonly main: ReadonlySet<string>; readonly all: ReadonlySet<string> } {
  const main = setting("model", flags, env) ?? DEFAULT_MODEL;
  const all = new Set([main, ...Object.keys(modelTable(env)), ...Object.values(roleModels(env) ?? {})]);
  return { main: flags.price === undefined ? all : new Set([main]), all };
}

/** A key, a base URL or the name of a provider makes a model reachable; another name alone does not. */
export function reachedModel(
  asked: string | undefined,
  baseURL: string | undefined,
  flags: Flags,
  env: Variables,
  folders: readonly FolderSettings[],
): ModelChoice {
  const variables = ["TROUPE_API_KEY", valueIn(env, "TROUPE_API_KEY_NAME") ?? "", "OPENAI_API_KEY"];
  const keyName = variables.find((name) => valueIn(env, name) !== undefined);
  const isProviders = asked !== undefined && isReachedByPackage(asked, baseURL);
  if (baseURL === undefined && keyName === undefined && !isProviders) return { kind: "none", asked };
  const id = asked ?? DEFAULT_MODEL;
  const others = modelTable(env);
  const own = ownValue(others, id);
  const [firstByte, silence, call] = (["firstByte", "silence", "callLimit"] as const).map((name) => setting(name, flags, env));
  const given = Object.fromEntries(Object.entries({ firstByte, silence, call }).filter(([, limit]) => limit !== undefined));
  const timeouts = lowestTimes({ ...limitsOf(id, own), ...given }, id, folders);
  if (isProviders && flags.dialect !== undefined) {
    const expected = `Expected no --dialect for ${asked}, which a package of its provider asks`;
    throw new UsageError("OPTION_CONFLICT", `${expected}. Leave it out, or name a server by --base-url.`);
  }
  const dialect = setting("dialect", flags, env);
  const apiKey = keyName === undefined ? undefined : valueIn(env, keyName);
  const keyFrom = isProviders ? providerKey(id, env) : keyName;
  const shared = { others, folders, secrets: secretsIn(env), ...(dialect && { dialect }) };
  return { kind: "model", model: { id, apiKey, keyFrom, baseURL, price: flags.price ?? own?.price, timeouts, ...shared } };
}

/** True for the name of a provider where no server is given, to which it would go as it is. */
export function isReachedByPackage(id: string, baseURL: string | undefined): boolean {
  return baseURL === undefined && isProviderModel(id);
}

export function baseURLIn(env: Variables): string | undefined {
  return valueIn(env, "TROUPE_BASE_URL") ?? valueIn(env, "OPENAI_BASE_URL");
}

export interface ChosenModel {
  readonly model: ChatModel;
  readonly text: string;
  readonly isScripted: boolean;
  readonly demo: string | undefined;
  /** Undefined: OpenAI's own, or none. */
  readonly baseURL: string | undefined;
  readonly budget: MicroUsd | undefined;
  readonly isPaid: boolean;
  readonly secrets: readonly string[];
  readonly modelOf: (id: string) => ChatModel;
}
