import type { ChatModel } from "../model/chat-model.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Runs of one journal that are remembered. */
const MOST_RUNS = 1_000;

/** Which objects were the model of an id. They may go when nobody else has them. */
type Models = Map<string, WeakSet<ChatModel>>;

/*
 * Which models the runs of this process were begun with, so that a fork which takes answers of a model can say that its own is another one
 * under the same id. It owns no model. What other processes used nobody here knows, and nothing is said of it.
 *
 * KnownModels.M1 (`noteModels`) of a journal at most 1,000 runs are remembered, the oldest are forgotten first. KnownModels.M2 (`known`,
 * `WeakSet`) neither a journal nor a model is kept alive.
 */
const known = new WeakMap<Journal, Map<string, Models>>();

/** Notes the models that a run was begun or gone on with. */
export function noteModels(journal: Journal, runId: string, models: Iterable<ChatModel>): void {
  const runs = known.get(journal) ?? new Map<string, Models>();
  known.set(journal, runs);
  const noted: Models = runs.get(runId) ?? new Map<string, WeakSet<ChatModel>>();
  runs.delete(runId);
  for (const model of models) noted.set(model.id, (noted.get(model.id) ?? new WeakSet()).add(model));
  runs.set(runId, noted);
  const [oldest] = runs.keys();
  if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest);
}

/** Ids under which a run had another model object than these. */
export function otherModels(journal: Journal, runId: string, models: Iterable<ChatModel>): readonly string[] {
  const noted = known.get(journal)?.get(runId);
  if (noted === undefined) return [];
  const others = [...models].filter((model) => noted.get(model.id)?.has(model) === false);
  return [...new Set(others.map(({ id }) => id))];
}

/** What a fork says of them before it takes their answers. */
export function otherModelText(parentId: string, id: string): string {
  return `The model "${id}" is another object than the one that run ${parentId} asked under this id, and the answers of that one are taken where the request is the same. Give it an id of its own, or fork with reuse: "none" to ask it.`;
}
