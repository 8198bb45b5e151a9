import type { Graph } from "@dagrejs/graphlib";
import { Action, type Role, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserFeedback, UserRequirement } from "../../src/index.ts";
import type { RoleDescription } from "../../src/inspector/index.ts";
import { declaredTraits } from "./declared-action.ts";

/** A reaction, or the whole role in the other modes. */
export interface Worker {
  readonly id: string;
  readonly role: RoleDescription;
  readonly starts: readonly string[];
  readonly needs: readonly string[];
  readonly actions: readonly Action[];
  readonly says: readonly Saying[];
}

export interface Saying {
  readonly cause: string;
  /** `"any"`: its code decides; undefined: every role that watches it. */
  readonly to: readonly string[] | "any" | undefined;
  readonly limit: number | undefined;
  /** It may say nothing, or to no one. */
  readonly mayEnd: boolean;
}

export interface CrewGraph {
  readonly workers: readonly Worker[];
  readonly awake: ReadonlySet<string>;
  readonly circles: readonly Circle[];
  readonly activations: ReadonlyMap<string, number>;
  readonly unheard: readonly { readonly worker: Worker; readonly cause: string }[];
}

export interface Circle {
  readonly workers: readonly Worker[];
  /** `limited`: a number of messages bounds it. `open`: code or a value ends it. `endless`: nothing does. */
  readonly end: "limited" | "open" | "endless";
}

const USER = "<user>";
const OF_CODE = { to: "any", limit: undefined, mayEnd: true } as const;

export function workersOf(role: RoleDescription, definition: Role): readonly Worker[] {
  // A person can always end a circle.
  const ended = ({ mayEnd, ...saying }: Saying): Saying => ({ ...saying, mayEnd: mayEnd || definition.human });
  const { name, mode, watch, actions } = role;
  const isByCause = role.isPlain && (mode === "by_cause" || mode === "agent");
  const reactions = (isByCause ? role.reactions : []).map(({ on, needs, do: action }, index) => ({
    id: `${name}/${index} ${action.name}`,
    role,
    starts: on,
    needs,
    actions: [action],
    says: sayingsIn(action).map(ended),
  }));
  if (mode === "by_cause" && reactions.length > 0) return reactions;
  const starts = role.observeAll ? ["*"] : watch.filter((cause) => !reactions.some((reaction) => reaction.starts.includes(cause)));
  return [...reactions, { id: name, role, starts, needs: [], actions, says: sayingsOf(role).map(ended) }];
}

function sayingsOf(role: RoleDescription): readonly Saying[] {
  const { actions, mode, name, isPlain } = role;
  const [first] = actions;
  if (!isPlain) return [...new Set([name, ...actions.map((action) => action.name)])].map((cause) => ({ ...OF_CODE, cause }));
  if (mode === "agent") return first === undefined ? [{ cause: name, to: undefined, limit: undefined, mayEnd: false }] : sayingsIn(first);
  return (mode === "by_order" ? actions.slice(-1) : actions).flatMap(sayingsIn);
}

/** The messages of an action, with those that it escalates. */
function sayingsIn(action: Action): readonly Saying[] {
  const declared = declaredTraits(action);
  if (declared !== undefined) {
    const { sendTo, limit, mayEnd, escalatesTo } = declared;
    const said = { cause: action.name, to: sendTo, limit, mayEnd };
    return escalatesTo === undefined ? [said] : [said, { ...said, to: escalatesTo, limit: limit === undefined ? undefined : limit + 1 }];
  }
  const isCode = action.run !== Action.prototype.run;
  const to = action.sendTo === undefined ? undefined : "any";
  return [{ cause: action.name, to, limit: undefined, mayEnd: isCode || to === "any" }];
}

