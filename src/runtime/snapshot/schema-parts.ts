import { z } from "zod";
import type { Json } from "../../kernel/json.ts";
import { isCount, isList, isRecord, isText } from "../../kernel/value-kind.ts";
import { list } from "../record/event-schema.ts";

/** The schema of each member of a type: a member without one does not compile. */
export type SchemasOf<T> = { readonly [M in keyof T]-?: z.ZodType<T[M]> };

/** Returns the schema of an object with these members and no others. */
export function closed<T>(members: SchemasOf<T>): z.ZodType<T> {
  return z.strictObject(members) as unknown as z.ZodType<T>;
}

/** Returns the schema of the entries of a map. */
export function entries<K, V>(key: z.ZodType<K>, value: z.ZodType<V>): z.ZodType<readonly (readonly [K, V])[]> {
  return list(z.tuple([key, value]) as unknown as z.ZodType<readonly [K, V]>);
}

export function isTexts(value: unknown): value is readonly string[] {
  return isList(value) && value.every(isText);
}

/** The schemas of plain values. */
export interface PlainSchemas {
  readonly whole: z.ZodType<number>;
  readonly place: z.ZodType<number | undefined>;
  readonly places: z.ZodType<readonly number[]>;
  readonly flag: z.ZodType<boolean>;
  readonly number: z.ZodType<number>;
  readonly text: z.ZodType<string>;
  readonly texts: z.ZodType<readonly string[]>;
  readonly json: z.ZodType<Json>;
  readonly jsonRecord: z.ZodType<{ readonly [key: string]: Json }>;
}

/** Returns the schemas of plain values. Long lists of numbers and texts are checked at once, because a schema for each takes ten times as long. */
export function plain(): PlainSchemas {
  const whole = z.int().nonnegative();
  return {
    whole,
    place: whole.optional(),
    places: z.custom<readonly number[]>((value) => isList(value) && value.every(isCount), "expected numbers"),
    flag: z.boolean(),
    number: z.number(),
    text: z.string(),
    texts: z.custom<readonly string[]>(isTexts, "expected texts"),
    json: z.custom<Json>((value) => value !== undefined, "is missing"),
    jsonRecord: z.custom<{ readonly [key: string]: Json }>(isRecord, "expected an object"),
  };
}
