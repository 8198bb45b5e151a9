import { UsageError } from "./errors.ts";
import { isRecord } from "./value-kind.ts";
import { valueText } from "./value-text.ts";

export interface NoModel {
  readonly got: string;
  readonly todo: string;
}

interface Foreign {
  readonly called: string;
  readonly fits: (value: Members) => boolean;
}

type Members = { readonly [name: string]: unknown };

const FOREIGN: readonly Foreign[] = [
  { called: "a model of the AI SDK", fits: (value) => "specificationVersion" in value && has(value, "doGenerate", "doStream") },
  { called: "a model of the OpenAI Agents SDK", fits: (value) => has(value, "getResponse", "getStreamedResponse") },
  { called: "a model of LangChain", fits: (value) => has(value, "invoke") && (has(value, "bindTools") || "lc_namespace" in value) },
  { called: "a client of the package openai", fits: ({ chat }) => isRecord(chat) && isRecord(chat["completions"]) },
  { called: "a client of the package @anthropic-ai/sdk", fits: ({ messages }) => isRecord(messages) && has(messages, "create") },
  { called: "a promise", fits: (value) => has(value, "then") },
];

/** A model of LangChain has `stream` too, with other arguments. */
export function isModel(value: unknown): boolean {
  const { chat, stream } = (value ?? {}) as Members;
  return (typeof chat === "function" || typeof stream === "function") && foreignModel(value) === undefined;
}

/** @param what "the model of the agent Ann" @throws UsageError with the given code */
export function checkModel(code: string, what: string, value: unknown): void {
  if (isModel(value)) return;
  const { got, todo } = noModel(value);
  throw new UsageError(code, `Expected ${what} to be a model, got ${got}. ${todo}`);
}

export function noModel(value: unknown): NoModel {
  if (typeof value === "string") return { got: valueText(value), todo: howTo(value) };
  if (typeof value === "function") return { got: "a function", todo: `Call it: ${howTo(undefined)}` };
  const { called, id } = foreignModel(value) ?? {};
  if (called === undefined) return { got: valueText(value), todo: howTo(undefined) };
  if (called === "a promise") return { got: called, todo: "Await it." };
  const name = id === undefined ? "" : ` (${valueText(id)})`;
  return { got: `${called}${name}`, todo: `${howTo(id)} Or wrap it in an object with id, chat and stream: see ChatModel.` };
}

function foreignModel(value: unknown): { readonly called: string; readonly id: string | undefined } | undefined {
  try {
    if (!isRecord(value)) return undefined;
    const found = FOREIGN.find(({ fits }) => fits(value));
    return (
      found && { called: found.called, id: [value["modelId"], value["model"], value["modelName"]].find((id) => typeof id === "string") }
    );
  } catch {
    return undefined;
  }
}

function howTo(id: string | undefined): string {
  const [vendor, name] = id?.includes("/") === true ? [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)] : [undefined, id];
  const model = name === undefined || !/^[\w.:/-]{1,60}$/.test(name) ? "..." : name;
  const server = vendor === undefined || vendor === "openai" ? "" : ', baseURL: "..."';
  return `Make one by an adapter: openai({ model: "${model}"${server} }) of troupe/openai reaches every server that speaks OpenAI's protocol.`;
}

function has(value: Members, ...methods: readonly string[]): boolean {
  return methods.every((name) => typeof value[name] === "function");
}
