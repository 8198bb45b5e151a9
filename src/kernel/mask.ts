/** Replaces what must not be written down. */
export type Mask = (text: string) => string;

/** The form of common providers' keys; generous on purpose. */
const KEY_SHAPES = /\b(?:(?:sk|pk|rk|gsk|xai|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,})/g;

/** No shorter text holds what has one of these shapes. */
const SHORTEST_KEY = 19;

const MASKED = "[secret]";

/** Secrets shorter than this are not masked: they would tear holes into ordinary text. */
const SHORTEST_SECRET = 6;

/** A mask for the given secrets, as they are and as JSON writes them, and for everything that looks like a provider's key. Without secrets it is always the same function. */
export function maskSecrets(secrets: readonly string[]): Mask {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  if (known.length === 0) return withoutKeys;
  const forms = new Set(known.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  // The longest first: of a secret that holds another nothing may be left.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => withoutKeys(longestFirst.reduce((clean, secret) => clean.replaceAll(secret, MASKED), text));
}

function withoutKeys(text: string): string {
  return text.length < SHORTEST_KEY ? text : text.replace(KEY_SHAPES, MASKED);
}

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
