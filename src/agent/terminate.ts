import type { Tool } from "../tool/tool.ts";
import { terminateTool } from "./terminate-tool.ts";

/** Ends the work on the task. A status in other words is a success unless it reports a failure. */
export const terminate: Tool = terminateTool();
