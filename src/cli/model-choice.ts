import { ModelError, UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { MicroUsd } from "../model/money.ts";
import { priceOf } from "../model/price.ts";
import type { DemoIdea } from "./demo-ideas.ts";
import { shown } from "./screen/text.ts";
import type { CompanySettings, ModelSettings } from "./settings.ts";

/** The model a run asks: a real one, or the script of a bundled idea. */
export interface ChosenModel {
  readonly model: ChatModel;
  /** How it is told of on the screen. */
  readonly text: string;
  readonly isScripted: boolean;
  /** The bundled idea whose script it is. */
  readonly demo: string | undefined;
  /** Where it is reached, as it was said; undefined: at OpenAI's own place, or nowhere. */
  readonly baseURL: string | undefined;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: MicroUsd | undefined;
  /** Whether a call may cost something. */
  readonly isPaid: boolean;
  /** Texts that must never be written down. */
  readonly secrets: readonly string[];
}

/**
 * The model that settings lead to. Nothing is sent yet.
 *
 * @throws ModelError `MODEL_AUTH` for a key that cannot be one; UsageError `BASE_URL_INVALID`, `BUDGET_UNPRICED`
 */
export async function realModel(settings: ModelSettings, company: CompanySettings): Promise<ChosenModel> {
  const { openai } = await import("../adapters/openai.ts");
  const { id, apiKey, baseURL, price } = settings;
  const model = openai({ model: id, apiKey, baseURL, price });
  const known = priceOf(model);
  if (known === undefined && company.isBudgetExplicit && !company.allowUnpriced) {
    throw new UsageError(
      "BUDGET_UNPRICED",
      `Expected a model whose price is known, for --budget cannot bind ${shown(id, 80)}, whose price is not. Tell it with --price in,out (dollars for a million tokens), or say --allow-unpriced.`,
    );
  }
  const binds = known !== undefined || company.isBudgetExplicit;
  return {
    model,
    text: modelText(settings),
    isScripted: false,
    demo: undefined,
    baseURL,
    budget: binds ? company.budget : undefined,
    isPaid: known === undefined || known.input > 0 || known.output > 0,
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

/** Milliseconds between the pieces of a script's replies where somebody watches: about as fast as a fast model. */
const WATCHED_LATENCY = 3;

/** The script of a bundled idea. */
export async function scriptModel(idea: DemoIdea, company: CompanySettings, o: { readonly isWatched: boolean }): Promise<ChosenModel> {
  const { demoModel } = await import("./demo-model.ts");
  const model = demoModel(idea, o.isWatched ? { latency: WATCHED_LATENCY } : {});
  const text = `script of "${idea.title}"`;
  return { model, text, isScripted: true, demo: idea.id, baseURL: undefined, budget: company.budget, isPaid: false, secrets: [] };
}

/** There is neither a model nor a script for an idea. @param asked a model named without a way to reach it */
export function noModel(asked: string | undefined, ideas: readonly DemoIdea[]): ModelError {
  const what =
    asked === undefined
      ? "no model is set and no bundled script fits this idea"
      : `there is neither a key nor a base URL for ${shown(asked, 80)}`;
  const bundled = ideas.map(({ id, idea }) => `"${idea}" (troupe demo ${id})`).join(", ");
  return new ModelError(
    "MODEL_AUTH",
    `Expected a model to ask, but ${what}. Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server such as http://127.0.0.1:11434/v1 with TROUPE_MODEL for its model. Without a model these ideas play: ${bundled}.`,
  );
}

/** A model by name, place and where its key comes from; never the key. */
export function modelText({ id, baseURL, keyFrom }: ModelSettings): string {
  const host = baseURL !== undefined && URL.canParse(baseURL) ? ` at ${new URL(baseURL).host}` : "";
  return `${id}${host}${keyFrom === undefined ? ", no key" : `, key from ${keyFrom}`}`;
}
