/** Replaces what must not be written down. */
export type Mask = (text: string) => string;

/** What common providers' keys look like; generous on purpose. */
const KEY_SHAPES = /\b(?:sk|pk|rk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}\b/g;

/** Secrets shorter than this are not masked: they would tear holes into ordinary text. */
const SHORTEST_SECRET = 6;

/** A mask for the given secrets and for everything that looks like a provider's key. */
export function maskSecrets(secrets: readonly string[]): Mask {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET).map((secret) => JSON.stringify(secret).slice(1, -1));
  return (text) => known.reduce((masked, secret) => masked.replaceAll(secret, "[secret]"), text.replace(KEY_SHAPES, "[secret]"));
}
