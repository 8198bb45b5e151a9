/** Tools that touch the machine, and agents that have them. Published as `troupe/tools`. */

// Agents ready to work.
export { type MachineAgentOptions, manus, type ManusTools, manusTools, softwareEngineer } from "./manus.ts";

// The conversation: ending it, asking, answering in a form, keeping plans.
export { terminate } from "../agent/terminate.ts";
export { askHumanTool } from "./human.ts";
export { type ChatCompletionOptions, createChatCompletion } from "./human.ts";
export { planningTool } from "./planning.ts";
export { checkedDoneTool, type CheckedDoneOptions } from "./checked-done.ts";

// The project: commands and code in a sandbox, files.
export type { CommandToolOptions, MachineOptions } from "./command.ts";
export { shellTool } from "./shell.ts";
export { codeTool, pythonTool } from "./code.ts";
export { type EditorOptions, editorTool } from "./editor.ts";
export { type WriteFilesOptions, writeFilesTool } from "./write-files.ts";
export { type ReadFilesOptions, readFilesTool } from "./read-files.ts";
export type { EditRules } from "./edit-history.ts";
export { type FileSearchOptions, fileSearchTool } from "./file-search.ts";
export { type LookOptions, lookTool } from "./look.ts";
export type { PdfPages, PdfText, ReadPdf } from "./look.ts";

// The web.
export { type WebFetchOptions, webFetchTool } from "./web-fetch.ts";
export type { ResolvedAddress, ResolveHost, WebAccess } from "./web-access.ts";
export { webSearchTool, type WebSearchOptions } from "./web-search.ts";
export type { HttpSearchOptions, SearchCall, SearchHit, SearchOutcome, SearchProvider, SearchQuery } from "./search-provider.ts";
export { duckDuckGoSearch } from "./search-provider.ts";
export { braveSearch, type BraveSearchOptions } from "./search-provider.ts";
