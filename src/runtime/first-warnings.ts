import type { EdgePolicy } from "./edges/edge-policy.ts";
import type { HiredRoles } from "./hired-roles.ts";
import type { Json } from "../kernel/json.ts";
import type { RunState } from "./record/run-state.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import { matcherOf, namesInEdges } from "./edges/pairs.ts";

export type FirstWarning = readonly [role: string | undefined, text: string];

export function firstWarnings(
  hired: Pick<HiredRoles, "idle">,
  state: RunState,
  edges: readonly EdgePolicy[] | undefined,
): readonly FirstWarning[] {
  if ((state.shard?.from ?? 0) > 0) return [];
  return [
    ...hired.idle.map(({ card: { name } }): FirstWarning => [
      name,
      `${name} has no actions and no react or step of its own: it will only listen. Give it actions: [...].`,
    ]),
    ...unknownNames(state, edges).map((text): FirstWarning => [undefined, text]),
  ];
}

interface NamedState {
  readonly roles: ReadonlyMap<string, { readonly profile: string }>;
  readonly scheduler: string;
  readonly parameters: Json;
}

function unknownNames({ roles, scheduler, parameters }: NamedState, edges: readonly EdgePolicy[] | undefined): readonly string[] {
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

function hasOneOf(names: Iterable<string>, pattern: string): boolean {
  const isMeant = matcherOf([pattern]);
  for (const name of names) if (isMeant(name)) return true;
  return false;
}
