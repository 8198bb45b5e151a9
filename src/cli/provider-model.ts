import { createRequire } from "node:module";
import type { AiSdkModel, AiSdkOptions } from "../adapters/ai-sdk.ts";
import { UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { valueIn, type Variables } from "./host.ts";

/** Packages of the AI SDK, what they export, and the variables they read a key from, by the first part of a model's name. */
const PROVIDERS: Readonly<Record<string, readonly [name: string, exported: string, ...keys: string[]]>> = {
  anthropic: ["@ai-sdk/anthropic", "anthropic", "ANTHROPIC_API_KEY"],
  azure: ["@ai-sdk/azure", "azure", "AZURE_API_KEY"],
  bedrock: ["@ai-sdk/amazon-bedrock", "bedrock", "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY"],
  cerebras: ["@ai-sdk/cerebras", "cerebras", "CEREBRAS_API_KEY"],
  cohere: ["@ai-sdk/cohere", "cohere", "COHERE_API_KEY"],
  deepseek: ["@ai-sdk/deepseek", "deepseek", "DEEPSEEK_API_KEY"],
  fireworks: ["@ai-sdk/fireworks", "fireworks", "FIREWORKS_API_KEY"],
  google: ["@ai-sdk/google", "google", "GOOGLE_GENERATIVE_AI_API_KEY"],
  groq: ["@ai-sdk/groq", "groq", "GROQ_API_KEY"],
  mistral: ["@ai-sdk/mistral", "mistral", "MISTRAL_API_KEY"],
  moonshotai: ["@ai-sdk/moonshotai", "moonshotai", "MOONSHOT_API_KEY"],
  openai: ["@ai-sdk/openai", "openai", "OPENAI_API_KEY"],
  perplexity: ["@ai-sdk/perplexity", "perplexity", "PERPLEXITY_API_KEY"],
  togetherai: ["@ai-sdk/togetherai", "togetherai", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"],
  vertex: ["@ai-sdk/google-vertex", "vertex", "GOOGLE_VERTEX_API_KEY"],
  xai: ["@ai-sdk/xai", "xai", "XAI_API_KEY"],
};

export function isProviderModel(id: string): boolean {
  return nameIn(id) !== undefined;
}

export function providerKey(id: string, env: Variables): string | undefined {
  const [, , ...keys] = PROVIDERS[nameIn(id)?.provider ?? ""] ?? [];
  return keys.find((name) => valueIn(env, name) !== undefined);
}

/** The installed package of a model's provider, such as `@ai-sdk/anthropic 3.0.1`. It is not loaded. @throws UsageError `PACKAGE_MISSING` */
export function providerPackage(id: string): string {
  const [name = ""] = PROVIDERS[nameIn(id)?.provider ?? ""] ?? [];
  addressOf(name, id);
  const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { readonly version: string };
  return `${name} ${version}`;
}

function nameIn(id: string): { readonly provider: string; readonly model: string } | undefined {
  const slash = id.indexOf("/");
  const [provider, model] = [id.slice(0, Math.max(0, slash)), id.slice(slash + 1)];
  return Object.hasOwn(PROVIDERS, provider) && model !== "" ? { provider, model } : undefined;
}

/** Looks for the package beside Troupe alone, and loads it with the first call. @throws UsageError `PACKAGE_MISSING` */
export function providerModel(id: string, options: AiSdkOptions): ChatModel {
  const found = nameIn(id);
  const [name = "", exported = ""] = PROVIDERS[found?.provider ?? ""] ?? [];
  const url = addressOf(name, id);
  let loading: Promise<ChatModel> | undefined;
  const load = (): Promise<ChatModel> => {
    loading ??= Promise.all([import("../adapters/ai-sdk.ts"), import(url)]).then(([{ aiSdk }, loaded]) => {
      const provider = (loaded as Readonly<Record<string, unknown>>)[exported] as ((model: string) => AiSdkModel) | undefined;
      if (typeof provider !== "function") throw missing(name, id, `the installed one has no export ${exported}`);
      return aiSdk(provider(found?.model ?? ""), options);
    });
    return loading;
  };
  const { price, maxOutputTokens, timeouts, providerOptions: extra } = options;
  return {
    id,
    ...(price && { price }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(timeouts && { timeouts }),
    ...(extra && { extra }),
    chat: async (request, o) => (await load()).chat(request, o),
    async *stream(request, o) {
      yield* (await load()).stream(request, o);
    },
  };
}

function addressOf(name: string, id: string): string {
  try {
    return import.meta.resolve(name);
  } catch (cause) {
    throw missing(name, id, "it is not installed beside Troupe", cause);
  }
}

function missing(name: string, id: string, came: string, cause?: unknown): UsageError {
  const text = `Expected the package ${name} to reach ${id}, but ${came}. Install it: npm install ${name}`;
  return new UsageError("PACKAGE_MISSING", text, cause === undefined ? {} : { cause });
}
