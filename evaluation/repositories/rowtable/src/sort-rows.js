/** Sorts rows by a column: numbers as numbers, the rest as texts, empty cells last. A minus sign before the name turns it round. */
export function sortRows(rows, by) {
  const descending = by.startsWith("-");
  const column = descending ? by.slice(1) : by;
  const isEmpty = (row) => row[column] === undefined || row[column] === null;
  const full = rows.filter((row) => !isEmpty(row));
  const sorted = [...full].sort((one, other) => compare(one[column], other[column]));
  if (descending) sorted.reverse();
  return [...sorted, ...rows.filter(isEmpty)];
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}
