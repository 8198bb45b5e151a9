import type { EdgePolicy } from "./edges/edge-policy.ts";
import type { HiredRoles } from "./hired-roles.ts";
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

function unknownNames({ roles, scheduler, parameters }: RunState, edges: readonly EdgePolicy[] | undefined): readonly string[] {
  const lists = scheduler === "staged" && isRecord(parameters) && parameters["stages"];
  const staged = isList(lists) ? lists.flat().filter(isText) : [];
  const profiles = new Set(staged.length === 0 ? [] : [...roles.values()].map(({ profile }) => profile));
  return [
    ...namesInEdges(edges)
      .filter((name) => ![...roles.keys()].some(matcherOf([name])))
      .map((name) => `A policy of the edges names ${name}, and no role has ${name.includes("*") ? "a name of that form" : "that name"}.`),
    ...staged
      .filter((name) => !roles.has(name) && !profiles.has(name))
      .map((name) => `A stage names ${name}, and no role has that name or profile.`),
  ];
}
