/** Faults of the edges between roles: loss, delay, reordering, copies, corruption, crashes, partitions and lies. */
export { edge } from "./edge.ts";
export { corrupt, delay, drop, duplicate, reorder } from "./links.ts";
export { byzantine, crash, partition } from "./nodes.ts";
