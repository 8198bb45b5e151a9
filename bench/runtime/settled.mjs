/** Publishes a message and runs until no role has mail. */
export async function settled(env, first) {
  env.publishMessage(first);
  const result = await env.run({ rounds: 1e9 });
  if (result.status !== "finished") throw new Error(`The run ended with ${result.status}: ${result.error?.message}`);
  return result;
}

/** Plays between two who pass a count on to `n`, and makes sure that they did: by what one of them did where nothing that was said is kept. */
export async function played(env, first, n) {
  const { rounds, messages } = await settled(env, first);
  const hops = messages.length === 0 ? (rounds === Math.floor(n / 2) + 1 ? n : 0) : messages.length - 1;
  if (hops !== n) throw new Error(`Expected ${n} hops, got ${hops} in ${rounds} turns of one.`);
  return { done: hops };
}
