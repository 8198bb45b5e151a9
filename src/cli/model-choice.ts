import { openai } from "../adapters/openai.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { type ModelPrice, priceOf } from "../model/price.ts";
import type { CallTimeouts } from "../model/timeouts.ts";
import type { Role } from "../role/role.ts";
import { publicURL, type RunAbout } from "./about.ts";
import { type DemoIdea, demoIdeas, demoModel } from "./demo-script.ts";
import { canDraw, type Variables } from "./host.ts";
import {
  baseURLIn,
  type ChosenModel,
  type FolderSettings,
  isReachedByPackage,
  limitsOf,
  lowestTimes,
  type ModelChoice,
  type ModelSettings,
  ownValue,
  reachedModel,
} from "./model-settings.ts";
import type { Flags } from "./options.ts";
import { providerModel } from "./provider-model.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";

export async function realModel(settings: ModelSettings, company: CompanySettings): Promise<ChosenModel> {
  const { id, apiKey, baseURL, price, timeouts, others = {}, folders = [], secrets = [] } = settings;
  const model = modelAt(settings, id, price, timeouts);
  const known = priceOf(model);
  if (known === undefined && company.isBudgetExplicit && !company.allowUnpriced) {
    const expected = `Expected a model with a known price: --budget cannot bind ${shown(id, 80)}, whose price is not known`;
    const advice = "Give it with --price in,out (dollars for a million tokens), or say --allow-unpriced.";
    throw new UsageError("BUDGET_UNPRICED", `${expected}. ${advice}`);
  }
  return {
    model,
    text: modelText(settings),
    isScripted: false,
    demo: undefined,
    baseURL,
    budget: known !== undefined || company.isBudgetExplicit ? company.budget : undefined,
    isPaid: known === undefined || known.input > 0 || known.output > 0,
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...secrets],
    modelOf: (other) => {
      if (other === id) return model;
      const own = ownValue(others, other);
      const limits = lowestTimes({ ...timeouts, ...limitsOf(other, own) }, other, folders);
      return modelAt(settings, other, own?.price, limits);
    },
  };
}

/** A model where the settings reach it. Nothing is sent or loaded yet. @throws UsageError `PACKAGE_MISSING` */
export function modelAt({ apiKey, baseURL, dialect }: ModelSettings, id: string, price?: ModelPrice, timeouts?: CallTimeouts): ChatModel {
  if (isReachedByPackage(id, baseURL)) return providerModel(id, { price, timeouts });
  return openai({ model: id, apiKey, baseURL, price, timeouts, dialect });
}

export function modelsByRole<T>(
  roles: readonly Role[],
  models: Readonly<Record<string, T>>,
  modelOf: (model: T) => ChatModel,
): Readonly<Record<string, ChatModel>> {
  const found = roles.flatMap(({ name, profile }) => {
    const model = ownValue(models, name) ?? ownValue(models, profile);
    return model === undefined ? [] : [[name, modelOf(model)] as const];
  });
  return Object.fromEntries(found);
}

/** Milliseconds between the pieces of a script's replies on a terminal: about as fast as a fast model. */
const WATCHED_LATENCY = 3;

export function scriptModel(idea: DemoIdea, company: CompanySettings, { host, output }: Pick<Session, "host" | "output">): ChosenModel {
  const model = demoModel(idea, canDraw(host) && !output.isQuiet ? WATCHED_LATENCY : 0);
  return {
    model,
    text: `script of "${idea.title}"`,
    isScripted: true,
    demo: idea.id,
    baseURL: undefined,
    budget: company.budget,
    isPaid: false,
    secrets: [],
    modelOf: () => model,
  };
}

export async function modelOfRecord(session: Session, about: RunAbout, settings: CompanySettings, flags: Flags): Promise<ChosenModel> {
  const bundled = await demoIdeas();
  const script = flags.model === undefined ? bundled.find(({ id }) => id === about.demo) : undefined;
  if (script !== undefined) return scriptModel(script, settings, session);
  const choice = recordedModel(about, flags, session.host.env, session.folder === undefined ? [] : [session.folder]);
  if (choice.kind === "none") throw noModel(choice.asked, bundled);
  return realModel(choice.model, settings);
}

const HOW_TO_SET =
  "Set OPENAI_API_KEY, name a model of a provider such as anthropic/claude-sonnet-4-5, or set TROUPE_BASE_URL to an OpenAI-compatible server such as http://127.0.0.1:11434/v1 with TROUPE_MODEL for its model.";

export function noModel(asked: string | undefined, ideas: readonly DemoIdea[]): ModelError {
  const why = asked === undefined ? "no model is set and no bundled script fits this idea" : unreachable(asked);
  const bundled = ideas.map(({ id, title }) => `troupe demo ${id} (${title})`).join(", ");
  return new ModelError("MODEL_AUTH", `Expected a model to ask, but ${why}. ${HOW_TO_SET} Without a model these play: ${bundled}.`);
}

export function noModelSet(asked: string | undefined): ModelError {
  const why = asked === undefined ? "no model is set" : unreachable(asked);
  return new ModelError("MODEL_AUTH", `Expected a model to ask, but ${why}. ${HOW_TO_SET}`);
}

function unreachable(model: string): string {
  return `there is neither a key nor a base URL for ${shown(model, 80)}`;
}

/** A model's name, its host and the source of its key; never the key. */
function modelText({ id, baseURL, keyFrom }: ModelSettings): string {
  const host = baseURL !== undefined && URL.canParse(baseURL) ? ` at ${new URL(baseURL).host}` : "";
  return `${id}${host}${keyFrom === undefined ? ", no key" : `, key from ${keyFrom}`}`;
}

/** The model of a recorded run: where the options say, else where it was, else where the environment says. */
export function recordedModel({ model }: RunAbout, flags: Flags, env: Variables, folders: readonly FolderSettings[] = []): ModelChoice {
  const now = baseURLIn(env);
  // A record keeps no secret parts of a URL: the same URL in the environment may have them.
  const id = flags.model ?? model.id;
  const wasByPackage = isReachedByPackage(model.id, model.baseURL) && isReachedByPackage(id, undefined);
  const then = wasByPackage ? undefined : publicURL(now) === model.baseURL ? now : (model.baseURL ?? now);
  const choice = reachedModel(id, flags.baseUrl ?? then, flags, env, folders);
  if (choice.kind === "none" || flags.price !== undefined || id !== model.id) return choice;
  return { kind: "model", model: { ...choice.model, price: model.price } };
}
