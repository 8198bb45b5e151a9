import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { readYaml } from "../adapters/yaml.ts";
import { UsageError } from "../kernel/errors.ts";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { usd } from "../model/money.ts";
import { assertInFolder } from "./folder-file.ts";
import type { FolderSettings } from "./folder-settings.ts";
import type { Host } from "./host.ts";
import type { ModelTable } from "./model-table.ts";
import { shown } from "./screen/text.ts";
import { valueIn, type Variables } from "./variables.ts";
import { readText } from "./text-file.ts";

/** The settings of a config file. */
interface Config {
  readonly model?: string | undefined;
  readonly models?: ModelTable | undefined;
  readonly roles?: Readonly<Record<string, string>> | undefined;
  readonly budget?: number | undefined;
  readonly rounds?: number | undefined;
  readonly sandbox?: "auto" | "bubblewrap" | "none" | undefined;
  readonly store?: string | undefined;
  readonly firstByte?: string | number | undefined;
  readonly silence?: string | number | undefined;
  readonly call?: string | number | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: { readonly env: string } | undefined;
}

/** The environment with the settings of the config files below it. */
export interface Configured {
  readonly env: Variables;
  /** The files that the values of variables came from. */
  readonly from: ReadonlyMap<string, string>;
  /** The settings of the folder's file that are compared with the user's. */
  readonly folder: FolderSettings | undefined;
}

/** The config file of a folder. */
const PROJECT_CONFIG = "troupe.config.yaml";
const MOST_BYTES = 64 * 1024;

const time = z.union([z.number().nonnegative(), z.string()], { error: "seconds, a time such as 90s or 10m, or none" });
const dollars = z.number().nonnegative().max(1_000_000);
const limits = { firstByte: time.optional(), silence: time.optional(), call: time.optional() };
const price = z.strictObject({ input: dollars, output: dollars, cachedInput: dollars.exactOptional() });
const common = {
  model: z.string().min(1).optional(),
  models: z.record(z.string().min(1), z.strictObject({ price: price.optional(), ...limits })).optional(),
  roles: z.record(z.string().min(1), z.string().min(1)).optional(),
  budget: z.number().positive().max(1_000_000).optional(),
  rounds: z.int().min(1).max(100_000).optional(),
  ...limits,
};
const userSchema: z.ZodType<Config> = z.strictObject({
  ...common,
  sandbox: z.enum(["auto", "bubblewrap", "none"]).optional(),
  store: z.string().min(1).optional(),
  baseUrl: z.url({ protocol: /^https?$/, error: "an http URL" }).optional(),
  apiKey: z.strictObject({ env: z.string().regex(/^[A-Za-z_]\w*$/, { error: "the name of a variable" }) }).optional(),
});
const priceless = z.undefined({ error: "left out: prices are yours to set, by --price, TROUPE_MODELS or ~/.config/troupe/config.yaml" });
/**
 * A folder may be another person's: its file neither says where keys and words are sent, nor what they cost, nor lifts the sandbox, nor writes
 * elsewhere. Its other settings are compared with the user's: see {@link FolderSettings}.
 */
const projectSchema: z.ZodType<Config> = z.strictObject({
  ...common,
  models: z.record(z.string().min(1), z.strictObject({ price: priceless.optional(), ...limits })).optional(),
  sandbox: z.enum(["auto", "bubblewrap"]).optional(),
  store: z
    .string()
    .min(1)
    .refine((path) => !isAbsolute(path) && !relative(".", path).startsWith(".."), {
      error: "Expected store to be a file below this folder.",
    })
    .optional(),
});

/** The path of the user's config file; undefined where there is no home folder. */
export function userConfig(env: Variables): string | undefined {
  const base = valueIn(env, "XDG_CONFIG_HOME") ?? "";
  if (isAbsolute(base)) return join(base, "troupe", "config.yaml");
  const home = valueIn(env, "HOME") ?? "";
  return isAbsolute(home) ? join(home, ".config", "troupe", "config.yaml") : undefined;
}

/**
 * Puts the settings of the config files below the environment: a variable that is set wins, then the sandbox and the store of the folder's file,
 * then the user's file. What else the folder's file says is returned apart.
 *
 * @throws UsageError `CONFIG_INVALID` with line and column, `FILE_UNREADABLE`, `FILE_ELSEWHERE`
 */
