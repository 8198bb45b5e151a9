import { effect, signal, type Signal } from "@preact/signals";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

const KEY = "troupe-theme";

/** The theme that a person has chosen. It is kept in the browser where that is allowed. */
export const theme: Signal<Theme> = signal("auto");

/** Takes the theme that was chosen before, and shows each one that is chosen from now on. */
export function useTheme(page: Document, storage: Storage | undefined): void {
  const kept = storage?.getItem(KEY);
  if (kept === "light" || kept === "dark") theme.value = kept;
  effect(() => {
    if (theme.value === "auto") delete page.documentElement.dataset["theme"];
    else page.documentElement.dataset["theme"] = theme.value;
    storage?.setItem(KEY, theme.value);
  });
}
