export class ColumnError extends Error {}

/** Returns the rows with columns picked, dropped or renamed. The first row is the header. */
export function columnsOf(rows, command, what) {
  const [header = []] = rows;
  const find = (name) => {
    const at = header.indexOf(name);
    if (at === -1) throw new ColumnError(`there is no column ${name}`);
    return at;
  };
  if (command === "rename") {
    const [from, to = ""] = what.split("=");
    const at = find(from);
    return [header.with(at, to), ...rows.slice(1)];
  }
  const named = what.split(",").map(find);
  const taken = command === "pick" ? named : header.map((_, n) => n).filter((n) => !named.includes(n));
  return rows.map((row) => taken.map((n) => row[n] ?? ""));
}
