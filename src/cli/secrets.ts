import type { Variables } from "./host.ts";

/** What of a text is secret where it is an address with a password. */
export function addressSecrets(text: string): readonly string[] {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const given = [url?.password ?? "", url?.searchParams.get("password") ?? ""].filter((password) => password !== "");
  return given.length === 0 ? [] : [text.trim(), ...given, ...given.map(decoded)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Keys of providers in the environment. */
export function secretsIn(env: Variables): readonly string[] {
  const names = ["OPENAI_API_KEY", "TROUPE_API_KEY", env["TROUPE_API_KEY_NAME"] ?? ""];
  return names.flatMap((name) => (name === "" ? [] : [env[name] ?? ""])).filter((key) => key !== "");
}
