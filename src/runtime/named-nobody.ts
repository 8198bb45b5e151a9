import type { Json } from "../kernel/json.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import type { EdgePolicy } from "./edges/edge-policy.ts";
import { namesInEdges } from "./edges/pairs.ts";

/** The part of a run's state that knows its roles and its scheduler. */
interface NamedState {
  readonly roles: ReadonlyMap<string, { readonly profile: string }>;
  readonly scheduler: string;
  readonly parameters: Json;
}

/** Returns a sentence for each name in the policies of the edges and in the stages of the scheduler that no role has. */
export function namedNobody(state: NamedState, edges: readonly EdgePolicy[] | undefined): readonly string[] {
  const { roles } = state;
  const inEdges = namesInEdges(edges).filter((name) => !roles.has(name));
  const inStages = namesInStages(state).filter((name) => !roles.has(name));
  const profiles = inStages.length === 0 ? undefined : new Set(Array.from(roles.values(), ({ profile }) => profile));
  return [
    ...inEdges.map((name) => `A policy of the edges names ${name}, and no role has that name.`),
    ...inStages
      .filter((name) => profiles?.has(name) !== true)
      .map(
        (name) =>
          `A stage of the scheduler names ${name}, and no role has that name or profile. Roles that no stage names act in the last one.`,
      ),
  ];
}

function namesInStages({ scheduler, parameters }: NamedState): readonly string[] {
  const stages = scheduler === "staged" && isRecord(parameters) ? parameters["stages"] : undefined;
  return isList(stages) ? stages.filter(isList).flat().filter(isText) : [];
}
