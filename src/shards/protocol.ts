import type { ErrorRecord } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";

/* The messages between the thread that runs a world and the threads of its shards. */

export interface ShardStart {
  readonly params: Json;
  readonly seed: string;
  readonly rounds: number;
  readonly shard: number;
  readonly shards: number;
  readonly record: boolean;
}

/** A shard has reached the end of a round. */
export interface AtBarrier {
  readonly kind: "barrier";
  /** True where a role of it has acted in the round, or messages wait for its end. */
  readonly isMidRound: boolean;
  /** The tick of its first delayed message. */
  readonly due: number | undefined;
  /** The messages to each shard; an empty text for none. */
  readonly packets: readonly string[];
  readonly events: string;
}

/** A shard has received its messages, and has room for them. One without room ends with its failure. */
export interface HasRoom {
  readonly kind: "has room";
  readonly events: "";
}

export interface ShardDone {
  readonly kind: "done";
  /** True where a role has mail or a message is delayed. */
  readonly hasWork: boolean;
  readonly failure: ErrorRecord | undefined;
  readonly rounds: number;
  readonly activations: number;
  /** Also counts those from outside in the first shard. */
  readonly messages: number;
  /** The names and states of its roles, in the order of hiring. */
  readonly states: string;
  readonly events: string;
}

export interface ShardBroken {
  readonly kind: "broken";
  readonly error: ErrorRecord;
}

export type FromShard = AtBarrier | HasRoom | ShardDone | ShardBroken;

/** The answer to a shard: what it makes room for, that the round ends in all shards, or that the run is over. */
export type ToShard =
  | { readonly kind: "round"; readonly packets: readonly string[] }
  | { readonly kind: "advance"; readonly tick: number }
  | { readonly kind: "deliver" }
  | { readonly kind: "over" };

/** The range of the order of hiring that belongs to a shard. */
export function rangeOf(roles: number, shard: number, shards: number): { readonly from: number; readonly to: number } {
  return { from: Math.floor((roles * shard) / shards), to: Math.floor((roles * (shard + 1)) / shards) };
}
