import type { Variables } from "./settings.ts";

/** Keys of providers in the environment. */
export function secretsIn(env: Variables): readonly string[] {
  const names = ["OPENAI_API_KEY", "TROUPE_API_KEY", env["TROUPE_API_KEY_NAME"] ?? ""];
  return names.flatMap((name) => (name === "" ? [] : [env[name] ?? ""])).filter((key) => key !== "");
}
