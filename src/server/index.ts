/** Serving runs over HTTP. Published as `troupe/server`. */

export { createServer, type RunServer } from "./server.ts";
export type { OpenedTeam, ServerOptions, TeamOpener, TeamRequest } from "./server-options.ts";
export type { RequestRate, Tenant } from "./tenants.ts";
export type { Listening, ListenOptions } from "./listening.ts";
export { jsonLogger, type JsonLoggerOptions, type LogLevel } from "./json-logger.ts";
