import type { Json } from "../kernel/json.ts";

/** True for a JSON object: no null, no array. */
export function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
