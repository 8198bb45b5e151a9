import type { CommitRequest } from "./workspace.ts";

/** Longer texts are cut: a commit message is a note, not an artefact. */
const MESSAGE_LENGTH = 10_000;

/** The message, then the trailers. Untrusted strings may be given: a value cannot start a line of its own. */
export function commitMessage(message: string, trailers: Readonly<Record<string, string>> = {}): string {
  const body = message
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => oneLine(line, MESSAGE_LENGTH, true))
    .join("\n")
    .trim()
    .slice(0, MESSAGE_LENGTH);
  const lines = Object.entries(trailers).map(([key, value]) => `${key.replace(/[^A-Za-z0-9-]+/g, "-")}: ${trailerText(value)}\n`);
  return `${body === "" ? "Update the project" : body}\n${lines.length === 0 ? "" : `\n${lines.join("")}`}`;
}

export const KEY_TRAILER = "Troupe-Step";

export function trailersOf({ trailers = {}, key }: Pick<CommitRequest, "trailers" | "key">): Readonly<Record<string, string>> {
  return key === undefined ? trailers : { ...trailers, [KEY_TRAILER]: trailerText(key) };
}

function trailerText(value: string): string {
  return oneLine(value, 500);
}

/** A name as git keeps it: one line without `<`, `>` and the punctuation git would strip; `Role` when nothing is left. */
export function personName(name: string): string {
  const kept = oneLine(name.replace(/[<>"\\]/g, " "), 100)
    .replace(/^[.,:;']+|[.,:;']+$/g, "")
    .trim();
  return kept === "" ? "Role" : kept;
}

/** An address that can never receive mail, made of a name. */
export function emailOf(name: string): string {
  const local = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-|-$/g, "");
  return `${local === "" ? "role" : local}@troupe.invalid`;
}

function oneLine(text: string, limit: number, keepsIndent = false): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").slice(0, limit);
  return keepsIndent ? clean.trimEnd() : clean.trim();
}
