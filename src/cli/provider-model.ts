import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../adapters/ai-sdk.ts";
import { UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";

/** Packages of the AI SDK, and what they export, by the first part of a model's name. */
const PROVIDERS: Readonly<Record<string, readonly [name: string, exported: string]>> = {
  anthropic: ["@ai-sdk/anthropic", "anthropic"],
  azure: ["@ai-sdk/azure", "azure"],
  bedrock: ["@ai-sdk/amazon-bedrock", "bedrock"],
  cerebras: ["@ai-sdk/cerebras", "cerebras"],
  cohere: ["@ai-sdk/cohere", "cohere"],
  deepseek: ["@ai-sdk/deepseek", "deepseek"],
  fireworks: ["@ai-sdk/fireworks", "fireworks"],
  google: ["@ai-sdk/google", "google"],
  groq: ["@ai-sdk/groq", "groq"],
  mistral: ["@ai-sdk/mistral", "mistral"],
  moonshotai: ["@ai-sdk/moonshotai", "moonshotai"],
  openai: ["@ai-sdk/openai", "openai"],
  perplexity: ["@ai-sdk/perplexity", "perplexity"],
  togetherai: ["@ai-sdk/togetherai", "togetherai"],
  vertex: ["@ai-sdk/google-vertex", "vertex"],
  xai: ["@ai-sdk/xai", "xai"],
};

/** True for `anthropic/claude-sonnet-4-5`: a model that a package of the AI SDK reaches. */
export function isProviderModel(id: string): boolean {
  return nameIn(id) !== undefined;
}

function nameIn(id: string): { readonly provider: string; readonly model: string } | undefined {
  const slash = id.indexOf("/");
  const [provider, model] = [id.slice(0, Math.max(0, slash)), id.slice(slash + 1)];
  return Object.hasOwn(PROVIDERS, provider) && model !== "" ? { provider, model } : undefined;
}

/**
 * Returns the model of a name such as `anthropic/claude-sonnet-4-5`. Its package is looked for beside Troupe alone, and loaded with the
 * first call; it reads its key from its own variable, such as `ANTHROPIC_API_KEY`.
 *
 * @throws UsageError `PACKAGE_MISSING`
 */
export function providerModel(id: string, options: AiSdkOptions): ChatModel {
  const found = nameIn(id);
  const [name = "", exported = ""] = PROVIDERS[found?.provider ?? ""] ?? [];
  const url = addressOf(name, id);
  let loading: Promise<ChatModel> | undefined;
  const load = (): Promise<ChatModel> => {
    loading ??= import(url).then((loaded: Readonly<Record<string, unknown>>) => {
      const provider = loaded[exported] as ((model: string) => AiSdkModel) | undefined;
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
