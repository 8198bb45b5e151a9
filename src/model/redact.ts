import { type Mask, maskSecrets } from "../kernel/mask.ts";

/** Longest text of a server that an error repeats, in characters. */
const MAX_SAID = 500;
/** What else looks like a key in the words of model servers: Google's and Groq's shapes, and whatever was sent as a bearer token. */
const MORE_KEYS = /\bAIza[A-Za-z0-9_-]{20,}|\b(?:gsk|xai)[-_][A-Za-z0-9_-]{16,}|\bBearer\s+[^\s"',;]+/g;

/**
 * Makes the words of servers and libraries fit for errors: without the given secrets and whatever looks like a key, without control
 * characters, and no longer than 500 characters.
 */
export function redactor(secrets: readonly string[]): Mask {
  const mask = maskSecrets([...new Set(secrets)].sort((a, b) => b.length - a.length));
  return (text) => {
    // Four times as much as is kept, so that a key at the edge is still seen whole; more would let a hostile body cost time.
    const head = mask(text)
      .slice(0, 4 * MAX_SAID)
      .replace(MORE_KEYS, "[secret]");
    // Control characters of a server must not reach a terminal.
    const clean = head.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return clean.length > MAX_SAID ? `${clean.slice(0, MAX_SAID)}…` : clean;
  };
}

/** The same when no secret is known. */
export const redact: Mask = redactor([]);
