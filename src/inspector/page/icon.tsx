/** The drawing of each icon in a square of 16. */
const DRAWINGS = {
  troupe: "M2.5 3.5h11M5.5 3.5v4a2.5 2.5 0 0 0 5 0v-4M8 10v3M5.5 13h5",
  run: "M5 3.5v9l7.5-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4 4h8v8H4z",
  done: "M3 8.5l3.2 3.2L13 4.8",
  fault: "M4 4l8 8M12 4l-8 8",
  wait: "M8 4.2V8l2.6 1.8M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  limit: "M3 8h10M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  question: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6M8 12v.1",
  fork: "M4.5 2.5v11M4.5 10c0-3 7-2 7-5M11.5 3.5v1M4.5 10v0",
  say: "M3 3.5h10v7H7l-3 2.5v-2.5H3z",
  close: "M4 4l8 8M12 4l-8 8",
  none: "M3.5 8h9",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof DRAWINGS;

/** An icon beside words. It says nothing that they do not say, so a screen reader passes over it. */
export function Icon({ name, size = 14, class: className }: { readonly name: IconName; readonly size?: number; readonly class?: string }) {
  return (
    <svg
      class={className}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={DRAWINGS[name]} />
    </svg>
  );
}
