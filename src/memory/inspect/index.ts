/*
 * Looking at memories, carrying them elsewhere, and drawing who spoke to whom.
 */
export { debugMemory, type DatedMessage, type MemoryReport, type MessageGroup, type RepeatedContent } from "../memory-debug.ts";
export { exportSnapshot, importSnapshot, type ImportedSnapshot, snapshotLines, type SnapshotOptions } from "../memory-snapshot.ts";
export type { MemorySnapshot, StorageJson, StoredJson } from "../snapshot-form.ts";
export { type FlowEdge, type FlowEvent, type FlowNode, type FlowSent, messageFlow, type MessageFlow } from "../message-flow.ts";
export { flowGraphviz } from "../flow-graphviz.ts";
export { flowJson } from "../flow-json.ts";
export { flowMermaid } from "../flow-mermaid.ts";
