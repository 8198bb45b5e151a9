import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { readYaml } from "../adapters/yaml.ts";
import { UsageError } from "../kernel/errors.ts";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { usd } from "../model/money.ts";
import { type Host, valueIn, type Variables } from "./host.ts";
import { type FolderSettings, limitsShape, ModelTableSchema, RoleModelsSchema, type TimeTexts } from "./model-settings.ts";
import { variableOf } from "./option-values.ts";
import { ENTRIES, type OptionEntry } from "./options.ts";
import { shown } from "./screen/text.ts";
import { assertInFolder, readText } from "./text-file.ts";

const PROJECT_CONFIG = "troupe.config.yaml";
const MAX_BYTES = 64 * 1024;

const SHAPES = {
  name: z.string().min(1),
  dollars: z.number().positive().max(1_000_000),
  count: z.int().min(1).max(100_000),
  time: limitsShape.call,
  dialect: z.string().min(1),
};

const optionShape = ({ value = "name" }: OptionEntry): z.ZodType<string | number | undefined> =>
  (typeof value === "string" ? SHAPES[value as keyof typeof SHAPES] : z.enum(value)).optional();

/** The options that a file may set: adding `config` to an option adds it here. */
const OWN = Object.entries(ENTRIES).flatMap(([name, entry]) =>
  entry.config === undefined ? [] : [[entry.config, entry, variableOf(name)] as const],
);
const shared = {
  ...Object.fromEntries(
    OWN.filter(([name]) => name !== "baseUrl" && name !== "dialect").map(([name, entry]) => [name, optionShape(entry)]),
  ),
  models: ModelTableSchema.optional(),
  roles: RoleModelsSchema.optional(),
};
const userSchema = z.strictObject({
  ...shared,
  dialect: SHAPES.dialect.optional(),
  baseUrl: z.url({ protocol: /^https?$/, error: "an http URL" }).optional(),
  apiKey: z.strictObject({ env: z.string().regex(/^[A-Za-z_]\w*$/, { error: "the name of a variable" }) }).optional(),
});
const priceless = z.undefined({ error: "left out: prices are yours to set, by --price, TROUPE_MODELS or ~/.config/troupe/config.yaml" });
const isBelow = (path: string): boolean => !isAbsolute(path) && !relative(".", path).startsWith("..");
/** A folder may be another person's: its file decides neither where keys and words are sent, nor prices, nor writes elsewhere. */
const projectSchema = z.strictObject({
  ...shared,
  models: z.record(z.string().min(1), z.strictObject({ price: priceless.optional(), ...limitsShape })).optional(),
  sandbox: z.enum(["auto", "bubblewrap"]).optional(),
  store: z.string().min(1).refine(isBelow, { error: "Expected store to be a file below this folder." }).optional(),
});

interface Config extends TimeTexts, Pick<FolderSettings, "model" | "roles" | "rounds" | "models"> {
  readonly budget?: number | undefined;
  readonly sandbox?: string | undefined;
  readonly store?: string | undefined;
  readonly apiKey?: { readonly env: string } | undefined;
}

export function userConfig(env: Variables): string | undefined {
  const base = valueIn(env, "XDG_CONFIG_HOME") ?? "";
  if (isAbsolute(base)) return join(base, "troupe", "config.yaml");
  const home = valueIn(env, "HOME") ?? "";
  return isAbsolute(home) ? join(home, ".config", "troupe", "config.yaml") : undefined;
}

/** A variable that is set wins, then the sandbox and the store of the folder's file, then the user's file. */
export async function configured(host: Pick<Host, "cwd" | "env" | "stdin">) {
  const own = userConfig(host.env);
  const user = own === undefined ? undefined : await configIn(host, own, userSchema);
  await assertInFolder(host, PROJECT_CONFIG);
  const path = join(host.cwd, PROJECT_CONFIG);
  const project = await configIn(host, path, projectSchema);
  const { sandbox, store, model, models, roles, budget, rounds, ...times } = project ?? {};
  if (store !== undefined) await assertInFolder(host, store);
  const wishes: FolderSettings = {
    file: path,
    model,
    models,
    roles,
    budget: budget === undefined ? undefined : usd(budget),
    rounds,
    times,
  };
  const folder = project === undefined ? undefined : wishes;
  const files = [
    ...Object.entries(variablesOf(user ?? {}, host.env)).map(([name, value]) => ({ name, value, file: own ?? "" })),
    ...Object.entries(variablesOf({ sandbox, store }, host.env)).map(([name, value]) => ({ name, value, file: path })),
  ].filter(({ name }) => valueIn(host.env, name) === undefined);
  const from = new Map(files.map(({ name, file }) => [name, file]));
  const env = files.length === 0 ? host.env : { ...host.env, ...Object.fromEntries(files.map(({ name, value }) => [name, value])) };
  return { env, from, folder };
}

async function configIn(host: Pick<Host, "cwd" | "env" | "stdin">, path: string, schema: z.ZodType): Promise<Config | undefined> {
  if (!(await succeeds(access(path)))) return undefined;
  const text = await readText(host as Host, path, "the settings", MAX_BYTES);
  // A file of comments alone has no value.
  return ((await readYaml(text, { schema: schema.nullable(), name: path, code: "CONFIG_INVALID" })) ?? {}) as Config;
}

function variablesOf(config: Config, env: Variables): Readonly<Record<string, string>> {
  const values = { ...config } as Readonly<Record<string, string | number | undefined>>;
  const { models, roles, apiKey } = config;
  const all: readonly (readonly [string, string | number | undefined])[] = [
    ...OWN.map(([name, , variable]) => [variable, values[name]] as const),
    ["TROUPE_MODELS", models && JSON.stringify(models)],
    ["TROUPE_ROLE_MODELS", roles && JSON.stringify(roles)],
    ["TROUPE_API_KEY_NAME", apiKey?.env],
  ];
  const isSaid = (name: string): boolean => name === "TROUPE_BASE_URL" && valueIn(env, "OPENAI_BASE_URL") !== undefined;
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined || isSaid(name) ? [] : [[name, String(value)]])));
}

/** A host with another environment. The rest of the host stays as it is: reading its streams would open them. */
export function withEnvironment(host: Host, env: Variables): Host {
  return env === host.env ? host : (Object.create(host, { env: { value: env, enumerable: true } }) as Host);
}

const TEMPLATE = `# Settings of troupe. An option of the command wins, then a variable of the environment, then this file. A crew's file and troupe.config.yaml
# of a folder can only lower the budget, the rounds and the time limits, and choose among the models named here. See: troupe doctor

# The model, and the server that has it. No key is written here: name the variable of the environment that holds it.
# model: gpt-5-mini
# baseUrl: http://127.0.0.1:11434/v1
# apiKey: { env: MY_KEY }
# dialect: maxTokensField=max_completion_tokens,omit=temperature

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
# rounds: 150
# sandbox: auto
# store: .troupe/runs.db
`;

/** Writes a config file with comments: the user's or, without a home folder, that of this folder. A file that is there stays. */
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