export async function configured(host: Pick<Host, "cwd" | "env" | "stdin">): Promise<Configured> {
  const own = userConfig(host.env);
  const user = own === undefined ? undefined : await configIn(host, own, userSchema);
  await assertInFolder(host, PROJECT_CONFIG);
  const path = join(host.cwd, PROJECT_CONFIG);
  const project = await configIn(host, path, projectSchema);
  const { sandbox, store, ...wishes } = project ?? {};
  if (store !== undefined) await assertInFolder(host, store);
  const folder = project === undefined ? undefined : folderSettings(path, wishes);
  const env: Record<string, string> = {};
  const from = new Map<string, string>();
  for (const [file, config = {}] of [
    [own, user],
    [path, { sandbox, store }],
  ] as const)
    for (const [name, value] of Object.entries(variablesOf(config, host.env))) {
      env[name] = value;
      from.set(name, file ?? "");
    }
  if (from.size === 0) return { env: host.env, from, folder };
  for (const [name, value] of Object.entries(host.env)) {
    if (value === undefined || (value.trim() === "" && from.has(name))) continue;
    env[name] = value;
    from.delete(name);
  }
  return { env, from, folder };
}

/** The settings of a file; undefined where there is none. */
async function configIn(host: Pick<Host, "cwd" | "env" | "stdin">, path: string, schema: z.ZodType<Config>): Promise<Config | undefined> {
  if (!(await succeeds(access(path)))) return undefined;
  const text = await readText(host as Host, path, "the settings", MOST_BYTES);
  // A file of comments alone says nothing.
  return (await readYaml(text, { schema: schema.nullable(), name: path, code: "CONFIG_INVALID" })) ?? {};
}

function folderSettings(file: string, { model, models, roles, budget, rounds, firstByte, silence, call }: Config): FolderSettings {
  return {
    file,
    model,
    models,
    roles,
    budget: budget === undefined ? undefined : usd(budget),
    rounds,
    times: { firstByte, silence, call },
  };
}

/** The settings as the variables that would say the same. */
function variablesOf(config: Config, env: Variables): Readonly<Record<string, string>> {
  const { model, models, roles, budget, rounds, sandbox, store, firstByte, silence, call, baseUrl, apiKey } = config;
  // Another variable of the environment says the same.
  const hasURL = valueIn(env, "OPENAI_BASE_URL") !== undefined;
  const all: Readonly<Record<string, string | number | undefined>> = {
    TROUPE_MODEL: model,
    TROUPE_MODELS: models && JSON.stringify(models),
    TROUPE_ROLE_MODELS: roles && JSON.stringify(roles),
    TROUPE_BUDGET: budget,
    TROUPE_ROUNDS: rounds,
    TROUPE_SANDBOX: sandbox,
    TROUPE_STORE: store,
    TROUPE_FIRST_BYTE: firstByte,
    TROUPE_SILENCE: silence,
    TROUPE_CALL_LIMIT: call,
    TROUPE_BASE_URL: hasURL ? undefined : baseUrl,
    TROUPE_API_KEY_NAME: apiKey?.env,
  };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
}

/** A host whose environment has the settings of the config files. The rest of the host stays as it is: reading its streams would open them. */
export function withEnvironment(host: Host, env: Variables): Host {
  return env === host.env ? host : (Object.create(host, { env: { value: env, enumerable: true } }) as Host);
}

const TEMPLATE = `# Settings of troupe. An option of the command wins, then a variable of the environment, then this file. A crew's file and troupe.config.yaml
# of a folder can only lower the budget, the rounds and the time limits, and choose among the models named here. See: troupe doctor

# The model, and the server that has it. No key is written here: name the variable of the environment that holds it.
# model: gpt-5-mini
# baseUrl: http://127.0.0.1:11434/v1
# apiKey: { env: MY_KEY }

# Prices in dollars for a million tokens, and time limits, by model.
# models:
#   qwen3:
#     price: { input: 0, output: 0, cachedInput: 0 }
#     firstByte: 10m
#     silence: 10m
#     call: 1h

# Models by the names of roles.
# roles: { Alex: gpt-5 }

# Dollars that a run may cost, its most rounds, the sandbox (auto, bubblewrap or none), and the file that keeps runs.
# budget: 3
# rounds: 60
# sandbox: auto
# store: .troupe/runs.db
`;

/**
 * Writes a config file with comments: the user's or, without a home folder, that of this folder. A file that is there stays.
 *
 * @returns its path
 * @throws UsageError `CONFIG_EXISTS`, `FILE_UNWRITABLE`
 */
export async function writeConfig(host: Pick<Host, "cwd" | "env">): Promise<string> {
  const path = userConfig(host.env) ?? join(host.cwd, PROJECT_CONFIG);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, TEMPLATE, { flag: "wx" });
    return path;
  } catch (cause) {
    const name = shown(path, 300);
    if (systemCode(cause) === "EEXIST")
      throw new UsageError("CONFIG_EXISTS", `Expected no config file yet, but ${name} is there. It stays as it is.`, { cause });
    throw new UsageError("FILE_UNWRITABLE", `Expected to write ${name}, but ${shown(thrownText(cause), 200)}.`, { cause });
  }
}
