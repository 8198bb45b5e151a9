/** Whose words something holds. A run is recorded with it, and `forget` is told by it what to erase. */
export interface Scope {
  /** The tenant of a server. */
  readonly tenant?: string;
  readonly user?: string;
  /** The run in which a conversation began. Forks of it belong to the same conversation. */
  readonly conversation?: string;
}
