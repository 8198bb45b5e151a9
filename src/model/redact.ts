import { type Mask, maskSecrets } from "../kernel/mask.ts";

/** Longest text of a server that an error repeats, in characters. */
const MAX_SAID = 500;
/** In the words of a server, whatever was sent as a bearer token is a key. */
const BEARER = /\bBearer\s+[^\s"',;]+/g;

/**
 * Makes the words of servers and libraries fit for errors: without the given secrets and whatever looks like a key, without control
 * characters, and no longer than 500 characters.
 */
export function redactor(secrets: readonly string[]): Mask {
  const mask = maskSecrets(secrets);
  return (text) => {
    // Four times as much as is kept, so that a key at the edge is still seen whole; more would let a hostile body cost time.
    const head = mask(text)
      .slice(0, 4 * MAX_SAID)
      .replace(BEARER, "[secret]");
    // Control characters of a server must not reach a terminal.
    const clean = head.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return clean.length > MAX_SAID ? `${clean.slice(0, MAX_SAID)}…` : clean;
  };
}

/** The same when no secret is known. */
export const redact: Mask = redactor([]);