/** @param rounds in each of which a role acts at most once */
export async function crewGraph(workers: readonly Worker[], rounds: number): Promise<CrewGraph> {
  const { alg, Graph: GraphClass } = await import("@dagrejs/graphlib");
  const links = linksOf(workers);
  const whole: Graph = new GraphClass({ directed: true });
  const bounded: Graph = new GraphClass({ directed: true });
  for (const graph of [whole, bounded]) for (const id of [USER, ...workers.map((worker) => worker.id)]) graph.setNode(id);
  for (const { from, to, limit } of links) {
    whole.setEdge(from, to);
    // A limited message cannot continue a circle for ever.
    bounded.setEdge(limit === undefined ? from : USER, to);
  }
  const byId = new Map(workers.map((worker) => [worker.id, worker]));
  const isCircle = (graph: Graph, ids: readonly string[]): boolean => ids.length > 1 || ids.some((id) => graph.hasEdge(id, id));
  const endless = new Set(
    alg
      .tarjan(bounded)
      .filter((ids) => isCircle(bounded, ids))
      .flat(),
  );
  const circles = alg
    .tarjan(whole)
    .filter((ids) => isCircle(whole, ids))
    .map((ids): Circle => {
      const members = ids.flatMap((id) => byId.get(id) ?? []).toSorted((a, b) => workers.indexOf(a) - workers.indexOf(b));
      if (!ids.some((id) => endless.has(id))) return { workers: members, end: "limited" };
      return { workers: members, end: members.some(({ says }) => says.some(({ mayEnd }) => mayEnd)) ? "open" : "endless" };
    });
  return {
    workers,
    awake: new Set(alg.preorder(whole, [USER]).filter((id) => id !== USER)),
    circles,
    activations: activationsOf(alg.tarjan(bounded), links, endless, rounds),
    unheard: unheardIn(workers, links),
  };
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly limit: number | undefined;
}

/** Code that chooses its recipients may start everyone. A worker that both messages of the user start counts once. */
function linksOf(workers: readonly Worker[]): readonly Link[] {
  const user: readonly Link[] = workers
    .filter((worker) => [UserRequirement, UserFeedback].some(({ name }) => reaches(worker, undefined, name, undefined)))
    .map(({ id: to }) => ({ from: USER, to, cause: UserRequirement.name, limit: undefined }));
  const said = workers.flatMap(({ id: from, role, says }) =>
    says.flatMap(({ cause, to, limit }) =>
      workers.filter((worker) => reaches(worker, role.name, cause, to)).map(({ id }): Link => ({ from, to: id, cause, limit })),
    ),
  );
  return [...user, ...said];
}

function reaches(worker: Worker, sender: string | undefined, cause: string, to: Saying["to"]): boolean {
  const { role, starts } = worker;
  const isReaction = role.isPlain && role.reactions.some(({ on }) => on.includes(cause));
  const isStarted = starts.includes("*") || starts.includes(cause) || (worker.id === role.name && !isReaction);
  if (to === "any") return isStarted;
  const addresses = to ?? [ROUTE_TO_ALL];
  if (addresses.includes(ROUTE_TO_NONE)) return false;
  if (role.name === sender) return addresses.includes(ROUTE_TO_SELF) && isStarted;
  const isNamed = addresses.some((address) => address === role.name || role.addresses.includes(address));
  if (isNamed) return isStarted;
  return addresses.includes(ROUTE_TO_ALL) && (starts.includes("*") || starts.includes(cause));
}

/** @param components strongly connected workers, those that start no others first */
function activationsOf(
  components: readonly (readonly string[])[],
  links: readonly Link[],
  endless: ReadonlySet<string>,
  rounds: number,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>([[USER, 1]]);
  for (const ids of components.toReversed()) {
    for (const id of ids) {
      if (id === USER) continue;
      const incoming = links.filter(({ to }) => to === id);
      const most = incoming.reduce((sum, { from, limit }) => sum + (limit ?? counts.get(from) ?? 0), 0);
      counts.set(id, endless.has(id) ? rounds : Math.min(most, rounds));
    }
  }
  return counts;
}

function unheardIn(workers: readonly Worker[], links: readonly Link[]): CrewGraph["unheard"] {
  const heard = new Set(links.map(({ from, cause }) => `${from}\n${cause}`));
  const watched = new Set(workers.flatMap(({ role }) => role.watch));
  return workers.flatMap((worker) =>
    worker.says
      .filter(
        ({ cause, to }) =>
          to !== "any" && to?.includes(ROUTE_TO_NONE) !== true && !watched.has(cause) && !heard.has(`${worker.id}\n${cause}`),
      )
      .map(({ cause }) => ({ worker, cause })),
  );
}
