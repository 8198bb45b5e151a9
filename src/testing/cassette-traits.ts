import { UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import { type ModelPrice, priceOf } from "../model/price.ts";
import type { RecordedCall } from "./cassette-call.ts";

/*
 * What a recorded model said of itself, as far as its calls show. A model's own fields and bounds are part of every request to it, so the
 * one that plays must say the same.
 */

/** The model that was recorded, or the one of several that is meant. @throws UsageError `CASSETTE_MODELS` */
export function recordedModel(calls: readonly RecordedCall[], wanted: string | undefined): string {
  const models = [...new Set(calls.map((call) => call.model))];
  const [only] = models;
  if (only === undefined) return wanted ?? "cassette";
  if (wanted === undefined && models.length === 1) return only;
  if (wanted !== undefined && models.includes(wanted)) return wanted;
  throw new UsageError(
    "CASSETTE_MODELS",
    `Expected the id of one of the recorded models (${models.join(", ")}), got ${wanted ?? "none"}. Say which: cassetteModel(cassette, { id }).`,
  );
}

/** A model that cost nothing, although no list says so, had said so itself. */
export function freePrice(id: string, calls: readonly RecordedCall[]): ModelPrice | undefined {
  if (calls.length === 0 || priceOf({ id }) !== undefined) return undefined;
  return calls.every((call) => call.cost === 0) ? { input: 0, output: 0 } : undefined;
}

/** The most tokens of a reply, when it was the same for all. */
export function commonLength(calls: readonly RecordedCall[]): number | undefined {
  const [first, ...others] = new Set(calls.map((call) => call.request["maxTokens"]));
  return typeof first === "number" && others.length === 0 ? first : undefined;
}

/** The provider's own fields that all requests had. */
export function commonExtra(calls: readonly RecordedCall[]): Readonly<Record<string, Json>> | undefined {
  const [first, ...others] = calls.map((call) => Object.entries(call.request["extra"] ?? {}) as [string, Json][]);
  const texts = others.map((members) => new Set(members.map((member) => canonicalJson(member))));
  const common = (first ?? []).filter((member) => texts.every((has) => has.has(canonicalJson(member))));
  return common.length === 0 ? undefined : Object.fromEntries(common);
}
