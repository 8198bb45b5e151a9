/** A client of a server of runs, for browsers and Node. Published as `troupe/client`. */

export {
  type CallOptions,
  type ClientOptions,
  type ContinueRequest,
  createClient,
  type ForkRequest,
  type ListOptions,
  type MessageReceipt,
  type OutsideMessage,
  type ReplayReport,
  type RunClient,
  type RunPage,
  type ServedTeam,
  type StartOptions,
  type StartRequest,
  type WatchOptions,
} from "./client.ts";
