import { z } from "zod";
import { isUncertain } from "../kernel/effect.ts";
import { ControlError, type StepError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { isRecord, isText } from "../kernel/value-kind.ts";
import { thrownText, valueText, wellFormed } from "../kernel/value-text.ts";
import { messageFiles } from "../message/given-files.ts";
import type { ImagePart } from "../model/chat-message.ts";
import { dataPart } from "../model/file-parts.ts";
import { cutText, grouped } from "./shown-text.ts";
import type { Tool } from "./tool.ts";
import { toolFailure, type ToolResult } from "./tool-result.ts";

const MAX_DEPTH = 100;

/**
 * Any value as plain JSON of bounded size; what JSON lacks becomes words: `[cycle]`, `[function]`. Never throws, and reads no more than it returns.
 * @param limit characters, near enough; a larger value is cut
 */
export function plainValue(value: unknown, limit: number): { readonly value: Json; readonly isCut: boolean } {
  const walk = new Walk(limit);
  const plain = walk.tell(value, 0);
  return { value: plain === undefined ? "[undefined]" : plain, isCut: walk.isCut };
}

/** Owns the characters left, and the objects around the current one. */
class Walk {
  #left: number;
  readonly #above = new Set<object>();
  isCut = false;

  constructor(limit: number) {
    this.#left = limit;
  }

  tell(value: unknown, depth: number): Json | undefined {
    if (value === undefined || value === null) return value;
    if (typeof value === "object") return this.#object(value, depth);
    if (typeof value === "string" || typeof value === "bigint") return this.#text(String(value));
    this.#left -= 8;
    if (typeof value === "boolean") return value;
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
    return `[${typeof value}]`;
  }

  #text(text: string): string {
    const shown = text.length <= this.#left ? text : text.slice(0, Math.max(0, this.#left));
    this.isCut ||= shown.length < text.length;
    this.#left -= text.length + 2;
    return shown;
  }

  #object(value: object, depth: number): Json {
    if (this.#above.has(value)) return "[cycle]";
    if (depth >= MAX_DEPTH) return "[more]";
    this.#above.add(value);
    try {
      return this.#members(value, depth);
    } catch (error) {
      return `[cannot be read: ${wordsOfThrown(error)}]`;
    } finally {
      this.#above.delete(value);
    }
  }

  #members(value: object, depth: number): Json {
    if (Array.isArray(value)) return this.#list(value, depth);
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[binary: ${value.byteLength} bytes]`;
    if (value instanceof Error) return wordsOfThrown(value);
    if (value instanceof Promise) return unawaited(value);
    if (value instanceof Map || value instanceof Set) return this.#list(value, depth);
    if (typeof toJSON === "function") return this.tell((toJSON as () => unknown).call(value), depth + 1) ?? null;
    return this.#record(value, depth);
  }

  #list(values: Iterable<unknown>, depth: number): Json {
    const items: Json[] = [];
    for (const item of values) {
      if (this.#isFull()) break;
      this.#left -= 2;
      items.push(this.tell(item, depth + 1) ?? null);
    }
    return items;
  }

  #record(value: object, depth: number): Json {
    const members: [string, Json][] = [];
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      if (this.#isFull()) break;
      const key = this.#text(name);
      const member = this.tell((value as Readonly<Record<string, unknown>>)[name], depth + 1);
      // Copying it would change a prototype.
      if (member !== undefined && key !== "__proto__") members.push([key, member]);
    }
    return Object.fromEntries(members);
  }

  #isFull(): boolean {
    if (this.#left > 0) return false;
    this.isCut = true;
    return true;
  }
}

/** Nothing awaits the promise, so its failure would end the process. */
function unawaited(promise: Promise<unknown>): string {
  promise.catch(() => {});
  return "[promise: it was not awaited]";
}

/** Reading a thrown value may throw in turn. */
export function wordsOfThrown(thrown: unknown): string {
  try {
    return thrownText(thrown);
  } catch {
    return "an error that cannot be read";
  }
}

export function interruptionIn(thrown: unknown): ControlError | StepError | undefined {
  try {
    // A model could repeat a call that may have happened, and a person has to check it first.
    return thrown instanceof ControlError || isUncertain(thrown) ? thrown : undefined;
  } catch {
    return undefined;
  }
}

const MAX_IMAGES = 16;
const MAX_IMAGE = 7_000_000;
const MAX_DATA = 1_000_000;
const MAX_NOTE = 2_000;
const FIELDS = new Set(["output", "error", "images", "files", "system", "data"]);

const imageSchema: () => z.ZodType<ImagePart> = lazily(() =>
  z.union([
    z.strictObject({ mediaType: z.string().regex(/^image\/[\w.+-]{1,100}$/), data: z.base64().min(1).max(MAX_IMAGE) }),
    z.strictObject({
      url: z
        .string()
        .max(MAX_IMAGE)
        .regex(/^(?:https?:\/\/|data:image\/)/i),
    }),
  ]),
);

const fileSchema: () => z.ZodType = lazily(() =>
  z.strictObject({ mediaType: z.string().regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/), data: z.base64().max(MAX_IMAGE), name: z.string() }),
);

/** A tool's answer, of any kind, as a result of bounded size in plain JSON. @param limit characters of the output and of the error */
export function plainResult(answer: unknown, limit: number): ToolResult {
  try {
    return isResult(answer) ? boundedResult(answer, limit) : outputOf(answer, limit);
  } catch (error) {
    return { error: cutText(`the tool's result cannot be read: ${wellFormed(wordsOfThrown(error))}`, limit) };
  }
}

