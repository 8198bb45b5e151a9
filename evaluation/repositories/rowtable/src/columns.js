/** The columns of rows in the order in which they come first. */
export function columnsOf(rows) {
  const columns = new Set();
  for (const row of rows) for (const name of Object.keys(row)) columns.add(name);
  return [...columns];
}
