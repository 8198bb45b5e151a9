import type { Program } from "./api.mjs";

export function referencePages(program: Program): ReadonlyMap<string, string>;
export function docExamples(program: Program): { readonly missing: readonly string[]; readonly examples: Readonly<Record<string, string>> };
