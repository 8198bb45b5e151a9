import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hashOf, routeOf } from "./route.ts";
import { RunPage } from "./run-page.tsx";
import { RunsPage } from "./runs-page.tsx";
import type { RunSource } from "./run-source.ts";
import { theme, type Theme } from "./theme.ts";

const route = signal(routeOf(location.hash));
addEventListener("hashchange", () => {
  route.value = routeOf(location.hash);
});

/** The whole page: its head, and the part that the address names. */
export function App({ source }: { readonly source: RunSource }) {
  const at = route.value;
  useEffect(() => {
    document.title = at.page === "run" ? `${at.run} · Troupe` : "Runs · Troupe";
  }, [at]);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <header class="head">
        <a class="brand" href={hashOf({ page: "runs" })}>
          Troupe
        </a>
        {at.page === "run" && <span class="crumb">{at.run}</span>}
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1}>
        {at.page === "run" ? <RunPage key={at.run} source={source} id={at.run} panel={at.panel} /> : <RunsPage source={source} />}
      </main>
    </>
  );
}

/** The fragment of the address is the route: a link to `#main` would leave it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function ThemeSwitch() {
  return (
    <label class="theme">
      <span>Theme</span>
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        {THEMES.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