export function plainText(text: string, limit: number): string {
  return wellFormed(cutText(text, limit));
}

/** Any value that is not such an object is an output itself. */
function isResult(answer: unknown): answer is Readonly<Record<string, unknown>> {
  if (!isRecord(answer)) return false;
  const names = Object.keys(answer);
  if (!names.every((name) => FIELDS.has(name))) return false;
  const { output, error, images, files } = answer as Readonly<Record<string, unknown>>;
  if (error !== undefined && error !== null && typeof error !== "string") return false;
  return output !== undefined || typeof error === "string" || Array.isArray(images) || Array.isArray(files);
}

/** A value of another process may be anything. */
function isPlainResult(value: unknown): value is ToolResult {
  if (!isRecord(value) || !Object.keys(value).every((name) => FIELDS.has(name))) return false;
  const { error, system, images = [] } = value as Readonly<Record<string, unknown>>;
  if (![error, system].every((text) => text === undefined || isText(text))) return false;
  return (
    Array.isArray(images) &&
    images.every((image: unknown) => imageSchema().safeParse(image).success || fileSchema().safeParse(image).success)
  );
}

function boundedResult({ output, error, images, files, system, data }: Readonly<Record<string, unknown>>, limit: number): ToolResult {
  const pictures = picturesIn(images);
  const given = filesIn(files);
  const shown = [...pictures.kept, ...given.kept];
  const more = data === undefined ? undefined : plainValue(data, MAX_DATA);
  const notes = [
    ...(typeof system === "string" ? [wellFormed(system)] : []),
    ...(pictures.leftOut === 0 ? [] : [`${pictures.leftOut} pictures were left out: they are too large, too many, or none.`]),
    ...(given.refused === undefined ? [] : [`The files were left out. ${given.refused}`]),
    ...(more?.isCut === true ? [`The data is longer than ${MAX_DATA} characters and was left out.`] : []),
  ];
  return {
    ...outputOf(output, limit),
    ...(typeof error === "string" ? { error: plainText(error, limit) } : {}),
    ...(shown.length === 0 ? {} : { images: shown }),
    ...(notes.length === 0 ? {} : { system: cutText(notes.join("\n"), MAX_NOTE) }),
    ...(more === undefined || more.isCut ? {} : { data: more.value }),
  };
}

function outputOf(output: unknown, limit: number): Pick<ToolResult, "output"> {
  if (output === undefined) return {};
  if (typeof output === "string") return { output: plainText(output, limit) };
  const { value, isCut } = plainValue(output, limit);
  if (typeof value === "string" && !isCut) return { output: plainText(value, limit) };
  const text = JSON.stringify(value, null, 2);
  if (isCut) return { output: `${text.slice(0, limit)}\n[cut: ${grouped(Math.min(limit, text.length))} characters shown, there is more]` };
  return { output: text.length <= limit ? value : cutText(text, limit) };
}

function picturesIn(images: unknown): { readonly kept: readonly ImagePart[]; readonly leftOut: number } {
  if (!Array.isArray(images)) return { kept: [], leftOut: 0 };
  const kept = images.slice(0, MAX_IMAGES).flatMap((image: unknown) => {
    const parsed = imageSchema().safeParse(image);
    return parsed.success ? [parsed.data] : [];
  });
  return { kept, leftOut: images.length - kept.length };
}

function filesIn(given: unknown): { readonly kept: readonly ImagePart[]; readonly refused?: string } {
  if (given === undefined) return { kept: [] };
  try {
    const kept = (messageFiles(given) ?? []).map((file) => dataPart(file, MAX_IMAGE));
    return { kept };
  } catch (error) {
    return { kept: [], refused: wordsOfThrown(error) };
  }
}

const OUTCOMES = ["ok", "failed", "timeout", "invalid"] as const;

/** As it is recorded, in plain JSON. `invalid` comes from a remote worker alone: the arguments do not fit its tool. */
export interface ToolEnd {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly result: ToolResult;
}

/** A remote worker may answer anything: what is no end is a failure of the call, `EFFECT_INVALID`, which the model can act on. */
export function toolEndIn(answer: unknown, { name }: Pick<Tool, "name">): ToolEnd {
  if (isToolEnd(answer)) return answer;
  const expected = `Expected the worker that does the tool "${name}" to answer { outcome, result }, got ${valueText(answer)}`;
  const advice = "Do without this tool. Whoever runs the worker serves it by servedTool.";
  return { outcome: "failed", result: toolFailure(`EFFECT_INVALID: ${expected}. ${advice}`) };
}

function isToolEnd(answer: unknown): answer is ToolEnd {
  if (!isRecord(answer)) return false;
  const { outcome, result } = answer as { readonly outcome?: unknown; readonly result?: unknown };
  return OUTCOMES.some((one) => one === outcome) && isPlainResult(result);
}
