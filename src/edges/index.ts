/** Faults of the edges between roles: loss, delay, reordering, copies, corruption, crashes, partitions and lies. */
export { type Edge, edge } from "./edge.ts";
export { corrupt, delay, drop, duplicate, reorder, type Rewrite } from "./links.ts";
export { byzantine, crash, partition } from "./nodes.ts";
