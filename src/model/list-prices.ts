import type { ModelPrice } from "./price.ts";

export const PRICES_AS_OF = "2026-06-30";

/** Prefixes that routers put before a vendor's models: `openai/gpt-4o` costs what `gpt-4o` does. */
export interface VendorPrices {
  readonly prefixes: readonly string[];
  /** Models, one or more of one price, with a space between their names. */
  readonly models: readonly (readonly [names: string, price: ModelPrice])[];
}

function above(over: number, input: number, output: number, cachedInput?: number): ModelPrice["longPrompt"] & object {
  return { over, input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}

/** List prices on {@link PRICES_AS_OF}, in dollars for a million tokens, standard tier, without tax. A missing model has an unknown price, not 0. */
export const LIST_PRICES: readonly VendorPrices[] = [
  {
    prefixes: ["openai/"],
    models: [
      ["gpt-5.5", { input: 5, cachedInput: 0.5, output: 30, longPrompt: above(272_000, 10, 45, 1) }],
      ["gpt-5.5-pro gpt-5.4-pro", { input: 30, output: 180, longPrompt: above(272_000, 60, 270) }],
      ["gpt-5.4", { input: 2.5, cachedInput: 0.25, output: 15, longPrompt: above(272_000, 5, 22.5, 0.5) }],
      ["gpt-5.4-mini", { input: 0.75, cachedInput: 0.075, output: 4.5 }],
      ["gpt-5.4-nano", { input: 0.2, cachedInput: 0.02, output: 1.25 }],
      ["gpt-5.3-codex gpt-5.2 gpt-5.2-codex", { input: 1.75, cachedInput: 0.175, output: 14 }],
      ["gpt-5.1 gpt-5.1-codex gpt-5 gpt-5-codex", { input: 1.25, cachedInput: 0.125, output: 10 }],
      ["gpt-5.1-codex-mini gpt-5-mini", { input: 0.25, cachedInput: 0.025, output: 2 }],
      ["gpt-5-nano", { input: 0.05, cachedInput: 0.005, output: 0.4 }],
      ["gpt-5-pro", { input: 15, output: 120 }],
      ["gpt-4.1 o3", { input: 2, cachedInput: 0.5, output: 8 }],
      ["gpt-4.1-mini", { input: 0.4, cachedInput: 0.1, output: 1.6 }],
      ["gpt-4.1-nano", { input: 0.1, cachedInput: 0.025, output: 0.4 }],
      ["gpt-4o", { input: 2.5, cachedInput: 1.25, output: 10 }],
      ["gpt-4o-2024-05-13", { input: 5, output: 15, maxOutput: 4_096 }],
      ["text-embedding-3-small", { input: 0.02, output: 0 }],
      ["text-embedding-3-large", { input: 0.13, output: 0 }],
      ["text-embedding-ada-002", { input: 0.1, output: 0 }],
      ["gpt-4o-mini", { input: 0.15, cachedInput: 0.075, output: 0.6 }],
      ["chatgpt-4o-latest", { input: 5, output: 15 }],
      ["gpt-4-turbo", { input: 10, output: 30, maxOutput: 4_096 }],
      ["gpt-4", { input: 30, output: 60, maxOutput: 4_096 }],
      ["gpt-3.5-turbo", { input: 0.5, output: 1.5, maxOutput: 4_096 }],
      ["o1", { input: 15, cachedInput: 7.5, output: 60 }],
      ["o1-mini o3-mini", { input: 1.1, cachedInput: 0.55, output: 4.4 }],
      ["o3-pro", { input: 20, output: 80 }],
      ["o4-mini", { input: 1.1, cachedInput: 0.275, output: 4.4 }],
    ],
  },
  {
    prefixes: ["anthropic/"],
    models: [
      ["claude-fable-5", { input: 10, cachedInput: 1, output: 50 }],
      ["claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5", { input: 5, cachedInput: 0.5, output: 25 }],
      ["claude-opus-4-1 claude-opus-4", { input: 15, cachedInput: 1.5, output: 75 }],
      ["claude-sonnet-5 claude-sonnet-4-6 claude-3-7-sonnet", { input: 3, cachedInput: 0.3, output: 15 }],
      ["claude-sonnet-4-5 claude-sonnet-4", { input: 3, cachedInput: 0.3, output: 15, longPrompt: above(200_000, 6, 22.5, 0.6) }],
      ["claude-haiku-4-5", { input: 1, cachedInput: 0.1, output: 5 }],
      ["claude-3-5-sonnet", { input: 3, cachedInput: 0.3, output: 15, maxOutput: 8_192 }],
      ["claude-3-5-haiku", { input: 0.8, cachedInput: 0.08, output: 4, maxOutput: 8_192 }],
      ["claude-3-opus", { input: 15, cachedInput: 1.5, output: 75, maxOutput: 4_096 }],
      ["claude-3-haiku", { input: 0.25, cachedInput: 0.03, output: 1.25, maxOutput: 4_096 }],
    ],
  },
  {
    prefixes: ["google/", "gemini/", "models/"],
    models: [
      ["gemini-3.5-flash", { input: 1.5, output: 9 }],
      ["gemini-3.1-pro-preview gemini-3-pro-preview", { input: 2, cachedInput: 0.2, output: 12, longPrompt: above(200_000, 4, 18, 0.4) }],
      ["gemini-3.1-flash-lite", { input: 0.25, output: 1.5 }],
      ["gemini-3-flash-preview", { input: 0.5, cachedInput: 0.05, output: 3 }],
      ["gemini-2.5-pro", { input: 1.25, cachedInput: 0.125, output: 10, longPrompt: above(200_000, 2.5, 15, 0.25) }],
      ["gemini-2.5-flash", { input: 0.3, cachedInput: 0.075, output: 2.5 }],
      ["gemini-2.5-flash-lite", { input: 0.1, cachedInput: 0.025, output: 0.4 }],
      ["gemini-2.0-flash", { input: 0.1, cachedInput: 0.025, output: 0.4, maxOutput: 8_192 }],
      ["gemini-2.0-flash-lite", { input: 0.075, output: 0.3, maxOutput: 8_192 }],
    ],
  },
  {
    prefixes: ["deepseek/"],
    models: [
      ["deepseek-v4-pro", { input: 1.74, cachedInput: 0.145, output: 3.48 }],
      ["deepseek-chat", { input: 0.28, cachedInput: 0.028, output: 0.42, maxOutput: 8_192 }],
      ["deepseek-reasoner", { input: 0.28, cachedInput: 0.028, output: 0.42 }],
    ],
  },
  {
    prefixes: ["mistralai/", "mistral/"],
    models: [
      ["mistral-large-2512 magistral-small-2509", { input: 0.5, output: 1.5 }],
      ["mistral-large-2411 pixtral-large-2411", { input: 2, output: 6 }],
      ["mistral-medium-2508 mistral-medium-2505 devstral-medium-2507", { input: 0.4, output: 2 }],
      ["mistral-small-2506 devstral-small-2507", { input: 0.1, output: 0.3 }],
      ["magistral-medium-2509", { input: 2, output: 5 }],
      ["codestral-2508", { input: 0.3, output: 0.9 }],
      ["ministral-8b-2410", { input: 0.1, output: 0.1 }],
      ["ministral-3b-2410", { input: 0.04, output: 0.04 }],
      ["open-mistral-nemo", { input: 0.15, output: 0.15 }],
    ],
  },
];
