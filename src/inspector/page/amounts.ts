import { formatCost, type MicroUsd } from "../../model/money.ts";
import { counted, plural } from "../view/run-terms.ts";

export { counted, plural };

/** Micro-dollars: what is less would be shown as nothing. */
const LEAST = 100;

/** Micro-dollars as text: `$0.0123`, `< $0.0001`, `$?` where no price is known. */
export function costText(cost: number, unpriced: number = 0): string {
  const isTiny = cost > 0 && cost < LEAST;
  return `${isTiny ? "< " : ""}${formatCost({ known: (isTiny ? LEAST : cost) as MicroUsd, unpriced })}`;
}

/** A share as text: `53%`, `< 1%`. */
export function shareText(share: number): string {
  const percent = Math.round(share * 100);
  return share > 0 && percent === 0 ? "< 1%" : `${percent}%`;
}

/** Milliseconds as text: `0 ms`, `1.4 s`, `2 m 05 s`, `1 h 02 m`. */
export function durationText(ms: number): string {
  const shown = Math.max(0, ms);
  if (shown < 1_000) return `${Math.round(shown)} ms`;
  if (shown < 59_950) return `${(shown / 1_000).toFixed(1)} s`;
  const [minutes, hours] = [Math.floor(shown / 60_000), Math.floor(shown / 3_600_000)];
  const two = (n: number): string => String(n).padStart(2, "0");
  if (hours > 0) return `${counted(hours)} h ${two(minutes % 60)} m`;
  return `${minutes} m ${two(Math.floor(shown / 1_000) % 60)} s`;
}

export function momentText(time: number): string {
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

export function agoText(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1_000));
  const [size, unit] = AGES.find(([least]) => seconds >= least) ?? [1, "second"];
  return seconds < 5 ? "just now" : `${plural(Math.floor(seconds / size), unit)} ago`;
}

const AGES = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;
