/** Tools that touch the machine, and agents that have them. Published as `troupe/tools`. */

// Agents ready to work.
export { manus, manusTools, softwareEngineer } from "./manus.ts";

// The conversation: ending it, asking, answering in a form, keeping plans.
export { terminate } from "../agent/terminate.ts";
export { askHumanTool } from "./human.ts";
export { createChatCompletion } from "./human.ts";
export { planningTool } from "./planning.ts";
export { checkedDoneTool } from "./checked-done.ts";
export { board } from "./board.ts";
export { notes } from "./notes.ts";
export type { BoardTask, Note } from "../runtime/board/board.ts";

// The project: commands and code in a sandbox, files.
export { shellTool } from "./shell.ts";
export { codeTool, pythonTool } from "./code.ts";
export { editorTool } from "./editor.ts";
export { writeFilesTool } from "./write-files.ts";
export { readFilesTool } from "./read-files.ts";
export { fileSearchTool } from "./file-search.ts";
export { lookTool } from "./look.ts";
export type { ReadPdf } from "./look.ts";

// The web.
export { webFetchTool } from "./web-fetch.ts";
export type { ResolveHost, WebAccess } from "./web-access.ts";
export { webSearchTool } from "./web-search.ts";
export type { SearchProvider } from "./search-provider.ts";
export { duckDuckGoSearch } from "./search-provider.ts";
export { braveSearch } from "./search-provider.ts";
