import { canonicalJson, type JsonObject } from "../kernel/json.ts";
import { requestDifference, requestDifferenceText } from "../runtime/replay/difference.ts";
import type { RecordedCall } from "./cassette-call.ts";
import { recordedForms } from "./cassette-request.ts";

/** A recorded call, and the form of its request that is most like another request. */
export interface Nearest {
  readonly call: RecordedCall;
  readonly form: JsonObject;
}

/** The call whose request is most like one: with the fewest characters between the beginning and the end that both have. */
export function nearestCall(calls: readonly RecordedCall[], wanted: JsonObject): Nearest | undefined {
  const text = canonicalJson(wanted);
  let best: Nearest | undefined;
  let least = Infinity;
  for (const call of calls) {
    for (const form of recordedForms(call.request)) {
      const far = distance(canonicalJson(form), text);
      if (far >= least) continue;
      least = far;
      best = { call, form };
    }
  }
  return best;
}

/** A recorded request and one that was asked, side by side. */
export function besideText({ call, form }: Nearest, asked: JsonObject, maxTokens: number | undefined): string {
  const lengths = [{ maxTokens: call.request["maxTokens"] ?? null }, { maxTokens: maxTokens ?? null }] as const;
  const found = requestDifference(form, asked) ?? requestDifference(...lengths);
  const text = found === undefined ? "" : `\n${requestDifferenceText(found, ["recorded", "asked now"])}`;
  return `The nearest was asked by ${call.act}:${text}`;
}

function distance(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return Math.max(a.length, b.length) - start - end;
}
