import { isRecord } from "../../kernel/value-kind.ts";
import { z } from "zod";

/** Whether two objects have exactly the same members: names, types, what may be left out, what is readonly. */
export type SameFields<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;

/** The members of an object that was put together of several. */
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with these members and no others. */
export function closed<F extends z.core.$ZodLooseShape>(fields: F): z.ZodType<Readonly<z.infer<z.ZodObject<F, z.core.$strict>>>> {
  return z.strictObject(fields);
}

/** Looked at until the first item that does not fit: what is wrong with a million of them must not fill the memory. */
export function list<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.custom<readonly T[]>(Array.isArray, "expected a list").check(({ value, issues }) => {
    firstFault(item, (Array.isArray(value) ? value : []).entries(), issues);
  });
}

/** The same for an object whose keys may be any. */
export function record<T>(member: z.ZodType<T>): z.ZodType<{ readonly [key: string]: T }> {
  return z.custom<{ readonly [key: string]: T }>(isRecord, "expected an object").check(({ value, issues }) => {
    firstFault(member, isRecord(value) ? Object.entries(value) : [], issues);
  });
}

function firstFault(schema: z.ZodType, members: Iterable<[PropertyKey, unknown]>, issues: z.core.$ZodRawIssue[]): void {
  for (const [key, member] of members) {
    const parsed = schema.safeParse(member);
    if (parsed.success) continue;
    for (const issue of parsed.error.issues)
      issues.push({ code: "custom", message: issue.message, input: member, path: [key, ...issue.path] });
    return;
  }
}
