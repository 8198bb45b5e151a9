export type Route =
  | { readonly page: "runs" }
  | { readonly page: "compare"; readonly runs: readonly [string, string] }
  | { readonly page: "run"; readonly run: string; readonly panel: string };

export const FIRST_PANEL = "talk";

/** Reads a route from a fragment such as `#/runs/m1/files`. What is no route is the list of runs. */
export function routeOf(hash: string): Route {
  const [top, first, second] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  if (top === "runs" && isWord(first)) return { page: "run", run: first, panel: isWord(second) ? second : FIRST_PANEL };
  if (top === "compare" && isWord(first) && isWord(second)) return { page: "compare", runs: [first, second] };
  return { page: "runs" };
}

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

/** Returns the token, and the run to open, in a fragment that `troupe inspect` and `troupe serve` print: `#token=...&run=...`. */
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
