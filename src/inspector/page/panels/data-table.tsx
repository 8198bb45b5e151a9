import type { ComponentChildren } from "preact";

/** A column: its title, and whether it has numbers. */
export type Column = readonly [title: string, kind: "text" | "number"];

/** A table in a frame that scrolls by itself and can be focused, so that a keyboard can scroll it. */
export function DataTable({
  label,
  columns,
  children,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly children: ComponentChildren;
}) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([title, kind]) => (
              <th key={title} scope="col" class={kind === "number" ? "right" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
