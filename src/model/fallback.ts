import { aFunction, aText, takes } from "../kernel/argument.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isObject, isText } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { calledHere } from "./ask.ts";
import { type ChatModel, type ChatOptions, type ChatRequest, type ChatResponse, inOnePiece } from "./chat-model.ts";
import { failureOf, type ModelErrorCode } from "./failure.ts";
import { type Candidate, PLAN, type PlannedModel } from "./call.ts";

const CODES = {
  refusal: ["MODEL_REFUSED", "MODEL_CONTENT_FILTER"],
  limit: ["MODEL_RATE_LIMIT", "MODEL_QUOTA"],
  time: ["MODEL_TIMEOUT"],
  overflow: ["MODEL_CONTEXT_OVERFLOW", "MODEL_TRUNCATED"],
  outage: ["MODEL_SERVER", "MODEL_UNREACHABLE", "MODEL_CUT", "MODEL_EMPTY", "MODEL_PROTOCOL", "MODEL_FAILED"],
} as const satisfies Readonly<Record<string, readonly ModelErrorCode[]>>;

/** Options of {@link fallback}. */
export interface FallbackOptions {
  /** The failures after which the next model is asked. Default: all of these. A wrong key or request is always an error. */
  readonly on?: readonly (keyof typeof CODES)[] | undefined;
  /** Tries of each model except the last, which has the run's number of tries. Default 1. */
  readonly tries?: number | undefined;
}

const fallbackOptions: Known<FallbackOptions> = {
  on: kinds.list(kinds.oneOf(...Object.keys(CODES))),
  tries: kinds.size,
};

/**
 * A model that asks the next of several when one fails. Each call reserves the price of the dearest, costs what the models that ran cost,
 * and its answer names its model ({@link ChatResponse.model}). A replay and a fork take that answer from the record.
 *
 * @throws UsageError `OPTION_INVALID` for fewer than two models, or a value that is no model
 * @example
 * import { fallback } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const first = scriptedModel([{ refusal: "I cannot help with that." }], { id: "small" });
 * const model = fallback([first, scriptedModel(["Gladly."], { id: "large" })], { on: ["refusal", "overflow"] });
 * const { signal } = new AbortController();
 * const { content, model: by } = await model.chat({ messages: [{ role: "user", content: "Help me." }] }, { signal });
 * console.log(content, by); // Gladly. large
 */
export function fallback(models: readonly ChatModel[], options: FallbackOptions = {}): ChatModel {
  checkKnownOptions("fallback", options, fallbackOptions);
  if (!Array.isArray(models) || models.length < 2 || !models.every(isModel))
    throw new UsageError("OPTION_INVALID", `Expected fallback to get at least two models in a list, got ${valueText(models)}.`);
  const { on = Object.keys(CODES) as (keyof typeof CODES)[], tries = 1 } = options;
  const codes = new Set<string>(on.flatMap((reason) => CODES[reason]));
  const id = `fallback(${models.map((model) => model.id).join(", ")})`;
  return planned(id, (request) =>
    models.flatMap((model, index) => {
      const within = candidatesOf(model, request);
      if (index === models.length - 1) return within;
      return within.map((one, nth) => (nth === within.length - 1 ? { ...one, tries, next: codes } : one));
    }),
  );
}

/**
 * A model that chooses another model for each request, for example a small one for short questions. The answer names its model
 * ({@link ChatResponse.model}) and costs its price. The choice is not repeated in a replay or a resumed run: the record has the answer.
 *
 * @param choose gets the request, and returns a model at once
 * @param id name of the model in the record and in the address of its calls. Default `route`
 * @throws UsageError `ARGUMENT_INVALID`; the call throws `OPTION_INVALID` if the choice is no model
 * @example
 * import { route } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const [small, large] = [scriptedModel(["Short."], { id: "small" }), scriptedModel(["Long."], { id: "large" })];
 * const model = route(({ messages }) => (messages.length > 10 ? large : small));
 * const { signal } = new AbortController();
 * console.log((await model.chat({ messages: [{ role: "user", content: "Hi" }] }, { signal })).model); // small
 */
export function route(choose: (request: ChatRequest) => ChatModel, id = "route"): ChatModel {
  takes("route", "the choice", choose, aFunction);
  takes("route", "id", id, aText);
  return planned(id, (request) => {
    const chosen = choose(request);
    if (!isModel(chosen))
      throw new UsageError("OPTION_INVALID", `Expected the function of route to return a model, got ${valueText(chosen)}.`);
    return candidatesOf(chosen, request);
  });
}

function isModel(value: unknown): value is ChatModel {
  if (!isObject(value)) return false;
  const { id, chat, stream } = value as Partial<ChatModel>;
  return isText(id) && typeof chat === "function" && typeof stream === "function";
}

function candidatesOf(model: ChatModel, request: ChatRequest): readonly Candidate[] {
  return (model as PlannedModel)[PLAN]?.(request) ?? [{ model }];
}

function planned(id: string, plan: (request: ChatRequest) => readonly Candidate[]): ChatModel {
  const own: PlannedModel = {
    id,
    streams: false,
    [PLAN]: plan,
    chat: (request, o) => askInTurn(plan(request), request, o),
    async *stream(request, o) {
      yield inOnePiece(await own.chat(request, o));
    },
  };
  return { ...own, chat: (request, o) => calledHere(own).chat(request, o), stream: (request, o) => calledHere(own).stream(request, o) };
}

/** Outside a run. */
async function askInTurn(candidates: readonly Candidate[], request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
  for (const { model, next } of candidates) {
    try {
      const reply = await model.chat(request, o);
      const refused = reply.refusal !== undefined && next?.has("MODEL_REFUSED") === true;
      if (!refused) return { ...reply, model: reply.model ?? model.id };
    } catch (error) {
      const failed = failureOf(model.id, error, { began: true });
      if (!(failed instanceof ModelError) || next?.has(failed.code) !== true) throw error;
    }
  }
  throw new UsageError("OPTION_INVALID", "Expected a model to ask, got none.");
}
