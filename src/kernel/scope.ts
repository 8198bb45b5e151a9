/** Whose words something holds. A run is recorded with it, and `forget` erases by it. */
export interface Scope {
  readonly tenant?: string;
  readonly user?: string;
  /** The run in which a conversation began. Forks of it belong to the same conversation. */
  readonly conversation?: string;
}
