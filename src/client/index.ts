/** A client of a server of runs, for browsers and Node. Published as `troupe/client`. */

export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type ListOptions,
  type RunClient,
  type StartOptions,
  type WatchOptions,
} from "./client.ts";
export type {
  ContinueRequest,
  ForkChange,
  ForkRequest,
  MessageReceipt,
  OutsideMessage,
  ReplayReport,
  RunPage,
  ServedTeam,
  StartRequest,
} from "./wire.ts";
