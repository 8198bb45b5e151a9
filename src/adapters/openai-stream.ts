import { isRecord } from "../kernel/value-kind.ts";
import { MAX_REPLY_CHARS } from "../model/attempt.ts";

export interface BodyPart {
  readonly kind: "whole" | "piece" | "error";
  readonly text: string;
}

/** Reads an answer by what it is, not by its headers: JSON whole or in lines, else events. @param alive called whenever bytes arrive */
export async function* bodyParts(body: ReadableStream<Uint8Array> | null, alive: () => void): AsyncGenerator<BodyPart> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const read = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read();
    if (done) return undefined;
    alive();
    return decoder.decode(value, { stream: true });
  };
  try {
    let begun = "";
    // Comments keep a connection alive before events and before JSON.
    for (let more: string | undefined = ""; more !== undefined && /^(?::[^\n]*)?$/.test(begun) && begun.length < 4_096;) {
      more = await read();
      begun = (begun + (more ?? "")).replace(/^(?:\s|:[^\n]*\n)+/, "");
    }
    if (/^[\s\uFEFF]*[[{<]/.test(begun)) yield { kind: "whole", text: await rest(begun, read) };
    else yield* events(begun, read);
  } finally {
    // Not awaited: a stream that hangs never answers.
    reader.cancel().catch(() => {});
  }
}

const MAX_REFUSAL = 100_000;

/** The body of a refusal, or as much of it as comes and is worth reading. */
export async function startOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > MAX_REFUSAL) break;
    }
  } catch {
    // The status says enough.
  }
  return text;
}

async function rest(begun: string, read: () => Promise<string | undefined>): Promise<string> {
  const parts = [begun];
  let size = begun.length;
  for (let more = await read(); more !== undefined; more = await read()) {
    size += more.length;
    if (size > 2 * MAX_REPLY_CHARS) throw new SyntaxError(`a body of more than ${2 * MAX_REPLY_CHARS} characters`);
    parts.push(more);
  }
  return parts.join("");
}

async function* events(begun: string, read: () => Promise<string | undefined>): AsyncGenerator<BodyPart> {
  let buffer = begun;
  let kind: BodyPart["kind"] = "piece";
  let data: string[] = [];
  let [size, last] = [0, begun];
  for (let isOver = false; !isOver;) {
    const lines = buffer.split(/\r\n|\n|\r(?!$)/);
    buffer = lines.pop() ?? "";
    for (const line of lines) {
      const [, name = "", value = ""] = /^\uFEFF?(?:data: (?=data:))?([a-z]*):? ?([^]*)$/.exec(line) ?? [];
      if (name === "event") kind = value === "error" ? "error" : "piece";
      else if (name === "data") {
        data.push(value);
        size += value.length + 1;
      } else if (line === "" && data.length > 0) {
        const text = data.join("\n").trim();
        data = [];
        size = 0;
        if (/^\[done\]$/i.test(text)) return;
        if (text !== "") yield { kind, text };
        kind = "piece";
      }
    }
    // Up to a line end: to split what has none again and again would take the square of its length.
    for (let isOpen = true; isOpen;) {
      const more = await read();
      isOpen = more !== undefined && !last.endsWith("\r") && !/[\r\n]/.test(more);
      last = more ?? "";
      if (more !== undefined) buffer += more;
      else if (buffer !== "" || data.length > 0) buffer = `${buffer}\n\n`;
      else isOver = true;
      if (buffer.length + size > 2 * MAX_REPLY_CHARS) throw new SyntaxError("an event that does not end");
    }
  }
}

/** The value of a whole body, or those of its lines. @throws SyntaxError */
export function valuesIn(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return Array.isArray(value) && value.length > 0 && value.every(isRecord) ? value : [value];
  } catch (error) {
    const lines = text.trim().split(/\s*\n\s*/);
    if (lines.length === 1 || !lines.every((line) => line.startsWith("{") && line.endsWith("}"))) throw error;
    return lines.map((line) => JSON.parse(line) as unknown);
  }
}

/** The value of an event, or those of its lines where no empty line parts them. An error may be words. @throws SyntaxError */
export function eventsIn(text: string, isError: boolean): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    if (isError) return [{ message: text }];
    const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\[done\]$/i.test(line.trim()));
    if (lines.length === 1 && lines[0] === text) throw error;
    return lines.map((line) => JSON.parse(line) as unknown);
  }
}
