export function counted(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function tokensText(usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cachedTokens?: number }): string {
  const { inputTokens, outputTokens, cachedTokens = 0 } = usage;
  const cached = cachedTokens === 0 ? "" : ` (${counted(cachedTokens)} from the cache)`;
  return `${counted(inputTokens)} in${cached}, ${counted(outputTokens)} out`;
}

export function plural(n: number, one: string, many: string = `${one}s`): string {
  return `${counted(n)} ${n === 1 ? one : many}`;
}

/** A number of tokens in few characters: `950`, `1.2k`, `34k`, `1.2M`. */
export function brief(n: number): string {
  if (n < 1_000) return String(Math.round(n));
  const [value, unit] = n < 999_500 ? [n / 1_000, "k"] : [n / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** `0:42`, `12:05`, `1:02:03`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const TIME_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

export function ageText(ms: number): string {
  const [unit, size] = TIME_UNITS.find(([, one]) => ms >= one) ?? ["", 0];
  return size === 0 ? "now" : `${Math.floor(ms / size)}${unit}`;
}

/** The milliseconds of a duration such as `30d`, `12h`, `90m` or `45s`; undefined for other strings. */
export function durationIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([dhms])$/.exec(text.trim()) ?? [];
  const size = TIME_UNITS.find(([name]) => name === unit)?.[1];
  return count === undefined || size === undefined ? undefined : Number(count) * size;
}

export function momentText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString().slice(0, 19).replace("T", " ") : "at no time";
}
