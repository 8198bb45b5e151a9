import { isObject } from "./value-kind.ts";

export type Mask = (text: string) => string;

/** The form of common providers' keys. */
const KEY_SHAPES = /\b(?:(?:sk|pk|rk|gsk|xai|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,})/g;

const MIN_KEY = 19;

const MASKED = "[secret]";

/** Shorter ones would mask parts of ordinary text. */
const MIN_SECRET = 6;

/** Masks the given secrets, plain and in JSON, and all that looks like a provider's key. Without secrets it is always the same function. */
export function maskSecrets(secrets: readonly string[]): Mask {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET);
  if (known.length === 0) return withoutKeys;
  const forms = new Set(known.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  // A secret that contains another is masked as a whole.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => withoutKeys(longestFirst.reduce((clean, secret) => clean.replaceAll(secret, MASKED), text));
}

function withoutKeys(text: string): string {
  return text.length < MIN_KEY ? text : text.replace(KEY_SHAPES, MASKED);
}

const MAX_SAID = 500;
const BEARER = /\bBearer\s+[^\s"',;]+/g;

/** Masks what servers and libraries say in errors: also without control characters, at most 500 characters. */
export function redactor(secrets: readonly string[]): Mask {
  const mask = maskSecrets(secrets);
  return (text) => {
    // Four times the kept length, so that a key at the edge is masked as a whole.
    const head = mask(text)
      .slice(0, 4 * MAX_SAID)
      .replace(BEARER, "[secret]");
    const clean = head.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return clean.length > MAX_SAID ? `${clean.slice(0, MAX_SAID)}…` : clean;
  };
}

export const redact: Mask = redactor([]);

/** Masks every string in a JSON value, keys too. Returns the same object where it holds no secret. */
export function masked<T>(mask: Mask, value: T): T {
  if (typeof value === "string") return mask(value) as T;
  if (!isObject(value)) return value;
  const isArray = Array.isArray(value);
  const record = value as object as Readonly<Record<string, unknown>>;
  const names = Object.keys(record);
  let members: [string, unknown][] | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const member = record[name];
    const cleanName = isArray ? name : mask(name);
    const clean = masked(mask, member);
    if (members === undefined && cleanName === name && clean === member) continue;
    members ??= names.slice(0, index).map((before) => [before, record[before]]);
    members.push([cleanName, clean]);
  }
  if (members === undefined) return value;
  return (isArray ? members.map(([, member]) => member) : Object.fromEntries(members)) as T;
}
