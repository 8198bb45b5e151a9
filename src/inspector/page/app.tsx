import { effect, signal, type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { shownText } from "../../kernel/value-text.ts";
import { ComparePage } from "./compare-page.tsx";
import { Button, Select, TextField } from "./controls.tsx";
import { Icon } from "./status.tsx";
import { hashOf, routeOf, type Route } from "./route.ts";
import { RunPage } from "./run-page.tsx";
import { RunsPage } from "./runs-page.tsx";
import type { RunSource } from "./run-source.ts";

const route = signal(routeOf(location.hash));
addEventListener("hashchange", () => {
  route.value = routeOf(location.hash);
});

export type Opening =
  | { readonly state: "asking" }
  | { readonly state: "open"; readonly source: RunSource }
  | {
      readonly state: "refused";
      readonly why: string;
      readonly retry?: (token: string) => void;
    };

export function App({ opening }: { readonly opening: Opening }) {
  const at = route.value;
  useEffect(() => {
    document.title = `${titleOf(at)} · Troupe`;
  }, [at]);
  return (
    <>
      <header class="head flex">
        <a class="skip" href="#main" onClick={skipToMain}>
          Skip to the content
        </a>
        <a class="brand inline" href={hashOf({ page: "runs" })}>
          <Icon name="troupe" size={18} />
          Troupe
        </a>
        <Crumbs at={at} />
        <div class="head-end flex">
          <Select
            class="theme inline small soft"
            name="Theme"
            value={theme.value}
            options={THEMES}
            onValue={(value) => (theme.value = value as Theme)}
          />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {opening.state === "open" && <Place at={at} source={opening.source} />}
        {opening.state === "asking" && (
          <div class="empty soft" role="status">
            <h1>Connecting</h1>
            <p>The page asks the server for its runs.</p>
          </div>
        )}
        {opening.state === "refused" && <Refusal {...opening} />}
      </main>
    </>
  );
}

function Crumbs({ at }: { readonly at: Route }) {
  return (
    <nav class="crumbs" aria-label="Place">
      <ol class="flex small">
        <li>
          <a href={hashOf({ page: "runs" })} aria-current={at.page === "runs" ? "page" : undefined}>
            Runs
          </a>
        </li>
        {at.page !== "runs" && (
          <li class="cut mono" aria-current="page">
            {titleOf(at)}
          </li>
        )}
      </ol>
    </nav>
  );
}

function Refusal({ why, retry }: Extract<Opening, { readonly state: "refused" }>) {
  const token = useSignal("");
  return (
    <div class="empty soft">
      <div role="alert">
        <h1>The server refused the page</h1>
        <p>{why}</p>
      </div>
      {retry !== undefined && (
        <form
          class="token-form"
          onSubmit={(event) => {
            event.preventDefault();
            retry(token.value.trim());
          }}
        >
          <TextField name="Token" text={token} type="password" autoComplete="off" />
          <Button type="submit" look="main">
            Open
          </Button>
        </form>
      )}
    </div>
  );
}

function Place({ at, source }: { readonly at: Route; readonly source: RunSource }) {
  if (at.page === "run") return <RunPage key={at.run} source={source} id={at.run} panel={at.panel} />;
  if (at.page === "compare") return <ComparePage key={at.runs.join(" ")} source={source} ids={at.runs} />;
  return <RunsPage source={source} />;
}

function titleOf(at: Route): string {
  return at.page === "run" ? shownText(at.run, 60) : at.page === "compare" ? "Comparison" : "Runs";
}

/** The fragment of the address is the route: a link to `#main` would leave it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

const THEMES = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

type Theme = (typeof THEMES)[number][0];

const KEY = "troupe-theme";

const theme: Signal<Theme> = signal("auto");

export function useTheme(page: Document, storage: Storage | undefined): void {
  const kept = storage?.getItem(KEY);
  if (kept === "light" || kept === "dark") theme.value = kept;
  effect(() => {
    if (theme.value === "auto") delete page.documentElement.dataset["theme"];
    else page.documentElement.dataset["theme"] = theme.value;
    storage?.setItem(KEY, theme.value);
  });
}
