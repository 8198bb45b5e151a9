import type { Json } from "../kernel/json.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import type { EdgePolicy } from "./edges/edge-policy.ts";
import { matcherOf, namesInEdges } from "./edges/pairs.ts";

interface NamedState {
  readonly roles: ReadonlyMap<string, { readonly profile: string }>;
  readonly scheduler: string;
  readonly parameters: Json;
}

/** Returns a sentence for each name in edges and in stages that no role has. */
export function unknownNames({ roles, scheduler, parameters }: NamedState, edges: readonly EdgePolicy[] | undefined): readonly string[] {
  const absent = (name: string): boolean => !roles.has(name);
  const lists = scheduler === "staged" && isRecord(parameters) && parameters["stages"];
  const named = isList(lists) ? lists.flat().filter(isText).filter(absent) : [];
  return [
    ...namesInEdges(edges)
      .filter((name) => !hasOneOf(roles.keys(), name))
      .map((name) => `A policy of the edges names ${name}, and no role has ${name.includes("*") ? "a name of that form" : "that name"}.`),
    ...named
      .filter((name) => ![...roles.values()].some(({ profile }) => profile === name))
      .map((name) => `A stage names ${name}, and no role has that name or profile.`),
  ];
}

/** True when one of the names fits in a name with stars. */
function hasOneOf(names: Iterable<string>, pattern: string): boolean {
  const isMeant = matcherOf([pattern]);
  for (const name of names) if (isMeant(name)) return true;
  return false;
}
