/** Reads CSV with quoted fields. */
export function parseCsv(text) {
  const rows = [];
  let row = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') field += text[at++];
      else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === ",") row.push(field), (field = "");
    else if (sign === "\n") row.push(field), rows.push(row), (row = []), (field = "");
    else if (sign !== "\r") field += sign;
  }
  if (field !== "" || row.length > 0) rows.push([...row, field]);
  return rows;
}

/** Writes CSV; fields are quoted where they need it. */
export function writeCsv(rows) {
  const quote = (field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
  return rows.map((row) => `${row.map(quote).join(",")}\n`).join("");
}
