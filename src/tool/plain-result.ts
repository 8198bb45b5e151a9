import { isRecord } from "../kernel/value-kind.ts";
import { z } from "zod";
import { lazily } from "../kernel/lazily.ts";
import type { ImagePart } from "../model/chat-message.ts";
import { cutText, grouped } from "./cut-text.ts";
import { plainValue, toldOf } from "./plain-value.ts";
import type { ToolResult } from "./tool-result.ts";

const MAX_IMAGES = 16;
/** Longest picture that providers take, in characters of base64. */
const MAX_IMAGE = 7_000_000;
/** Longest data for programs, in characters. */
const MAX_DATA = 1_000_000;
const MAX_NOTE = 2_000;
const FIELDS = new Set(["output", "error", "images", "system", "data"]);
/** Half characters and the character 0, which servers and stores refuse. */
const BROKEN = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\u0000/g;

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

/**
 * The answer of a tool as a result of bounded size in plain JSON, whatever the answer is and does when it is read.
 *
 * @param limit most characters of the output and of the error
 */
export function plainResult(answer: unknown, limit: number): ToolResult {
  try {
    return isResult(answer) ? boundedResult(answer, limit) : outputOf(answer, limit);
  } catch (error) {
    return { error: cutText(`the tool's result cannot be read: ${wellFormed(toldOf(error))}`, limit) };
  }
}

/** The words of an error, cut and well-formed. */
export function plainText(text: string, limit: number): string {
  return wellFormed(cutText(text, limit));
}

/** True for an object with an output, an error or pictures and no other members. Any other value is an output itself. */
function isResult(answer: unknown): answer is Readonly<Record<string, unknown>> {
  if (!isRecord(answer)) return false;
  const names = Object.keys(answer);
  if (!names.every((name) => FIELDS.has(name))) return false;
  const { output, error, images } = answer as Readonly<Record<string, unknown>>;
  if (error !== undefined && error !== null && typeof error !== "string") return false;
  return output !== undefined || typeof error === "string" || Array.isArray(images);
}

function boundedResult({ output, error, images, system, data }: Readonly<Record<string, unknown>>, limit: number): ToolResult {
  const pictures = picturesIn(images);
  const more = data === undefined ? undefined : plainValue(data, MAX_DATA);
  const notes = [
    ...(typeof system === "string" ? [wellFormed(system)] : []),
    ...(pictures.leftOut === 0 ? [] : [`${pictures.leftOut} pictures were left out: they are too large, too many, or none.`]),
    ...(more?.isCut === true ? [`The data is longer than ${MAX_DATA} characters and was left out.`] : []),
  ];
  return {
    ...outputOf(output, limit),
    ...(typeof error === "string" ? { error: plainText(error, limit) } : {}),
    ...(pictures.kept.length === 0 ? {} : { images: pictures.kept }),
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

function wellFormed(text: string): string {
  return text.replace(BROKEN, "\ufffd");
}
