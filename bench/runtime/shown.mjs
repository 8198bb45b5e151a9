/** A number with as many digits as it is sure of. */
export function shown(number) {
  if (Math.abs(number) >= 100) return Math.round(number).toLocaleString("en-US");
  return number === 0 ? "0" : number.toPrecision(number < 1 ? 2 : 3);
}

export const UNITS = { each: "µs", whole: "ms", heap: "bytes" };

const megabytes = (bytes) => `${shown(bytes / 1e6)} MB`;

/** The texts of a row besides its figure. */
export function remarksOn(row) {
  return [
    row.bytesEach === undefined ? "" : `${shown(row.bytesEach)} bytes on the disk`,
    row.heapEach === undefined ? "" : `${shown(row.heapEach)} bytes of heap each`,
    ["million", "crowd", "crowd-step"].includes(row.case) ? `${megabytes(row.peak)} in all at most` : "",
    row.sameState === undefined ? "" : row.sameState ? "the same state every time" : "NOT the same state every time",
  ].filter((remark) => remark !== "");
}

/** A row for a terminal. */
export function shownRow(row) {
  const who = row.peer.padEnd(16);
  if (row.failed !== undefined) return `${who} did not run here: ${row.failed}`;
  if (row.measure === "install") return `${who} ${megabytes(row.bytes)} in ${row.packages} packages`;
  const size = row.n === 1 ? "" : ` of ${row.n.toLocaleString("en-US")}`;
  const cpu = row.cpu === undefined ? "" : `  processor ${shown(row.cpu)}`;
  const times =
    row.times === undefined ? "" : `  ${shown(row.times.median)} x Troupe (${shown(row.times.least)} to ${shown(row.times.most)})`;
  const figure = `${shown(row.median)} ${UNITS[row.measure]}`.padStart(14);
  const spread = `(${shown(row.least)} to ${shown(row.most)})`;
  return [`${who}${size.padStart(13)} ${figure} ${spread}${cpu}${times}`, ...remarksOn(row)].join("  ");
}
