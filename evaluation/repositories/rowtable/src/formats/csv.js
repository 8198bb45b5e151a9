/** Comma-separated values, quoted where they need it. */
export function renderCsv({ columns, cells, header }) {
  const rows = header ? [columns, ...cells] : cells;
  return rows.map((row) => row.map(quoted).join(","));
}

function quoted(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
