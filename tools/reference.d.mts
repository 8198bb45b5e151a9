import type { Program } from "./api.mjs";

export function referencePages(program: Program): ReadonlyMap<string, string>;
export function exampleFaults(): readonly string[];
