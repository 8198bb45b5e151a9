// Models: which servers there are, a model for each role, temperature, limits, and pictures. A small server of the test kit stands in for a real
// one, so this runs without a network and without a key.
import { type ChatModel, defineAction, defineRole, fallback, formatCost, openai, route, Team, usd } from "troupe";
import { aiSdk, type AiSdkModel } from "troupe/ai-sdk";
import { openaiStub } from "troupe/testing";

// #region providers
const { OPENAI_API_KEY = "none", ANTHROPIC_API_KEY = "none", GEMINI_API_KEY = "none", AZURE_API_KEY = "none" } = process.env;
const azure = "https://my-resource.openai.azure.com/openai/deployments/my-deployment?api-version=2024-10-21";

const models = {
  openai: openai({ model: "gpt-5-mini", baseURL: "https://api.openai.com/v1", apiKey: OPENAI_API_KEY }),
  claude: openai({ model: "claude-sonnet-4-5", baseURL: "https://api.anthropic.com/v1", apiKey: ANTHROPIC_API_KEY }),
  gemini: openai({
    model: "gemini-2.5-flash",
    baseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
    apiKey: GEMINI_API_KEY,
  }),
  azure: openai({
    model: "my-deployment",
    baseURL: azure,
    apiKey: AZURE_API_KEY,
    headers: { "api-key": AZURE_API_KEY },
    price: { input: 0.25, output: 2 },
  }),
  ollama: openai({ model: "qwen3:8b", baseURL: "http://127.0.0.1:11434/v1", apiKey: "none", price: { input: 0, output: 0 } }),
};
console.log(Object.keys(models).join(", "));
// #endregion

// #region stand-in
/** Stands in for a real server, and answers with what it was asked. */
const server = await openaiStub({
  handler: ({ model, messages, temperature }) => {
    const parts = messages.at(-1)?.content;
    const pictures = Array.isArray(parts) ? parts.filter(({ type }) => type === "image_url").length : 0;
    return { text: `${model} at ${temperature ?? "its default"}, ${pictures} pictures` };
  },
});
const baseURL = server.url;
// #endregion

// #region roles
const price = { input: 0.25, output: 2 }; // dollars for a million tokens
const cheap = openai({ model: "small", baseURL, price, extra: { temperature: 1 } });
const careful = openai({ model: "large", baseURL, price, extra: { temperature: 0 } });

const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write a line about ${ctx.text}.` });
const Judge = defineAction({ name: "Judge", run: (ctx) => ctx.ask(`Is this good? ${ctx.text}`, { temperature: 0.2, maxTokens: 200 }) });

const team = new Team({
  model: cheap, // for every role without a model of its own
  roles: [defineRole({ name: "Wim", actions: [Draft] }), defineRole({ name: "Eda", watch: [Draft], actions: [Judge], model: careful })],
  budget: usd(1),
  limits: { concurrency: 4, requestsPerMinute: 60, tokensPerMinute: 100_000 }, // for all runs of this team together
});
const result = await team.run("the sea").result;
for (const { sentFrom, content } of result.messages.slice(1)) console.log(`${sentFrom}: ${content}`);
for (const [model, { cost }] of Object.entries(result.byModel)) console.log(`${model}: ${formatCost(cost)}`);
// #endregion

// #region fallback
const small = openai({ model: "small", baseURL, price });
const large = openai({ model: "large", baseURL, price: { input: 2.5, output: 20 } });

const patient = fallback([small, large], { on: ["limit", "overflow", "refusal"] });
const sized = route(({ messages }) => (JSON.stringify(messages).length > 20_000 ? large : patient));
const routed = await new Team({ roles: [defineRole({ name: "Wim", actions: [Draft] })], model: sized, budget: usd(1) }).run("the sea")
  .result;
console.log(routed.output?.content); // small at its default, 0 pictures
// #endregion

// #region ai-sdk
/** @param anthropic what the package `@ai-sdk/anthropic` exports under this name */
export function thinkingClaude(anthropic: (id: string) => AiSdkModel): ChatModel {
  return aiSdk(anthropic("claude-sonnet-4-5"), {
    price: { input: 3, output: 15, cachedInput: 0.3 },
    providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
  });
}
// #endregion

// #region images
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const Look = defineAction({
  name: "Look",
  run: (ctx) => ctx.ask(`What is in this picture? ${ctx.text}`, { images: [{ mediaType: "image/png", data: pixel }] }),
});
const viewer = defineRole({ name: "Vera", actions: [Look], model: cheap });
const seen = await new Team({ roles: [viewer] }).run("Answer in one word.").result;
console.log(seen.output?.content); // small at 1, 1 pictures
// #endregion

await server.close();
