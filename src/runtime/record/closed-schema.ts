import { z } from "zod";
import { isRecord } from "../../kernel/value-kind.ts";

/** Returns the schema of an object with these members and no others. */
export function closed<F extends z.core.$ZodLooseShape>(fields: F): z.ZodType<Readonly<z.infer<z.ZodObject<F, z.core.$strict>>>> {
  return z.strictObject(fields);
}

/** Returns the schema of a list. It reports only the first invalid item: the faults of a million items would fill the memory. */
export function list<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.custom<readonly T[]>(Array.isArray, "expected a list").check(({ value, issues }) => {
    firstFault(item, (Array.isArray(value) ? value : []).entries(), issues);
  });
}

/** Returns the schema of an object with any keys. It reports only the first invalid member. */
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
