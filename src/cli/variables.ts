/** The variables of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The value of a variable without the space around it. An empty one counts as unset: shells and CI systems unset variables that way. */
export function valueIn(env: Variables, name: string): string | undefined {
  const text = env[name]?.trim() ?? "";
  return text === "" ? undefined : text;
}
