/** Publishes a message and runs until nobody has mail. */
export async function settled(env, first) {
  env.publishMessage(first);
  const result = await env.run({ rounds: 1e9 });
  if (result.status !== "finished") throw new Error(`The run ended with ${result.status}: ${result.error?.message}`);
  return result;
}
