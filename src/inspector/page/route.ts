export type Route =
  | { readonly page: "runs" }
  | { readonly page: "compare"; readonly runs: readonly [string, string] }
  | { readonly page: "run"; readonly run: string; readonly panel: string };

/** The panel of a run that opens without a name. */
export const FIRST_PANEL = "talk";

/**
 * Reads a route from the fragment of an address. What is no route is the list of runs.
 *
 * @param hash with or without its `#`: `#/runs/m1/files`
 */
export function routeOf(hash: string): Route {
  const [top, first, second] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  if (top === "runs" && isWord(first)) return { page: "run", run: first, panel: isWord(second) ? second : FIRST_PANEL };
  if (top === "compare" && isWord(first) && isWord(second)) return { page: "compare", runs: [first, second] };
  return { page: "runs" };
}

/** Returns the fragment that names a route, with its `#`. */
export function hashOf(route: Route): string {
  switch (route.page) {
    case "runs":
      return "#/runs";
    case "compare":
      return `#/compare/${route.runs.map(encodeURIComponent).join("/")}`;
    case "run":
      return `#/runs/${encodeURIComponent(route.run)}/${encodeURIComponent(route.panel)}`;
  }
}

/**
 * Returns the token, and the run to open, in the fragment of an address that `troupe inspect` and `troupe serve` print: `#token=...&run=...`.
 * Undefined where there is no token.
 */
export function admissionIn(hash: string) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const [token, run] = [given.get("token"), given.get("run")];
  return token === null || token === "" ? undefined : { token, run: run ?? undefined };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isWord(part: string | undefined): part is string {
  return part !== undefined && part !== "";
}
