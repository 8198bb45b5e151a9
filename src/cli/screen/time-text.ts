const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** How long ago something was, in its largest unit: `3d`, `5h`, `12m`, `40s`, `now`. */
export function ageText(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= one) ?? ["", 0];
  return size === 0 ? "now" : `${Math.floor(ms / size)}${unit}`;
}

/** A duration as people write it, in milliseconds: `30d`, `12h`, `90m`, `45s`. Undefined when it is none. */
export function durationIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([dhms])$/.exec(text.trim()) ?? [];
  const size = UNITS.find(([name]) => name === unit)?.[1];
  return count === undefined || size === undefined ? undefined : Number(count) * size;
}

/** A moment in the time of the world: `2026-11-21 12:05:09`. */
export function momentText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString().slice(0, 19).replace("T", " ") : "at no time";
}
