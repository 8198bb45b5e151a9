/** The entry `troupe/inspector`: reports on memories, snapshots of memories, and drawings of the messages between roles. */
export { debugMemory, type MemoryReport } from "./memory-debug.ts";
export { exportSnapshot, importSnapshot, snapshotLines, type SnapshotOptions, type MemorySnapshot } from "./memory-snapshot.ts";
export { type FlowEdge, type FlowEvent, type FlowSent, messageFlow, type MessageFlow } from "./message-flow.ts";
export { flowGraphviz, flowMermaid } from "./flow-drawing.ts";

export { describeRole, type RoleDescription } from "./role-description.ts";
