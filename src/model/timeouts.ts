/** Time limits of the calls of a model, in milliseconds; 0 and `Infinity` mean none. */
export interface CallTimeouts {
  /**
   * Longest silence before the first piece of an answer. Every sign of life of the server starts it anew: a comment that keeps the
   * connection open, a piece without content. Default {@link DEFAULT_TIMEOUTS}`.firstByte`.
   */
  readonly firstByte?: number | undefined;
  /** Longest silence between two signs of life once the answer has begun. Default {@link DEFAULT_TIMEOUTS}`.silence`. */
  readonly silence?: number | undefined;
  /**
   * Longest time of a whole call: all its tries and the waits between them. Waits for limits and for the budget do not count. The only limit of a
   * server that does not stream. Default {@link DEFAULT_TIMEOUTS}`.call`.
   */
  readonly call?: number | undefined;
}

/** The limits with their values, in milliseconds; `Infinity`: none. */
export type SetTimeouts = { readonly [Limit in keyof Required<CallTimeouts>]: number };

/**
 * The default limits, in milliseconds. They suit a local model on a slow machine: 10 minutes to read a long prompt, 5 minutes of silence in the
 * middle of an answer, and 2 hours for a call: 16,384 tokens, the default limit of a reply, at 3 tokens a second take 91 minutes.
 */
export const DEFAULT_TIMEOUTS: SetTimeouts = Object.freeze({ firstByte: 600_000, silence: 300_000, call: 7_200_000 });

/** Returns the limits of a call: each is the model's own, else that of the policy, else the default. */
export function timeoutsOf(own: CallTimeouts | undefined, policy: CallTimeouts | undefined): SetTimeouts {
  const limit = (name: keyof CallTimeouts): number => {
    const ms = own?.[name] ?? policy?.[name] ?? DEFAULT_TIMEOUTS[name];
    return ms === 0 ? Infinity : ms;
  };
  return { firstByte: limit("firstByte"), silence: limit("silence"), call: limit("call") };
}
