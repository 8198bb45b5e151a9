/** Serving runs over HTTP. Published as `troupe/server`. */

export { createServer, type RunServer } from "./server.ts";
export type { TeamOpener } from "./server-options.ts";
export { jsonLogger } from "./json-logger.ts";
