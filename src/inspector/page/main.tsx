import { render } from "preact";
import { createClient } from "../../client/client.ts";
import { TroupeError } from "../../kernel/errors.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { App, type Opening, useTheme } from "./app.tsx";
import { liveSource, offlineSource } from "./run-source.ts";
import { wordsOf } from "./open-run.ts";
import { admissionIn, FIRST_PANEL, hashOf } from "./route.ts";

const TOKEN = "troupe-token";
/** Milliseconds for which the page tries to reach a server that is gone: a page may stay open over night. */
const PATIENCE = 86_400_000;

const root = document.querySelector("#app");
const embedded = JSON.parse(document.querySelector("#troupe-runs")?.textContent ?? "[]") as readonly (readonly RunEvent[])[];
const tabStorage = storageOf(() => sessionStorage);

root?.replaceChildren();

function show(opening: Opening): void {
  if (root !== null) render(<App opening={opening} />, root);
}

/** A page that was opened from a file, or in a private window, may have no storage. */
function storageOf(read: () => Storage): Storage | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The token of the address is kept in this tab and leaves the address, so that it is in no bookmark and on no screen. */
function takeToken(): string | undefined {
  const given = admissionIn(location.hash);
  if (given === undefined) return tabStorage?.getItem(TOKEN) ?? undefined;
  const { token, run } = given;
  tabStorage?.setItem(TOKEN, token);
  location.replace(hashOf(run === undefined ? { page: "runs" } : { page: "run", run, panel: FIRST_PANEL }));
  return token;
}

async function open(token: string | undefined): Promise<void> {
  show({ state: "asking" });
  try {
    const client = createClient({ patience: PATIENCE, ...(token === undefined ? {} : { token }) });
    show({ state: "open", source: await liveSource(client, new AbortController().signal) });
  } catch (error) {
    const isToken = TroupeError.isInstance(error) && error.code === "TOKEN_INVALID";
    show({ state: "refused", why: wordsOf(error), ...(isToken ? { retry } : {}) });
  }
}

function retry(token: string): void {
  tabStorage?.setItem(TOKEN, token);
  void open(token);
}

useTheme(
  document,
  storageOf(() => localStorage),
);
if (embedded.length > 0) {
  const [only, ...others] = embedded;
  if (location.hash === "" && others.length === 0 && only?.[0] !== undefined)
    location.replace(hashOf({ page: "run", run: only[0].runId, panel: FIRST_PANEL }));
  show({ state: "open", source: offlineSource(embedded) });
} else void open(takeToken());
